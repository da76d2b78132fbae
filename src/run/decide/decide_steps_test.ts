import assert from "node:assert/strict";
import {
  accepted,
  bool,
  callerItem,
  createCommand,
  environmentWith,
  evaluateCommand,
  lawOf,
  openCommand,
  requestOf,
  SHA256,
  stampsAt,
  submitCommand,
} from "../../../tests/simulation/kernel/fixture.ts";
import { flag, stage } from "../../../tests/simulation/kernel/law_specs.ts";
import { decide } from "./decide.ts";
import { type AcceptedSteps, decideSteps, type Step } from "./decide_steps.ts";
import { derivedOperation } from "../derived.ts";
import type { RunState } from "../types.ts";

const LAW = lawOf({
  spec_version: "dag-v3",
  scenario_id: "two",
  namespace_id: 2,
  conditions: [flag("x"), flag("y")],
  stages: [stage("a", "x"), stage("b", "y")],
  completion_requirement: { Or: [{ Condition: "a" }, { Condition: "b" }] },
});
const ENVIRONMENT = environmentWith();

function started(): RunState {
  return accepted(decide(LAW, null, createCommand(), stampsAt(), ENVIRONMENT)).state;
}

const { expected_head: _open, ...OPEN_A } = openCommand(2, started().head, "a");
const { expected_head: _submit, ...SUBMIT } = submitCommand(3, started().head);

function evaluateStep(operation: number, stageId: string, condition: string, value: boolean): Step {
  const { expected_head: _head, ...step } = evaluateCommand(operation, started().head, stageId, {
    caller_evidence: [callerItem(condition, bool(value))],
  });
  return step;
}

function steps(...all: Step[]): AcceptedSteps {
  const decided = decideSteps(LAW, started(), all, stampsAt(), ENVIRONMENT);
  assert.equal(decided.outcome, "accepted", JSON.stringify(decided));
  return decided as AcceptedSteps;
}

Deno.test("decideSteps() makes the same records as each command alone", () => {
  const { decisions, state } = steps(SUBMIT, OPEN_A, evaluateStep(4, "a", "x", false));
  let at = started();
  for (const [index, step] of [SUBMIT, OPEN_A, evaluateStep(4, "a", "x", false)].entries()) {
    const alone = accepted(decide(LAW, at, { ...step, expected_head: at.head }, stampsAt(), ENVIRONMENT));
    assert.deepEqual(decisions[index], alone);
    at = alone.state;
  }
  assert.deepEqual(state, at);
  assert.equal(state.head.revision, 4);
});

Deno.test("decideSteps() accepts all steps or none", () => {
  const refused = decideSteps(LAW, started(), [SUBMIT, evaluateStep(4, "a", "x", true)], stampsAt(), ENVIRONMENT);
  assert.deepEqual([refused.outcome, "records" in refused && refused.records], ["stage_not_open", []]);
});

Deno.test("decideSteps() leaves out evaluations after the one that completes the run", () => {
  const { expected_head: _head, ...openB } = openCommand(5, started().head, "b");
  const all = [OPEN_A, openB, evaluateStep(6, "a", "x", true), evaluateStep(7, "b", "y", true)];
  const { decisions, state } = steps(...all);
  assert.equal(state.status, "complete");
  assert.deepEqual(decisions.map(({ records: [{ record }] }) => record.operation.identity.at(-1)), ["2", "5", "6"]);
});

Deno.test("derivedOperation() differs in each of its parts, and has a fixed value", () => {
  const id = requestOf(7).operation_id;
  const rows = [
    [{ request_id: id }, "open_stage", 0, "cdf5935ed3c6873580e156d382f5b948"],
    [{ request_id: id }, "evaluate_stage", 0, "911f52805d000ac0d41cd4230efeb1dd"],
    [{ request_id: id }, "evaluate_stage", 1, "1ce3d039f2c135d189b3e0f65a276394"],
    [{ trigger_id: id }, "evaluate_stage", 0, "99e27b9a84bddee5d26a486d1dbe508d"],
  ] as const;
  assert.deepEqual(
    rows.map(([from, family, ordinal]) => derivedOperation(SHA256, from, family, ordinal)),
    rows.map((row) => row[3]),
  );
});
