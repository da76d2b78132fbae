/**
 * Resolving a lost answer: the receipt of an accepted operation, or that there is none. Never compares or advances a head,
 * never creates a run, never asks an authority.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { Receipt } from "../../store/types.ts";
import { acceptedBefore, type Outcome, outcomeAnswer } from "./outcome.ts";
import type { Services } from "../services/services.ts";
import type { NextStep, Tool, ToolAnswer, ToolError } from "../framework/types.ts";

/** Outcomes of both resolving tools beside `accepted`. */
export const RESOLVE_REFUSALS = ["known_unaccepted", "invocation_mismatch", "unauthorized", "indeterminate"];

/** What is resolved. */
export interface Resolution {
  readonly tool: Pick<Tool, "name">;
  readonly invocation_identity: string;
  /** Name of the operation among those in flight. */
  readonly lockKey: string;
  readonly findReceipt: () => Promise<Receipt | null>;
  /** Adds to an accepted answer what is told beside its receipt; nothing unless given. */
  readonly completeAnswer?: (outcome: Outcome) => Promise<Outcome>;
  /** The arguments, for a step that asks again. */
  readonly input: JsonObject;
  /** The step that carries the operation out, where no receipt shows that it was. */
  readonly again: NextStep;
}

/** The answer of a call whose namespace is refused: an outcome, decided before anything is looked up. */
export function unauthorized(tool: string, error: ToolError, input: JsonObject): ToolAnswer {
  const outcome = { outcome: "unauthorized", result: { reason: error.code, message: error.message } };
  const why = "Ask the operator for access, then call again";
  return outcomeAnswer(outcome, () => [{ tool, arguments_hint: { ...input }, why }]);
}

/** Resolves for a caller that may: the receipt, then what is in flight. */
export async function resolve(services: Services, resolution: Resolution): Promise<ToolAnswer> {
  const found = await find(services, resolution);
  const outcome = await resolution.completeAnswer?.(found) ?? found;
  return outcomeAnswer(outcome, () => nextAfter(resolution, outcome));
}

async function find(services: Services, resolution: Resolution): Promise<Outcome> {
  const { invocation_identity, lockKey } = resolution;
  // Looked at first: an operation that ends while its receipt is being read must not be taken for one that never was.
  const inFlight = services.operationLock.isHeld(lockKey);
  const receipt = await resolution.findReceipt();
  if (receipt === null) {
    return inFlight || services.operationLock.isHeld(lockKey)
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
  const { tool, input, again } = resolution;
  switch (outcome.outcome) {
    case "known_unaccepted":
      return [again];
    case "invocation_mismatch": {
      const { accepted_invocation_identity = "" } = outcome.result;
      return [{
        tool: tool.name,
        arguments_hint: { ...input, invocation_identity: accepted_invocation_identity },
        why: "The operation was accepted with other arguments: get what it did",
      }];
    }
    default:
      return [{
        tool: tool.name,
        arguments_hint: { ...input },
        why: "The operation is being executed: ask again shortly",
      }];
  }
}
