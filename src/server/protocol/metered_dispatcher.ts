import { TOOL_NAMES } from "../../config/tool_names.ts";
import { answerWord } from "../process/answer_word.ts";
import type { CallOutcome, Dispatcher } from "./dispatcher.ts";
import type { Metrics } from "../process/metrics.ts";

/** Counts and times the calls of a dispatcher; all unknown names share one label. */
export function meterDispatcher(dispatcher: Dispatcher, metrics: Metrics): Dispatcher {
  const known = knownTools();
  return {
    ...dispatcher,
    call: async (name, input, call) => {
      const start = performance.now();
      const outcome = await dispatcher.call(name, input, call);
      metrics.toolCalled(known(name, outcome), outcomeLabel(outcome), performance.now() - start);
      return outcome;
    },
  };
}

/** A function that gives the label of a called tool: names that no tool has share one label. */
export function knownTools(): (name: string, outcome: CallOutcome) => string {
  const known = new Set<string>(TOOL_NAMES);
  return (name, outcome) => {
    // Only a tool returns a successful outcome.
    if (outcome.ok) known.add(name);
    return known.has(name) ? name : "unknown";
  };
}

/** The metric label of a call's outcome. */
export function outcomeLabel(outcome: CallOutcome): string {
  if (!outcome.ok) return outcome.error.kind;
  const { answer } = outcome;
  return answer.ok ? answerWord(answer) : answer.error.kind;
}
