/**
 * Answers of the tools whose result is an outcome envelope: what was accepted, or a refusal that says what comes next.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import { boundedText } from "../framework/response_size.ts";
import { success } from "../framework/errors.ts";
import type { Outcome } from "./mutation.ts";
import { textAnswer } from "../make_tool.ts";
import type { NextStep, ToolAnswer } from "../framework/types.ts";

/**
 * The answer for an outcome.
 *
 * The result of `stale` is the current head and nothing else, fit to be the next `expected_head`, so its next steps stand
 * beside it; every other refusal carries them within its result.
 *
 * @param outcome What became of the call
 * @param next Steps that a refusal suggests; not called for what was accepted
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
