import assert from "node:assert/strict";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { keyIdOf } from "../../../src/runpack/format/dsse.ts";
import { CLAIMS } from "../../../src/runpack/verify/claims.ts";
import { decodeBase64 } from "../../../src/canonical/base64.ts";
import violations from "../../vectors/runpack/violations.json" with { type: "json" };
import { SHA256 } from "../kernel/fixture.ts";
import { type CaseAnswer, type PackCase, runCase } from "./cases.ts";
import { type Bases, decodePack, type PackText } from "./encoding.ts";
import { ADMISSION_ROWS } from "./admission_rows.ts";
import { ENVELOPE_ROWS } from "./envelope_rows.ts";
import { entriesOf, entryOfReason, makeVectors, PACKS_FOLDER, textsOf, violatedIn } from "./files.ts";
import { makeJudgements } from "./judgements.ts";
import type { MemoryPack } from "../runpack/memory.ts";

const MADE = await makeVectors();
const TEXTS = textsOf(MADE);

Deno.test("the vectors of packs are those that their tables make, and no others", async () => {
  const found = [...Deno.readDirSync(PACKS_FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".json"));
  assert.deepEqual(found.sort(), [...TEXTS.keys()].sort());
  for (const [name, text] of TEXTS) {
    const isSame = await Deno.readTextFile(join(PACKS_FOLDER, name)) === text;
    assert.ok(isSame, `${name}: run "deno run -A tests/simulation/pack_vectors/files.ts", and review what changed`);
  }
});

for (const { name: file, cases } of MADE.files) {
  Deno.test(`${file}.json: each vector violates the claims of its table, and no others`, () => {
    for (const { vector: { name, report }, violates } of cases) {
      assert.equal(report === null, violates === null, name);
      const found = violatedIn(report);
      // Some tables give the code alone, without its place.
      const reasons = Object.entries(found).map(([claim, reason]) =>
        violates?.[claim]?.includes(":") === true ? [claim, reason] : [claim, reason.split(":")[0]]
      );
      const wanted = Object.entries(violates ?? {}).map(([claim, reason]) =>
        reason.includes(":") || found[claim] === reason ? [claim, reason] : [claim, reason.split(":")[0]]
      );
      assert.deepEqual(Object.fromEntries(reasons), Object.fromEntries(wanted), `${file}, ${name}`);
    }
  });
}

/** The base packs, read from their file as any reader would. */
function readBases(): Bases {
  const bases = new Map<string, MemoryPack>();
  const { packs } = JSON.parse(TEXTS.get("bases.json") ?? "") as { packs: readonly (PackText & { name: string })[] };
  for (const text of packs) {
    const { manifest, objects } = decodePack(text, bases);
    assert.ok(manifest !== null, text.name);
    bases.set(text.name, { manifest, objects });
  }
  return bases;
}

for (const { name: file } of MADE.files) {
  Deno.test(`${file}.json: read from its text, each vector has its whole report, verdict and line`, async () => {
    const bases = readBases();
    const { cases } = JSON.parse(TEXTS.get(`${file}.json`) ?? "") as { cases: readonly PackCase[] };
    assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length, "every name is there once");
    for (const vector of cases) {
      for (const [member, found] of Object.entries(await runCase(vector, bases))) {
        const wanted = vector[member as keyof CaseAnswer] ?? null;
        assert.equal(canonicalize(found), canonicalize(wanted), `${file}, ${vector.name}: ${member}`);
      }
    }
  });
}

Deno.test("envelopes.json: a report rests on the signatures of exactly the trusted keys of its table", () => {
  const cases = MADE.files.find(({ name }) => name === "envelopes")?.cases ?? [];
  assert.equal(cases.length, ENVELOPE_ROWS.length);
  for (const [index, { name, signers }] of ENVELOPE_ROWS.entries()) {
    const ids = signers.map(({ public_key }) => keyIdOf(SHA256, decodeBase64(public_key) ?? new Uint8Array()));
    const bases = ["sha256", ...ids.map((id) => `runpack_signature:${id}`)].sort();
    assert.deepEqual(cases[index]?.vector.report?.["trusted_bases"] as JsonValue, bases, name);
  }
});

Deno.test("admissions.json: each vector has the exit code, the reasons and the waivers of its table", () => {
  const cases = MADE.files.find(({ name }) => name === "admissions")?.cases ?? [];
  assert.equal(cases.length, ADMISSION_ROWS.length);
  for (const [index, { name, exit_code, reasons, waived = [] }] of ADMISSION_ROWS.entries()) {
    const { line, signers: _signers, providers: _providers, ...decision } = cases[index]?.vector.admission ?? {};
    assert.deepEqual(decision, { exit_code, reasons, waived }, name);
    const [first] = reasons;
    const head = first === undefined ? "Admitted: " : `Not admitted (${first}): `;
    assert.ok(String(line).startsWith(`${head}${cases[index]?.vector.line}`), `${name}: ${line}`);
    for (const one of waived) assert.ok(String(line).includes(one), `${name}: ${line}`);
  }
});

for (const { row, found } of makeJudgements().cases) {
  Deno.test(`judgement ${row.name}: ${row.outcome}`, () => {
    assert.deepEqual(found, { items: row.items, outcome: row.outcome });
  });
}

/** Codes that no vector shows: what shows them does not fit into one. */
const NOT_SHOWN = [
  // 64 MiB of values.
  "evidence_structural_admission items_unexpected 0",
  // A validator of JSON Schemas: reports of vectors are those without one.
  "evidence_structural_admission schema_verdict_mismatch 1",
];

Deno.test("each claim has the codes of violations.json, in their order", () => {
  const listed = violations.claims.map(({ claim, codes }) => [claim, [...new Set(codes.map(({ code }) => code))]]);
  const decided = CLAIMS.filter(({ method }) => method !== null);
  assert.deepEqual(decided.map(({ name, codes }) => [name, codes]), listed);
  assert.ok(CLAIMS.every(({ method, codes }) => method !== null || codes.length === 0));
});

Deno.test("a vector shows each code of violations.json", () => {
  const cases = MADE.files.flatMap((file) => file.cases);
  const shown = new Set(cases.flatMap(({ vector: { report, shows } }) => [
    ...Object.entries(violatedIn(report)).map(([claim, reason]) =>
      `${claim} ${reason.split(":")[0]} ${entryOfReason(claim, reason)}`
    ),
    `${shows?.claim} ${shows?.code} ${
      entriesOf(shows?.claim ?? "", shows?.code ?? "").findIndex(({ says }) => says === shows?.says)
    }`,
  ]));
  const all = violations.claims.flatMap(({ claim, codes }) =>
    codes.map(({ code }, index) =>
      `${claim} ${code} ${codes.slice(0, index).filter((one) => one.code === code).length}`
    )
  );
  const missing = all.filter((code) => !shown.has(code));
  assert.deepEqual(missing.sort(), [...NOT_SHOWN].sort());
});
