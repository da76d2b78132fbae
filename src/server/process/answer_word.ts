/**
 * What an answer of a tool says first, in one word: for the audit log and for the counts.
 *
 * @module
 */

import { isJsonObject, member } from "../../canonical/json.ts";
import type { ToolAnswer } from "../../tools/framework/types.ts";

/** Words that tools answer as outcomes: closed lists, written like this. */
const WORD = /^[a-z][a-z_]{0,39}$/;

/** How an envelope begins. */
const ENVELOPE = /^\{"(?:outcome|publication)":(?:\{"outcome":)?"([a-z][a-z_]{0,39})"/;

/** The outcome or publication that an answer tells; `ok` for one of neither. The text is read where it is at hand. */
export function answerWord(answer: Extract<ToolAnswer, { ok: true }>): string {
  if (answer.text !== undefined) return ENVELOPE.exec(answer.text)?.[1] ?? "ok";
  const told = member(answer.result, "outcome") ?? member(answer.result, "publication");
  const word = isJsonObject(told) ? member(told, "outcome") : told;
  return typeof word === "string" && WORD.test(word) ? word : "ok";
}
