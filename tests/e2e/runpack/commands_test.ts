import assert from "node:assert/strict";
import { join } from "node:path";
import { sha256 } from "../../../src/evidence/host_primitives.ts";
import { writeArchive } from "../../../src/runpack/host/archive_file.ts";
import { copyPack, sourceContents } from "../../../src/runpack/host/contents.ts";
import { folderPackSource, folderSignatures } from "../../../src/runpack/host/folder.ts";
import { openLocalRepository } from "../../../src/runpack/host/local_repository.ts";
import { CLAIM_NAMES } from "../../../src/runpack/verify/claims.ts";
import { NOW } from "../../simulation/kernel/fixture.ts";
import { gateUnder } from "../gate_command.ts";
import { playClockRun } from "../../simulation/forged_packs/clock_run.ts";
import { writeTree } from "../../simulation/runpack/files.ts";
import { forge } from "../../simulation/forged_packs/forge.ts";
import { packOf } from "../../simulation/runpack/memory.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { FORGERIES } from "../../simulation/forged_packs/forgeries.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;
const GOLDEN = new URL("../../vectors/runpack/v6/", import.meta.url).pathname;
const decoder = new TextDecoder();

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs gate with read permission only: without write, network, environment and run permission. */
async function gate(...args: string[]): Promise<Ended> {
  const { code, stdout, stderr } = await gateUnder("--allow-read", ...args);
  return { code, out: stdout, err: stderr };
}

// deno-lint-ignore no-explicit-any
function resultOf({ out }: Ended): any {
  return JSON.parse(out).result;
}

/** Runs gate with read and write permission, for `show --html`. */
async function gateWriting(...args: string[]): Promise<Ended> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--frozen",
      "--allow-read",
      "--allow-write",
      join(ROOT, "main.ts"),
      ...args,
    ],
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", GATE_CONFIG: "" },
    stdin: "null",
  });
  const { code, stdout, stderr } = await command.output();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

async function withFolder(test: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "gate-packs-" });
  try {
    await test(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("gate runpack verify needs only read permission", async () => {
  const plain = await gate("runpack", "verify", join(GOLDEN, "plain"), "--json");
  assert.deepEqual([plain.code, plain.err], [4, ""]);
  // deno-lint-ignore no-explicit-any
  assert.deepEqual(resultOf(plain).report.claims.map(({ claim }: any) => claim), CLAIM_NAMES);
  const text = await gate("runpack", "verify", join(GOLDEN, "plain"));
  const [line, undecidable, expectation] = text.out.split("\n");
  assert.equal(line, resultOf(plain).line);
  assert.match(
    line ?? "",
    /^Complete, as recorded and not derived: 4 claims unavailable; law [0-9a-f]{64}; no parameters$/,
  );
  assert.match(
    undecidable ?? "",
    /^No verification of a runpack can show: no record was accepted since \(currentness\); /,
  );
  assert.match(expectation ?? "", /^No expectation was given: a runpack of any law, run and producer verifies\./);
  assert.match(text.out, /artifact_tree_integrity +satisfied +every object is present, and hashes to its identity\n/);
  assert.ok(text.out.includes(`\nverdict ${resultOf(plain).verdict_identity}\n`));
});

Deno.test("gate runpack verify --help needs only read permission, and does not read NO_COLOR", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-check",
      "--frozen",
      "--allow-read",
      join(ROOT, "main.ts"),
      "runpack",
      "verify",
      "-h",
    ],
    env: { NO_COLOR: "", RUST_BACKTRACE: "0" },
    stdin: "null",
  }).output();
  assert.deepEqual([code, decoder.decode(stderr)], [0, ""]);
  assert.match(decoder.decode(stdout), /^Usage: gate runpack verify /);
});

Deno.test("gate runpack verify exits with 0 if all claims hold, 4 if material is missing, 6 if a claim is violated", () =>
  withFolder(async (folder) => {
    const run = playGoldenRun();
    await writeTree(join(folder, "whole"), await packOf(run, 5));
    await writeTree(join(folder, "forged"), forge(run, FORGERIES.find(({ name }) => name === "another state")?.forge));
    const full = ["--json"];
    const whole = await gate("runpack", "verify", join(folder, "whole"), ...full);
    assert.equal(whole.code, 0, whole.out);
    assert.deepEqual(resultOf(whole).report.assumptions, [], "a JSON Schema is run, in a worker without permissions");
    const recorded = await gate("runpack", "verify", join(folder, "whole"), ...full, "--recorded-verdicts");
    assert.deepEqual(resultOf(recorded).report.assumptions, ["json_schema_verdict_as_recorded"]);
    assert.notEqual(resultOf(recorded).report.report_identity, resultOf(whole).report.report_identity);
    assert.equal(resultOf(recorded).verdict_identity, resultOf(whole).verdict_identity);
    const texts = await Promise.all(
      [[], ["--recorded-verdicts"]].map((flags) => gate("runpack", "verify", join(folder, "whole"), ...flags)),
    );
    assert.deepEqual(
      texts.map(({ out }) => /\nreport [0-9a-f]{64} \((.*); .* another report identity\)\n/.exec(out)?.[1]),
      [
        "JSON Schemas were run",
        "it assumes recorded JSON Schema verdicts",
      ],
    );
    assert.equal((await gate("runpack", "verify", join(GOLDEN, "plain"), ...full)).code, 4);
    const forged = await gate("runpack", "verify", join(folder, "forged"), ...full);
    assert.equal(forged.code, 6);
    assert.match(resultOf(forged).line, /^No result: \d claims? violated; /);
    const integrity = await gate(
      "runpack",
      "verify",
      join(folder, "forged"),
      "--profile",
      "integrity_only_v1",
      "--json",
    );
    assert.equal(integrity.code, 0, "what is forged is still whole");
    assert.match(resultOf(integrity).line, /^No result: the records were not replayed; /);
  }));

Deno.test("gate runpack verify --require-signature fails a runpack that no trusted key has signed", () =>
  withFolder(async (folder) => {
    const { public_key } = JSON.parse(await Deno.readTextFile(join(GOLDEN, "signed.key.json")));
    const key = join(folder, "key.pub");
    const other = join(folder, "other.pub");
    await Deno.writeTextFile(key, public_key);
    await Deno.writeFile(other, new Uint8Array(32).fill(6));
    const cases: readonly (readonly [pack: string, keys: readonly string[], code: number])[] = [
      ["signed", ["--trusted-key", key], 0],
      ["signed", ["--trusted-key", other], 6],
      ["plain", ["--trusted-key", key], 6],
      ["signed", [], 2],
    ];
    for (const [pack, keys, code] of cases) {
      const integrity = ["--profile", "integrity_only_v1"];
      const ended = await gate("runpack", "verify", join(GOLDEN, pack), ...integrity, "--require-signature", ...keys);
      assert.equal(ended.code, code, ended.out + ended.err);
    }
  }));

Deno.test("gate runpack verify accepts keys and a budget, and reports invalid ones", () =>
  withFolder(async (folder) => {
    const { public_key, keyid: key_id } = JSON.parse(await Deno.readTextFile(join(GOLDEN, "signed.key.json")));
    const key = join(folder, "release.pub");
    await Deno.writeTextFile(key, public_key);
    const signed = await gate("runpack", "verify", join(GOLDEN, "signed"), "--trusted-key", key, "--json");
    assert.equal(signed.code, 4, signed.err);
    assert.deepEqual(resultOf(signed).report.trusted_bases, ["ed25519", `runpack_signature:${key_id}`, "sha256"]);
    const short = await gate("runpack", "verify", join(GOLDEN, "plain"), "--budget", "objects=1");
    assert.equal(short.code, 4);
    assert.match(short.out, /artifact_tree_integrity +unavailable .* \[budget_exhausted\]\n/);
    const twice = ["--budget", "objects=1", "--budget", "objects=2"];
    for (const wrong of [["--budget", "objects"], ["--budget", "minutes=1"], twice, ["--profile", "full"]]) {
      for (const pack of [join(GOLDEN, "plain"), key, join(folder, "none")]) {
        const ended = await gate("runpack", "verify", pack, ...wrong);
        assert.equal(ended.code, 2, wrong.join(" "));
        assert.match(ended.err, /^gate: (?:Cannot use budget|Unknown profile) /);
      }
    }
    assert.equal((await gate("runpack", "verify", join(folder, "none"))).code, 2);
    const keyless = await gate("runpack", "verify", join(GOLDEN, "plain"), "--trusted-key", join(folder, "none"));
    assert.equal(keyless.code, 2);
    assert.match(keyless.err, /^gate: Cannot read public key ".*none": it does not exist/);
    const both = await gate("runpack", "verify", key, "--trusted-key", join(folder, "none"));
    assert.deepEqual([both.code, both.err], [keyless.code, keyless.err]);
    const file = await gate("runpack", "verify", key);
    assert.equal(file.code, 6, "a file that is no archive does not verify");
    assert.match(file.err, /^gate: Cannot read archive ".*release.pub" at byte 0: it ends in the middle\n/);
  }));

Deno.test("gate runpack verify returns the same report for a folder and a file", () =>
  withFolder(async (folder) => {
    const golden = join(GOLDEN, "signed");
    const file = join(folder, "release.runpack");
    const contents = await sourceContents(sha256, folderPackSource(golden), await folderSignatures(golden));
    await writeArchive(file, contents);
    const [a, b] = [await gate("runpack", "verify", golden, "--json"), await gate("runpack", "verify", file, "--json")];
    assert.deepEqual([a.code, a.out], [4, b.out]);
    const bytes = await Deno.readFile(file);
    await Deno.writeFile(file, bytes.with(600, (bytes[600] ?? 0) ^ 1));
    assert.match((await gate("runpack", "verify", file)).out, /artifact_tree_integrity +violated/);
    await Deno.writeFile(file, bytes.subarray(0, bytes.length - 1));
    const cut = await gate("runpack", "verify", file);
    assert.equal(cut.code, 6);
    assert.ok(cut.out.includes(`[archive_invalid: byte ${bytes.length - 1024}]\n`), cut.out);
  }));

Deno.test("gate runpack show shows stages, timeline and decisions with their evidence", async () => {
  const { code, out } = await gate("runpack", "show", join(GOLDEN, "withheld"));
  assert.equal(code, 0);
  for (
    const expected of [
      `● ship complete, after build && review, needs region == "north" && present(report)`,
      "evaluated build, attempt 1: false",
      `unknown log.contains("0 errors") (no evidence)`,
      `binding:region-env from env / region-env: "north"`,
      "pure_semantic_replay",
    ]
  ) assert.ok(out.includes(expected), expected);
  assert.ok(!out.includes("\x1b["), "no colours where they are not wanted");
});

Deno.test("gate runpack show writes a page of an incomplete runpack, and shows violated claims", () =>
  withFolder(async (folder) => {
    const pack = await packOf(playGoldenRun());
    const { law, artifacts } = JSON.parse(decoder.decode(pack.manifest));
    const without = (name: string): Map<string, Uint8Array> =>
      new Map([...pack.objects].filter(([identity]) => identity !== name));
    const cases = [[law.object, "law", "Its law cannot be read"], [
      artifacts.object,
      "artifacts",
      "Only 0 of 11 records",
    ]];
    for (const [name, role, why] of cases) {
      await writeTree(join(folder, role), { ...pack, objects: without(name) });
      const page = join(folder, `${role}.html`);
      const { code, out } = await gateWriting("runpack", "show", join(folder, role), "--html", page);
      assert.equal(code, 6, out);
      const text = await Deno.readTextFile(page);
      for (const shown of [out, text]) {
        assert.ok(shown.includes(why) && shown.includes(`object_missing: ${role}`), shown);
        assert.ok(shown.includes("artifact_tree_integrity"));
      }
    }
    const { code, err } = await gate("runpack", "diff", join(folder, "law"), join(folder, "law"));
    assert.deepEqual([code, /Cannot read ".*law": object_missing: law/.test(err)], [6, true]);
  }));

Deno.test("gate runpack verify finds a runpack by its identity with read permission only", () =>
  withFolder(async (folder) => {
    const golden = join(GOLDEN, "plain");
    const contents = await sourceContents(sha256, folderPackSource(golden), []);
    await copyPack(contents, openLocalRepository(join(folder, "runpacks")));
    await Deno.writeTextFile(join(folder, "gate.toml"), 'run_state_store = { type = "sqlite", path = "gate.db" }\n');
    const wanted = await gate("runpack", "verify", golden, "--json");
    for (const place of [["--data-dir", folder], ["--config", join(folder, "gate.toml")]]) {
      const found = await gate("runpack", "verify", contents.runpackIdentity, ...place, "--json");
      assert.deepEqual([found.code, found.err], [4, ""]);
      assert.deepEqual(resultOf(found).report.claims, resultOf(wanted).report.claims);
    }
    const none = await gate("runpack", "verify", "0".repeat(64), "--data-dir", folder);
    assert.deepEqual([none.code, /Cannot find runpack "0{64}"/.test(none.err)], [2, true]);
    // The process has no permission for the environment, so it ignores GATE_CONFIG.
    assert.match((await gate("runpack", "verify", "0".repeat(64))).err, /Cannot find runpack/);
  }));

Deno.test("gate runpack diff reports which runpack continues the other, and where two fork", () =>
  withFolder(async (folder) => {
    const run = playGoldenRun();
    await writeTree(join(folder, "early"), await packOf(run, 5));
    await writeTree(join(folder, "late"), await packOf(run));
    await writeTree(
      join(folder, "fork"),
      forge(run, FORGERIES.find(({ name }) => name === "a reading of another clock")?.forge),
    );
    const later = await gate("runpack", "diff", join(folder, "early"), join(folder, "late"), "--json");
    assert.deepEqual([later.code, resultOf(later).relation, resultOf(later).only_second.length], [
      0,
      "second_continues",
      6,
    ]);
    const same = await gate("runpack", "diff", join(folder, "late"), join(folder, "late"));
    assert.match(same.out, /^Both are the same runpack/);
    const withheld = await gate("runpack", "diff", join(GOLDEN, "plain"), join(GOLDEN, "withheld"));
    assert.match(withheld.out, /\n {2}withheld: none in the first, approved log in the second\n/);
    const forked = await gate("runpack", "diff", join(folder, "late"), join(folder, "fork"), "--json");
    assert.deepEqual([forked.code, resultOf(forked).relation, resultOf(forked).shared_records], [6, "forked", 5]);
  }));

Deno.test("laws and cases in YAML need only read permission", async () => {
  const example = (file: string): string => join(ROOT, "docs/examples/agent_task", file);
  const scenario = example("scenario.yaml");
  const rows: readonly (readonly [code: number, args: readonly string[], message: RegExp])[] = [
    [0, ["scenario", "check", scenario], /a law/],
    [0, ["scenario", "explain", scenario], /acceptance_criteria/],
    [0, ["scenario", "graph", scenario], /hand-over/],
    [0, ["scenario", "test", scenario], /0 failed/],
    [0, ["scenario", "json", scenario], /spec_version/],
    [0, ["replay", join(GOLDEN, "plain"), "--law", scenario], /decisions/],
  ];
  for (const [code, args, message] of rows) {
    const ended = await gate(...args);
    assert.deepEqual([ended.code, ended.err], [code, ""], args.join(" "));
    assert.match(ended.out, message);
  }
});

Deno.test("gate replay lists the decisions that a changed law would have made differently", () =>
  withFolder(async (folder) => {
    const run = playGoldenRun();
    const pack = join(folder, "pack");
    await writeTree(pack, await packOf(run));
    const spec = JSON.parse(run.law.law);
    const write = async (name: string, change: (spec: typeof JSON) => void): Promise<string> => {
      const next = structuredClone(spec);
      change(next);
      await Deno.writeTextFile(join(folder, name), JSON.stringify(next));
      return join(folder, name);
    };
    const same = await gate("replay", pack, "--law", await write("same.json", () => {}), "--json");
    assert.equal(same.code, 0, same.err);
    // deno-lint-ignore no-explicit-any
    const differing = (ended: Ended): any[] => resultOf(ended).decisions.filter(({ differs }: any) => differs);
    assert.deepEqual(
      differing(same),
      [],
      "a condition that did not change is judged as it was, its value withheld or not",
    );
    // deno-lint-ignore no-explicit-any
    const laxer = await write("laxer.json", (next: any) => {
      // deno-lint-ignore no-explicit-any
      next.stages.find(({ stage_id }: any) => stage_id === "build").completion_requirement = { Condition: "built" };
    });
    const [first] = differing(await gate("replay", pack, "--law", laxer, "--json"));
    assert.deepEqual([first.revision, first.before, first.after], [4, "unknown", "true"]);
    // deno-lint-ignore no-explicit-any
    const stricter = await write("stricter.json", (next: any) => {
      next.conditions.push({ ...structuredClone(next.conditions[0]), condition_id: "second_pair_of_eyes" });
      // deno-lint-ignore no-explicit-any
      next.stages.find(({ stage_id }: any) => stage_id === "build").completion_requirement = {
        And: [{ Condition: "built" }, { Condition: "log" }, { Condition: "second_pair_of_eyes" }],
      };
    });
    const text = await gate("replay", pack, "--law", stricter);
    assert.match(text.out, /build, attempt 3: true -> unknown/);
    assert.match(text.out, /second_pair_of_eyes: not evaluated -> unknown \(no_evidence\)/);
    assert.match(text.out, /open review: opened -> no decision \(the stage would not have been ready\)/);
    // deno-lint-ignore no-explicit-any
    const none = await write("none.json", (next: any) => next.stages = []);
    const faulty = await gate("replay", pack, "--law", none);
    assert.equal(faulty.code, 2);
    assert.match(
      faulty.err,
      /^gate: Cannot use law ".*none\.json": \d errors?\ngate: .*none\.json:1:\d+: error: \$\.stages: /,
    );
    assert.equal((await gate("replay", pack)).code, 2);
  }));

Deno.test("a run with relative time is derived again on another day, by a process that reads files alone", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await writeTree(folder, await packOf(playClockRun()));
    const { code, out, err } = await gate("runpack", "verify", folder, "--profile", "full_replay_v1", "--json");
    assert.equal(code, 0, err);
    assert.ok(Date.now() - NOW > 86_400_000, "by the clock of this process the instants are old");
    const { claims } = resultOf({ code, out, err }).report as {
      claims: readonly { readonly claim: string; readonly status: { readonly status: string } }[];
    };
    const replayed = claims.find(({ claim }) => claim === "pure_semantic_replay");
    assert.equal(replayed?.status.status, "satisfied");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
