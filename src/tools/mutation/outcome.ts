/** Outcomes of mutations, and the answers that carry them: an accepted result, or a refusal with its next steps. */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { asJson } from "../../run/primitives.ts";
import type { Head, RunKey } from "../../run/types.ts";
import type { Archived, Receipt } from "../../store/types.ts";
import { success, textAnswer } from "../framework/errors.ts";
import { boundedText } from "../framework/response_size.ts";
import type { NextStep, ToolAnswer } from "../framework/types.ts";

/** An outcome of docs/guide/agent_playbook.md with its result. */
export interface Outcome {
  readonly outcome: string;
  readonly result: JsonObject;
  /** JSON text of `result` where it exists already. */
  readonly resultText?: string | undefined;
}

/** The accepted outcome of a receipt, byte for byte as it was first returned. */
export function acceptedBefore(receipt: Receipt): Outcome {
  return { outcome: "accepted", result: readJson(receipt.result) as JsonObject, resultText: receipt.result };
}

/** The original outcome of a receipt, or the conflict where another invocation used the operation identity. */
export function fromReceipt(receipt: Receipt, invocation: Identity): Outcome {
  if (receipt.invocation_identity === invocation) return acceptedBefore(receipt);
  return {
    outcome: "operation_conflict",
    result: asJson({
      operation_id: receipt.operation,
      invocation_identity: invocation,
      accepted_invocation_identity: receipt.invocation_identity,
    }) as JsonObject,
  };
}

/** The outcome for a run that does not exist. */
export function runNotFound({ namespace_id, run_id }: RunKey): Outcome {
  return { outcome: "run_not_found", result: { namespace_id, run_id } };
}

/** The outcome of a submission to an archived run, which accepts nothing any more. */
export function runArchived({ runpack_identity }: Archived): Outcome {
  return { outcome: "payload_rejected", result: { reason: "run_archived", runpack_identity } };
}

/** The outcome for an expected head that is not the current one; the result is the current head. */
export function stale({ record_id, revision }: Head): Outcome {
  return { outcome: "stale", result: { record_id, revision } };
}

/**
 * The answer for an outcome.
 *
 * The result of `stale` is the current head and nothing else, so that it can be the next `expected_head`. Its next
 * steps stand beside it; every other refusal has them within its result.
 *
 * @param next Next steps of a refusal; not called for an accepted outcome
 */
export function outcomeAnswer(outcome: Outcome, next: () => readonly NextStep[]): ToolAnswer {
  if (outcome.outcome === "accepted") {
    const text = boundedText(outcome.resultText ?? JSON.stringify(outcome.result));
    return textAnswer(`{"outcome":{"outcome":"accepted","result":${text}}}`);
  }
  const steps = asJson({ next: next() }) as JsonObject;
  if (outcome.outcome === "stale") {
    return success({ outcome: { outcome: outcome.outcome, result: outcome.result, ...steps } });
  }
  const text = boundedText(JSON.stringify({ ...outcome.result, ...steps }));
  return textAnswer(`{"outcome":{"outcome":${JSON.stringify(outcome.outcome)},"result":${text}}}`);
}
