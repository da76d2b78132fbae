import assert from "node:assert/strict";
import { constructLaw } from "../law/law.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import { permissiveEnvironment } from "../runpack/verify/claims/scenario_law_construction.ts";
import { readLawText } from "./law_file.ts";
import { lawWarnings } from "./law_problems.ts";

const INDEPENDENT =
  "{ type: boolean, signed_by: [alice, bob], quorum: 2, policy: { independence: distinct_acquisition } }";

const WATCHED = [
  "caller_alone",
  "one_person_alone",
  "one_signer_suffices",
  "window_by_parameter",
  "caller_word_beside_approval",
];

/** The evidence of a law with parameters `at` and `days`, its stage, and the warnings. */
const ROWS: readonly (readonly [evidence: string, stage: string, codes: readonly string[]])[] = [
  ["a: 2 of [alice, bob]", "a", []],
  [`a: ${INDEPENDENT}`, "a", []],
  [
    `a: ${INDEPENDENT.replace("distinct_acquisition", "not_required")}`,
    "a",
    ["one_person_alone", "one_signer_suffices"],
  ],
  [`a: ${INDEPENDENT.replace("distinct_acquisition", "not_required").replace("2", "1")}`, "a", ["one_person_alone"]],
  ["a: after 2026-01-01T00:00:00Z", "a", []],
  ['a: "after {at}"', "a", ["window_by_parameter"]],
  ['a: "before {at}"', "a", ["window_by_parameter"]],
  ["a: { from: { calendar.open: { schedule: '{days}', time_zone: UTC } } }", "a", ["window_by_parameter"]],
  ["a: { type: boolean, from: { calendar.open: { schedule: Mon 09:00-10:00, time_zone: UTC } } }", "a", []],
  ["a: { type: boolean, from: { deploys.open: { schedule: '{days}' } } }", "a", []],
  ["a: 1 of [alice]\n  b: caller", "a && b", ["one_person_alone", "caller_word_beside_approval"]],
  ["a: 1 of [alice]\n  b: boolean signed by [ci]", "a && b", []],
  ["a: 1 of [alice]\n  b: boolean from env OK", "a && b", []],
  ["a: caller\n  b: count", "a && b == 0", ["caller_alone"]],
];

for (const [evidence, stage, codes] of ROWS) {
  Deno.test(`lawWarnings() of ${evidence}: ${codes.join() || "none"}`, () => {
    const text = `law: n\nparameters: { at: text, days: text }\npeople: { ci: [ci] }\nevidence:\n  ${
      evidence.replace("by [ci]", "by ci")
    }\nstages:\n  s: ${stage}\n`;
    const read = readLawText(text);
    assert.ok(read.ok, JSON.stringify(read));
    const built = constructLaw(read.file.spec, { limits: LAW_LIMITS, ...permissiveEnvironment(read.file.spec) });
    assert.ok(built.ok, JSON.stringify(built));
    const found = lawWarnings(built.law, built.caller_asserted).map(({ code }) => code);
    assert.deepEqual(found.filter((code) => WATCHED.includes(code)), codes);
  });
}
