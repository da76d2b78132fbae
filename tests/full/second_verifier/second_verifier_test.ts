import assert from "node:assert/strict";
import { readJson } from "../../../src/canonical/scan.ts";
import type { Editable } from "../../simulation/kernel/law_specs.ts";
import { examineRunpack } from "../../../src/runpack/verify/verify.ts";
import { BUDGET_MEMBERS } from "../../../src/runpack/verify/types.ts";
import { KEYS_PER_CONDITION } from "../../../src/run/submitted_evidence.ts";
import { PROCEDURES } from "../../../src/run/record_shapes.ts";
import { FORGERIES } from "../../simulation/forged_packs/forgeries.ts";
import { forge } from "../../simulation/forged_packs/forge.ts";
import {
  identityOf,
  memorySource,
  packOf,
  PRIMITIVES,
  statusesOf,
  verifyWhole,
} from "../../simulation/runpack/memory.ts";
import { FORGED, HONEST, packOfRow, secondContract } from "../../simulation/forged_packs/absent_values.ts";
import { int, KEY_1, numberedKey } from "../../simulation/kernel/fixture.ts";
import { play, twoConditionLaw } from "../../simulation/forged_packs/played.ts";
import { leftOutPack } from "../../simulation/forged_packs/left_out.ts";
import { playOneKey } from "../../simulation/forged_packs/one_key.ts";
import { CLOCK_FORGERIES, playClockRun } from "../../simulation/forged_packs/clock_run.ts";
import { editsOf, repeatInReceipts } from "../../simulation/pack_vectors/statement_edits.ts";
import { KEYS_LAW, playKeys, policyRuns } from "../../simulation/forged_packs/waiting.ts";
import { playRandomRun, rejudge } from "../../simulation/runpack/random_run.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { randomOf } from "../../simulation/crash/random.ts";
import { answerText, bindArtifacts, deployRun, goldenKey, mutated, readGolden, restructured } from "./packs.ts";
import { chooserOf, compare, SecondVerifier, SEED } from "./process.ts";

/** Runs a program of the second verifier on what it finds in tests/vectors. */
async function runScript(name: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const script = new URL(`../../second_verifier/${name}`, import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command("python3", { args: [script] }).output();
  return { stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

Deno.test("the second verifier answers the vectors of every page of docs/format", async () => {
  const { stdout, stderr } = await runScript("check_vectors.py");
  assert.equal(stderr, "");
  assert.match(stdout, /^\d{3} vectors hold\n$/);
});

Deno.test("the second verifier gives the whole report of every vector of packs", async () => {
  const { stdout, stderr } = await runScript("check_packs.py");
  assert.equal(stderr, "");
  const [, held, all] = /^(\d{3}) of (\d{3}) vectors hold\n$/.exec(stdout) ?? [];
  assert.ok(held !== undefined && held === all, stdout);
});

for (const name of ["plain", "withheld", "signed", "kernel_2", "kernel_1_then_2"]) {
  Deno.test(`two verifiers give the same report, verdict and line on the golden pack "${name}", byte for byte`, async () => {
    await using second = new SecondVerifier();
    const { signatures, ...pack } = await readGolden(name);
    const trusted_keys = [await goldenKey()];
    for (const profile of ["integrity_only_v1", "full_replay_v1"] as const) {
      for (
        const changes of [{}, { trusted_keys, signatures }, { runpack_identity: identityOf(pack) }, {
          trusted_keys: [],
        }]
      ) {
        const request = { runpack_identity: null, profile, budget: null, trusted_keys: null, ...changes };
        const ours = answerText(await examineRunpack(memorySource(pack), request, PRIMITIVES));
        assert.equal(await second.ask(pack, request), ours);
      }
    }
  });
}

Deno.test("two verifiers agree on packs of two segments, of signed evidence, and under every limit", async () => {
  await using second = new SecondVerifier();
  const trusted_keys = [await goldenKey()];
  const long = await packOf(playGoldenRun(300));
  const deploy = forge(await deployRun(), bindArtifacts);
  for (const [name, pack] of [["long", long], ["deploy", deploy]] as const) {
    await compare(second, pack, {}, name);
    await compare(second, pack, { trusted_keys }, `${name}, keys`);
    const { budget } = await verifyWhole(pack);
    for (const member of BUDGET_MEMBERS) {
      const used = budget[member];
      // The replay of a segment comes between its objects and those of the next: limits all the way to what is used.
      const limits = Array.from({ length: Math.min(used, 12) }, (_, index) => Math.floor(used * (index + 1) / 12));
      for (const limit of [0, 1, ...limits, used - 1, used + 1].filter((one) => one >= 0)) {
        await compare(second, pack, { budget: { [member]: limit } }, `${name}, ${member} ${limit}`);
      }
    }
  }
});

Deno.test("two verifiers agree on every forgery", async () => {
  await using second = new SecondVerifier();
  const run = playGoldenRun();
  for (const { name, forge: change } of FORGERIES) await compare(second, forge(run, change), {}, name);
  const clock = playClockRun();
  for (const withheld_conditions of [[], ["fresh"], ["said", "open"]]) {
    await compare(
      second,
      await packOf(clock, undefined, { withheld_conditions }),
      {},
      `withheld ${withheld_conditions}`,
    );
  }
  for (const { name, forge: change } of CLOCK_FORGERIES) await compare(second, forge(clock, change), {}, name);
  for (const withheld of [[], ["c"]]) await compare(second, leftOutPack(withheld), {}, `left out, ${withheld}`);
  for (const procedure of PROCEDURES) {
    const pack = forge(playOneKey(procedure), ({ records }) => {
      records.at(-1).procedure = "gate-kernel-2";
    });
    await compare(second, await packOf(playOneKey(procedure)), {}, `one key, ${procedure}`);
    await compare(second, pack, {}, `one key, ${procedure} as gate-kernel-2`);
  }
});

Deno.test("two verifiers agree on evidence that waited, under every policy and around its end", async () => {
  await using second = new SecondVerifier();
  const trusted_keys = [Uint8Array.fromBase64(KEY_1.public_key)];
  const outcomes = new Set<string>();
  for (const [name, run] of policyRuns()) {
    const { body: { trace: [line] } } = readJson(run.records.at(-1)?.record ?? "") as Editable;
    outcomes.add([line.value, line.reason].filter(Boolean).join(" "));
    for (const withheld_conditions of [[], ["c"]]) {
      const pack = await packOf(run, run.records.length, { withheld_conditions });
      await compare(second, pack, { trusted_keys }, `${name}, withheld ${withheld_conditions}`);
    }
  }
  assert.deepEqual([...outcomes].sort(), ["true", "unknown disagreement", "unknown error", "unknown unqualified"]);
});

Deno.test("two verifiers count the keys of a condition: one below the limit, at it and above it", async () => {
  await using second = new SecondVerifier();
  const keys = Array.from({ length: KEYS_PER_CONDITION + 1 }, (_, index) => numberedKey(`key-${index}`, index + 1));
  const rows = [
    [KEYS_PER_CONDITION - 2, "satisfied"],
    [KEYS_PER_CONDITION - 1, "satisfied"],
    [KEYS_PER_CONDITION, `violated payload_invalid: revision ${KEYS_PER_CONDITION + 3}`],
  ] as const;
  for (const [before, expected] of rows) {
    const [own, [other]] = [keys.slice(0, before), keys.slice(before)];
    const key = own.at(-1);
    assert.ok(key !== undefined && other !== undefined);
    const run = playKeys(own, [other]);
    const last = before + 3;
    const edits = editsOf({ law: KEYS_LAW, run, last, key, statement: { value: int(1) } });
    const pack = forge(run, (parts) => {
      // The second statement of the last key becomes the first one of another key.
      edits.signed({}, other)(parts);
      repeatInReceipts(parts);
    });
    assert.equal(statusesOf(await verifyWhole(pack))["submission_consistency"], expected, `${before + 1} keys`);
    await compare(second, pack, {}, `${before + 1} keys`);
  }
});

Deno.test("two verifiers agree on packs of which a value is absent, honest and forged", async () => {
  await using second = new SecondVerifier();
  const trusted_keys = [Uint8Array.fromBase64(KEY_1.public_key)];
  for (const row of [...FORGED, ...HONEST]) {
    for (const withheld of [null, "c", "branch"]) {
      for (const keys of [null, trusted_keys]) {
        await compare(second, packOfRow(row, withheld), { trusted_keys: keys }, `${row.name}, ${withheld}`);
      }
    }
  }
});

Deno.test("two verifiers agree on 150 random runs of which values are absent, judged otherwise in one place", async () => {
  await using second = new SecondVerifier();
  const trusted_keys = [Uint8Array.fromBase64(KEY_1.public_key)];
  const random = randomOf(SEED + 50);
  for (let round = 0; round < 150; round++) {
    const run = playRandomRun(random);
    const pack = forge(run, (parts) => {
      if (round % 3 > 0) rejudge(parts, random);
      parts.withheld.push(round % 2 === 0 ? "branch" : "c");
    });
    await compare(second, pack, { trusted_keys }, `seed ${SEED}, round ${round}`);
  }
});

Deno.test("two verifiers agree on packs of several contracts of one provider", async () => {
  await using second = new SecondVerifier();
  const given = { caller: [], acquired: { "scan-1": { value: 1 } }, branch: "main" };
  await compare(second, forge(play(twoConditionLaw(), {}, [given]), secondContract), {}, "several contracts");
});

Deno.test("two verifiers agree on packs that begin with any record but the first", async () => {
  await using second = new SecondVerifier();
  const run = playGoldenRun();
  for (let first = 1; first < run.records.length; first++) {
    for (const withheld of [[], ["approved", "built", "report"]]) {
      const pack = forge(run, (parts) => {
        for (const part of [parts.records, parts.receipts]) part.splice(0, first);
        Object.assign(parts.records[0], { revision: 1, previous_record_id: null });
        for (const item of parts.records[0].body.evidence ?? []) item.retention = "RetainDigestOnly";
        parts.withheld.push(...withheld);
      });
      await compare(second, pack, {}, `first ${first}`);
    }
  }
});

Deno.test("two verifiers agree on 200 mutations of single bytes and objects", async () => {
  await using second = new SecondVerifier();
  const [plain, choose] = [await readGolden("plain"), chooserOf(SEED + 30)];
  for (let round = 0; round < 200; round++) {
    const profile = round % 2 === 0 ? "full_replay_v1" : "integrity_only_v1";
    await compare(second, mutated(plain, choose), { profile, runpack_identity: identityOf(plain) }, `round ${round}`);
  }
});

Deno.test("two verifiers agree on 300 packs whose manifest, artifact list or nodes were rewritten", async () => {
  await using second = new SecondVerifier();
  const packs = [await readGolden("plain"), await packOf(playGoldenRun(300)), forge(await deployRun(), bindArtifacts)];
  for (const [index, pack] of packs.entries()) {
    const choose = chooserOf(SEED + index);
    for (let round = 0; round < 100; round++) {
      const profile = round % 4 === 0 ? "full_replay_v1" : "integrity_only_v1";
      const changed = restructured(pack, choose);
      if (changed === null) continue;
      await compare(second, changed, { profile }, `pack ${index}, seed ${SEED}, round ${round}`);
    }
  }
});
