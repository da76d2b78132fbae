/**
 * Builds the answer to a call of several steps from its records and receipts; building it again gives the same answer.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { unmetConditions } from "../../run/missing/missing.ts";
import { judgedBy } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { AcceptedCall, RecordedStep } from "./derived_mutation.ts";

/** The decision on each evaluated stage, in order: advance, hold or complete. */
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

/** The accepted head, and the members of the records of the call. */
function recordsMembers({ steps, state, recorded }: AcceptedCall): object {
  if (recorded === false) return { accepted_head: state.head, recorded };
  const last = steps.at(-1);
  if (last === undefined) throw new RangeError("Cannot answer: the call has no step");
  const { record } = last;
  return {
    accepted_head: { record_id: last.record_id, revision: record.revision },
    operations: steps.map(({ record: { operation }, record_id }) => ({ ...operation, record_id })),
    invocation_identity: record.invocation_identity,
    acceptance_time: record.acceptance_time,
    admission: record.admission,
  };
}

/** The result: the members that all these answers have, with those of one tool between them. */
export function stepsResult(accepted: AcceptedCall, own: JsonObject, feedback: JsonObject): JsonObject {
  const { state } = accepted;
  return {
    ...asJson(recordsMembers(accepted)) as JsonObject,
    ...own,
    ready_frontier: readyFrontier(state),
    run_status: state.status,
    ...feedback,
  };
}

/** Members of the receipt of the first step of a kind; null without such a step. */
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
