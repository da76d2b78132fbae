import assert from "node:assert/strict";

import type { ParameterValue } from "../../law/types.ts";
import { examineWhole, packOf } from "../../../tests/simulation/runpack/memory.ts";
import { playAdmissionRun } from "../../../tests/simulation/pack_vectors/admission_run.ts";
import { derivationOf, nameText, resultLine } from "./result_line.ts";
import type { StageResult } from "./run_result.ts";
import type { Examination } from "./verify.ts";

const RUN = playAdmissionRun();
const WHOLE = await examineWhole(await packOf(RUN));
const LAW = RUN.law.scenario_law_identity;

const text = (parameter_id: string, value: string): ParameterValue => ({
  parameter_id,
  value: { value, value_type: "String" },
});

/** The third part of the line of a run with these parameters. */
function parametersOf(parameters: readonly ParameterValue[] | null): string {
  return resultLine({ ...WHOLE, parameters }).split("; ").slice(2).join("; ");
}

// Parameters, and the part of the line that names them. Quotes count as characters of a value.
const PARAMETERS: readonly (readonly [string, readonly ParameterValue[] | null, string])[] = [
  ["none", [], "no parameters"],
  ["unknown ones", null, "parameters unknown"],
  ["one", [text("commit", "3f0c")], 'parameters commit = "3f0c"'],
  ["a name that is not plain", [text("a b", "1")], 'parameters "a b" = "1"'],
  ["a value of 100 characters", [text("a", "x".repeat(98))], `parameters a = "${"x".repeat(98)}"`],
  ["a value of 101 characters", [text("a", "x".repeat(99))], `parameters a = "${"x".repeat(99)}…`],
  ["101 characters outside the BMP", [text("a", "😀".repeat(99))], `parameters a = "${"😀".repeat(99)}…`],
];

for (const [what, parameters, wanted] of PARAMETERS) {
  Deno.test(`resultLine() names parameters: ${what}`, () => assert.equal(parametersOf(parameters), wanted));
}

for (const [count, more] of [[15, ""], [16, ""], [17, " and 1 more"], [18, " and 2 more"]] as const) {
  Deno.test(`resultLine() names ${Math.min(count, 16)} of ${count} parameters`, () => {
    const all = Array.from({ length: count }, (_, index) => text(`p${index}`, ""));
    const named = all.slice(0, 16).map(({ parameter_id }) => `${parameter_id} = ""`).join(", ");
    assert.equal(parametersOf(all), `parameters ${named}${more}`);
  });
}

/** A run whose stages are classified so, by name. */
function withStages(stages: Readonly<Record<string, StageResult["classification"]>>): Examination {
  const run = Object.entries(stages).map(([stage_id, classification]) => ({
    stage_id,
    classification,
    completed_at: null,
    digests: [],
    conditions: [],
    bindings: [],
  }));
  const sources = { signatures: [], unsigned: 0, providers: [], procedures: [] };
  return {
    ...WHOLE,
    run: { status: "active", completed_at: null, stages: run, is_permissive: false, is_head_signed: true, sources },
  };
}

const RESULTS: readonly (readonly [Examination, string])[] = [
  [WHOLE, "Complete"],
  [withStages({ a: "complete", b: "open_incomplete" }), 'Stage "a" complete, run open'],
  [withStages({ a: "complete", b: "complete" }), 'Stages "a", "b" complete, run open'],
  [withStages({ a: "open_incomplete", b: "blocked" }), 'Open, stage "a" opened, no stage complete'],
  [withStages({ a: "open_incomplete", b: "open_incomplete" }), 'Open, stages "a", "b" opened, no stage complete'],
  [withStages({ a: "ready_unopened", b: "blocked" }), "Open, no stage opened"],
  [{ ...WHOLE, run: null, report: withStatus("unavailable") }, "No result: 2 claims unavailable"],
  [{ ...WHOLE, report: withStatus("unavailable") }, "Complete, as recorded and not derived: 2 claims unavailable"],
  [{ ...WHOLE, report: withStatus("violated") }, "No result: 2 claims violated"],
  [{ ...WHOLE, report: { ...WHOLE.report, profile: "integrity_only_v1" } }, "No result: the records were not replayed"],
];

/** The report with another status of two claims. */
function withStatus(status: "unavailable" | "violated"): Examination["report"] {
  const other = status === "violated"
    ? { status, method: "record_chain_v6", reason: "chain_broken: revision 2" } as const
    : { status, reason: "value_withheld" } as const;
  const claims = WHOLE.report.claims.map((one) =>
    ["accepted_history_continuity", "pure_semantic_replay"].includes(one.claim) ? { ...one, status: other } : one
  );
  return { ...WHOLE.report, claims };
}

for (const [examination, wanted] of RESULTS) {
  Deno.test(`resultLine() begins with "${wanted}"`, () => {
    assert.equal(resultLine(examination), `${wanted}; law ${LAW}; no parameters`);
  });
}

Deno.test("derivationOf() does not need signed sources", () => {
  const { claims } = WHOLE.report;
  assert.equal(claims.find(({ claim }) => claim === "source_authenticity")?.status.status, "unavailable");
  assert.equal(derivationOf(WHOLE.report), "derived");
});

Deno.test("nameText() quotes a name that is not plain", () => {
  assert.deepEqual(["a.b-c_1", "a b", 'a"', ""].map(nameText), ["a.b-c_1", '"a b"', '"a\\""', '""']);
});
