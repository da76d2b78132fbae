/** The outcome of a tool's answer as one word, for the audit log and the metrics. */

import { isJsonObject, member } from "../../canonical/json.ts";
import type { ToolAnswer } from "../../tools/framework/types.ts";

/** The pattern of outcomes. Tools have closed lists of them. */
const WORD = /^[a-z][a-z_]{0,39}$/;

/** The beginning of an envelope with an outcome. */
const ENVELOPE = /^\{"(?:outcome|publication)":(?:\{"outcome":)?"([a-z][a-z_]{0,39})"/;

/** The outcome or publication of an answer, or `ok`. It is read from the text of the answer, if that exists. */
export function answerWord(answer: Extract<ToolAnswer, { ok: true }>): string {
  if (answer.text !== undefined) return ENVELOPE.exec(answer.text)?.[1] ?? "ok";
  const outcome = member(answer.result, "outcome") ?? member(answer.result, "publication");
  const word = isJsonObject(outcome) ? member(outcome, "outcome") : outcome;
  return typeof word === "string" && WORD.test(word) ? word : "ok";
}
