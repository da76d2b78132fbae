/**
 * The answer to a call of several steps, made of its records and their receipts: made again, it is the same.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { unmetConditions } from "../../run/missing/missing.ts";
import { judgedBy } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { AcceptedCall, RecordedStep } from "./derived_mutation.ts";

/** The decision on each stage that was evaluated, in order: it advances, holds, or completes the run. */
export function decisionsOf({ law, steps }: AcceptedCall): JsonObject[] {
  return steps.flatMap(({ record }) => {
    if (record.record_kind !== "stage_evaluated") return [];
    const { stage_id, completed, run_status, trace } = record.body;
    const requirement = law.stages[law.stageIndex.get(stage_id) ?? -1]?.stage.completion_requirement;
    const unmet = completed || requirement === undefined ? [] : unmetConditions(requirement, judgedBy(trace));
    const kind = !completed ? "hold" : run_status === "complete" ? "complete" : "advance";
    return [{ kind, stage_id, unmet }];
  });
}

/** Where the run stands now, and what the records of the call say of it. */
function recordsMembers({ steps, state, recorded }: AcceptedCall): object {
  if (recorded === false) return { accepted_head: state.head, recorded };
  const last = steps.at(-1);
  if (last === undefined) throw new RangeError("Cannot answer: no step was taken");
  const { record } = last;
  return {
    accepted_head: { record_id: last.record_id, revision: record.revision },
    operations: steps.map(({ record: { operation }, record_id }) => ({ ...operation, record_id })),
    invocation_identity: record.invocation_identity,
    acceptance_time: record.acceptance_time,
    admission: record.admission,
  };
}

/** What all these answers have, around what is their own. */
export function stepsResult(taken: AcceptedCall, own: JsonObject, feedback: JsonObject): JsonObject {
  const { state } = taken;
  return {
    ...asJson(recordsMembers(taken)) as JsonObject,
    ...own,
    ready_frontier: readyFrontier(state),
    run_status: state.status,
    ...feedback,
  };
}

/** Members of the receipt of the first step of a kind; none where there is no such step. */
export function fromReceiptOf(
  steps: readonly RecordedStep[],
  kind: RecordedStep["record"]["record_kind"],
  names: readonly string[],
): JsonObject | null {
  const step = steps.find(({ record }) => record.record_kind === kind);
  if (step === undefined) return null;
  return Object.fromEntries(names.flatMap((name) => {
    const value = step.result[name];
    return value === undefined ? [] : [[name, value]];
  }));
}
