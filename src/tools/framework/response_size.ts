/**
 * Keeps answers within 1 MiB. A list that is too long is cut at the same item each time, so that a repeated call gets
 * the same bytes. The answer counts the omitted items, and the records have all of them.
 */

import { words } from "../../canonical/words.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { failure, textAnswer } from "./errors.ts";
import type { ToolAnswer } from "./types.ts";

/** Most bytes of an answer, as JSON and as text together. */
export const ANSWER_BYTES = 2 ** 20;

/** Bytes of an answer around its result. */
const ENVELOPE_BYTES = 4096;

/** Most bytes of the result of an answer, which has it twice: as JSON and as text. */
export const RESULT_BYTES: number = ANSWER_BYTES - ENVELOPE_BYTES;

/** Most bytes of one UTF-16 unit of a JSON text in an answer: three in the JSON, three in the text. */
const UNIT_BYTES = 6;

/** Bytes of a JSON text in an answer, which has it twice: as it is, and within a string. */
export function sentBytes(text: string): number {
  return utf8Length(text) + utf8Length(JSON.stringify(text)) - 2;
}

/** Whether a JSON text is so short that it surely takes at most `maximum` bytes; nothing is counted. */
export function surelyFits(text: string, maximum: number): boolean {
  return text.length * UNIT_BYTES <= maximum;
}

/** Lists that are cut where a result is too large; `<name>_left_out` counts the omitted items. */
const LISTS: ReadonlySet<string> = new Set(words(
  "trace evidence unmet sentences causes met not_needed entry_intents prerequisite_trace rejections refusals failures",
));

type Editable = Record<string, JsonValue>;

/** The objects of a result whose members may be cut. None of them comes from a caller. */
function holdersOf(result: Editable): Editable[] {
  const { attempt, decision, decisions, opened, feedback } = result;
  const attempts = isJsonObject(feedback) ? feedback["attempts"] : undefined;
  const inside = [
    attempt,
    decision,
    opened,
    ...isJsonArray(decisions) ? decisions : [],
    ...isJsonArray(attempts) ? attempts : [],
  ];
  return [result, ...inside.filter(isJsonObject) as Editable[]];
}

/** Cuts a part of a result to at most `maximum` bytes and returns the bytes that it takes. It may be called again. */
type CutTo = (maximum: number) => number;

/** How many of the first items of a list fit into `maximum` bytes, and the bytes that these take. */
export function fittingItems(items: readonly JsonValue[], maximum: number): { count: number; bytes: number } {
  let bytes = 0;
  let count = 0;
  for (const item of items) {
    const more = sentBytes(JSON.stringify(item)) + 2;
    if (bytes + more > maximum) break;
    bytes += more;
    count++;
  }
  return { count, bytes };
}

/** A list, cut after its first items. */
function listPart(holder: Editable, name: string, items: readonly JsonValue[]): CutTo {
  holder[name] = [];
  holder[`${name}_left_out`] = items.length;
  return (maximum) => {
    const { count, bytes } = fittingItems(items, maximum);
    holder[name] = items.slice(0, count);
    holder[`${name}_left_out`] = items.length - count;
    if (count === items.length) delete holder[`${name}_left_out`];
    return bytes;
  };
}

/** The sets that a stage is missing, whole or omitted: a part of a set would complete nothing. */
function missingPart(holder: Editable, missing: readonly JsonValue[]): CutTo {
  const bare = missing.map((one) => {
    const stage_id = isJsonObject(one) ? one["stage_id"] ?? "" : "";
    return { stage_id, sets: [], complete: false, evidence: [] };
  });
  const bytes = sentBytes(JSON.stringify(missing));
  holder["missing"] = bare;
  return (maximum) => {
    holder["missing"] = bytes > maximum ? bare : missing;
    return bytes > maximum ? 0 : bytes;
  };
}

/** Payloads of entry intents: each packet has its payload at its first intent, as far as they fit. */
function payloadPart(holder: Editable, payloads: ReadonlyMap<string, JsonValue>): CutTo {
  return (maximum) => {
    let bytes = 0;
    const shown = new Set<JsonValue>();
    const intents = (holder["entry_intents"] as readonly JsonObject[]).map((intent) => {
      const packet = intent["packet_id"] ?? null;
      const payload = payloads.get(String(intent["intent_id"])) ?? null;
      const more = sentBytes(JSON.stringify(payload)) + sentBytes('"payload":,');
      if (shown.has(packet) || bytes + more > maximum) return intent;
      shown.add(packet);
      bytes += more;
      const { payload_left_out: _, ...rest } = intent;
      return { ...rest, payload };
    });
    holder["entry_intents"] = intents;
    return bytes;
  };
}

/** The intents as a list without payloads, then the payloads. */
function intentParts(holder: Editable, intents: readonly JsonValue[]): CutTo[] {
  const payloads = new Map<string, JsonValue>();
  const bare = intents.filter(isJsonObject).map(({ payload = null, ...intent }) => {
    payloads.set(String(intent["intent_id"]), payload);
    return { ...intent, payload_left_out: true };
  });
  return [listPart(holder, "entry_intents", bare), payloadPart(holder, payloads)];
}

function partsOf(holder: Editable): CutTo[] {
  return Object.entries(holder).flatMap(([name, value]) => {
    if (!isJsonArray(value)) return [];
    if (name === "missing") return [missingPart(holder, value)];
    if (name === "entry_intents") return intentParts(holder, value);
    return LISTS.has(name) ? [listPart(holder, name, value)] : [];
  });
}

/**
 * Cuts the long lists of a result, so that an answer with it takes at most `maximum` bytes. Each list gets an equal
 * share of the bytes that the other members leave. A share that is not needed goes to the first list that needs more.
 *
 * @param text JSON text of an object
 * @returns The text itself where it fits
 */
export function boundedText(text: string, maximum: number = RESULT_BYTES): string {
  if (surelyFits(text, maximum) || sentBytes(text) <= maximum) return text;
  const result = readJson(text) as Editable;
  const parts = holdersOf(result).flatMap(partsOf);
  let left = maximum - sentBytes(JSON.stringify(result));
  const taken = parts.map((cutTo, index) => {
    const bytes = cutTo(left / (parts.length - index));
    left -= bytes;
    return bytes;
  });
  // The unused rest of each share is given to the others.
  parts.forEach((cutTo, index) => {
    left += taken[index] ?? 0;
    left -= cutTo(left);
  });
  return JSON.stringify(result);
}

/**
 * The answer with a result that cannot be cut; an error where it is too large.
 *
 * @param what Names the result in the error
 */
export function wholeAnswer(what: string, text: string): ToolAnswer {
  const bytes = sentBytes(text);
  if (bytes <= RESULT_BYTES) return textAnswer(text);
  const message = `Cannot answer: as JSON and as text ${what} takes ${bytes} bytes, more than ${RESULT_BYTES}`;
  return failure("response_too_large", message, { bytes, maximum_bytes: RESULT_BYTES });
}

/** The answer with a result, its long lists cut where it is too large. */
export function cutAnswer(result: JsonObject): ToolAnswer {
  return textAnswer(boundedText(JSON.stringify(result)));
}

/** Details of an error, their long lists cut where they are too large. */
export function cutObject(details: JsonObject): JsonObject {
  const text = JSON.stringify(details);
  const cut = boundedText(text);
  return cut === text ? details : readJson(cut) as JsonObject;
}
