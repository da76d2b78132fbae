/**
 * A dispatcher whose calls are counted and timed.
 *
 * @module
 */

import { TOOL_NAMES } from "../../config/tool_names.ts";
import { answerWord } from "../process/answer_word.ts";
import type { CallOutcome, Dispatcher } from "./dispatcher.ts";
import type { Metrics } from "../process/metrics.ts";

/** Counts and times the calls of a dispatcher; names that are no tool's count as one. */
export function observed(dispatcher: Dispatcher, metrics: Metrics): Dispatcher {
  const known = new Set<string>(TOOL_NAMES);
  return {
    ...dispatcher,
    call: async (name, input, call) => {
      const start = performance.now();
      const outcome = await dispatcher.call(name, input, call);
      // Whatever answers is a tool.
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
  return answer.ok ? answerWord(answer) : answer.error.kind;
}
