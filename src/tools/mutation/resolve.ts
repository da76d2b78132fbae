/**
 * Resolves a lost answer: the receipt of an accepted operation, or the outcome that it has no receipt. It compares and
 * advances no head, creates no run and queries no authority.
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { Receipt } from "../../store/types.ts";
import { acceptedBefore, type Outcome, outcomeAnswer } from "./outcome.ts";
import type { Services } from "../services/services.ts";
import type { NextStep, Tool, ToolAnswer, ToolError } from "../framework/types.ts";

/** Outcomes of both resolving tools beside `accepted`. */
export const RESOLVE_REFUSALS = ["known_unaccepted", "invocation_mismatch", "unauthorized", "indeterminate"];

/** The operation to resolve. */
export interface Resolution {
  readonly tool: Pick<Tool, "name">;
  readonly invocation_identity: string;
  /** Key of the lock of the operation. */
  readonly lockKey: string;
  readonly findReceipt: () => Promise<Receipt | null>;
  /** Adds to an accepted outcome the members that its receipt does not have. */
  readonly completeAnswer?: (outcome: Outcome) => Promise<Outcome>;
  /** The arguments, for the step that resolves again. */
  readonly input: JsonObject;
  /** The step that executes the operation, where it has no receipt. */
  readonly again: NextStep;
}

/** The answer to a call in a refused namespace: an outcome, decided before anything is read. */
export function unauthorized(tool: string, error: ToolError, input: JsonObject): ToolAnswer {
  const outcome = { outcome: "unauthorized", result: { reason: error.code, message: error.message } };
  const why = "Ask the operator for access, then call again";
  return outcomeAnswer(outcome, () => [{ tool, arguments_hint: { ...input }, why }]);
}

/** Resolves for an authorised caller. */
export async function resolve(services: Services, resolution: Resolution): Promise<ToolAnswer> {
  const found = await find(services, resolution);
  const outcome = await resolution.completeAnswer?.(found) ?? found;
  return outcomeAnswer(outcome, () => nextAfter(resolution, outcome));
}

async function find(services: Services, resolution: Resolution): Promise<Outcome> {
  const { invocation_identity, lockKey } = resolution;
  // The lock is read first: an operation that ends while its receipt is read must not seem unaccepted.
  const isExecuting = services.operationLock.isHeld(lockKey);
  const receipt = await resolution.findReceipt();
  if (receipt === null) {
    return isExecuting || services.operationLock.isHeld(lockKey)
      ? { outcome: "indeterminate", result: { reason: "in_flight", retryable: true } }
      : { outcome: "known_unaccepted", result: { reason: "no_accepted_receipt" } };
  }
  if (receipt.invocation_identity !== invocation_identity) {
    const result = { invocation_identity, accepted_invocation_identity: receipt.invocation_identity };
    return { outcome: "invocation_mismatch", result };
  }
  return acceptedBefore(receipt);
}

function nextAfter(resolution: Resolution, outcome: Outcome): NextStep[] {
  const { tool: { name: tool }, input, again } = resolution;
  switch (outcome.outcome) {
    case "known_unaccepted":
      return [again];
    case "invocation_mismatch": {
      const { accepted_invocation_identity: invocation_identity = "" } = outcome.result;
      const why = "The operation was accepted with other arguments: get what it did";
      return [{ tool, arguments_hint: { ...input, invocation_identity }, why }];
    }
    default:
      return [{ tool, arguments_hint: { ...input }, why: "The operation is being executed: ask again shortly" }];
  }
}
