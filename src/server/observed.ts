/**
 * A dispatcher whose calls are counted and timed.
 *
 * @module
 */

import { isJsonObject, member } from "../canonical/json.ts";
import type { CallOutcome, Dispatcher } from "./dispatcher.ts";
import type { Metrics } from "./metrics.ts";

/** Words that tools answer as outcomes: closed lists, written like this. */
const OUTCOME = /^[a-z][a-z_]{0,39}$/;

/** The same at the start of the text of an answer. */
const TEXT_OUTCOME = /^\{"outcome":\{"outcome":"([a-z][a-z_]{0,39})"/;

/** Counts and times the calls of a dispatcher; names that are no tool's count as one. */
export function observed(dispatcher: Dispatcher, metrics: Metrics): Dispatcher {
  const known = new Set<string>();
  return {
    ...dispatcher,
    call: async (name, input, call) => {
      const start = performance.now();
      const outcome = await dispatcher.call(name, input, call);
      if (outcome.ok) known.add(name);
      metrics.toolCalled(known.has(name) ? name : "unknown", outcomeWord(outcome), performance.now() - start);
      return outcome;
    },
  };
}

/** What became of a call, in one word. */
export function outcomeWord(outcome: CallOutcome): string {
  if (!outcome.ok) return outcome.error.kind;
  const { answer } = outcome;
  if (!answer.ok) return answer.error.kind;
  // Where there is a text, the result would be parsed from it.
  if (answer.text !== undefined) return TEXT_OUTCOME.exec(answer.text)?.[1] ?? "ok";
  const told = member(answer.result, "outcome");
  const word = isJsonObject(told) ? member(told, "outcome") : told;
  return typeof word === "string" && OUTCOME.test(word) ? word : "ok";
}
