/**
 * Builds the answer to a call of several steps from its records and receipts; building it again gives the same answer.
 */

import type { JsonObject } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import { namedMembers } from "../framework/output.ts";
import { findingsOfStep, unmetMembers } from "../precheck/attempt_causes.ts";
import type { Services } from "../services/services.ts";
import type { AcceptedCall, RecordedStep, StepMembers } from "./derived_mutation.ts";

/** The decision on each evaluated stage, in order: advance, hold or complete. */
export function decisionsOf(
  services: Pick<Services, "config" | "providers">,
  { law, steps }: Pick<AcceptedCall, "law" | "steps">,
): JsonObject[] {
  return steps.flatMap((step) => {
    if (step.decided === null) return [];
    const { stage_id, completed, run_status } = step.decided;
    const kind = !completed ? "hold" : run_status === "complete" ? "complete" : "advance";
    return [{
      kind,
      stage_id,
      ...unmetMembers(law.law, completed ? { causes: [] } : findingsOfStep(services, law, step)),
    }];
  });
}

/** The accepted head, and the members of the records of the call. */
function recordsMembers({ steps, standing, recorded }: AcceptedCall): object {
  if (recorded === false) return { accepted_head: standing.head, recorded };
  const last = steps.at(-1);
  if (last === undefined) throw new RangeError("Cannot answer: the call has no step");
  const { revision, invocation_identity, acceptance_time, admission } = last.members;
  return {
    accepted_head: { record_id: last.record_id, revision },
    operations: steps.map(({ members: { operation }, record_id }) => ({ ...operation, record_id })),
    invocation_identity,
    acceptance_time,
    admission,
  };
}

/** The result: the members that all these answers have, with those of one tool between them. */
export function stepsResult(accepted: AcceptedCall, own: JsonObject, feedback: JsonObject): JsonObject {
  const { ready_frontier, run_status } = accepted.standing;
  return { ...asJson(recordsMembers(accepted)) as JsonObject, ...own, ready_frontier, run_status, ...feedback };
}

/** Members of the receipt of the first step of a kind; null without such a step. */
export function fromReceiptOf(
  steps: readonly RecordedStep[],
  kind: StepMembers["record_kind"],
  names: readonly string[],
): JsonObject | null {
  const step = steps.find(({ members }) => members.record_kind === kind);
  return step === undefined ? null : namedMembers(step.result, names);
}
