/**
 * Keeping answers within 1 MiB. What is too long to be told is cut at the same place whenever it is told, so a repeated
 * call gets the same bytes; how much is left out is said, and the records hold it all.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { textAnswer } from "./errors.ts";
import type { ToolAnswer } from "./types.ts";

/** Most bytes of an answer, as JSON and as text together. */
export const ANSWER_BYTES = 2 ** 20;

/** Bytes of an answer around its result. */
const ENVELOPE_BYTES = 4096;

/** Most bytes that the result of an answer may take, told twice. */
export const RESULT_BYTES: number = ANSWER_BYTES - ENVELOPE_BYTES;

/** Most bytes that one UTF-16 unit of a JSON text takes when it is told twice: three as it is, three within a string. */
const UNIT_BYTES = 6;

/**
 * Bytes that a JSON text takes in an answer, which tells it twice: as it is, and within a string.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { sentBytes } from "@/tools/framework/response_size.ts";
 *
 * assert.equal(sentBytes('{"é":1}'), 8 + 10);
 * ```
 */
export function sentBytes(text: string): number {
  return utf8Length(text) + utf8Length(JSON.stringify(text)) - 2;
}

/** Whether a JSON text is so short that it takes at most so many bytes whatever it holds; nothing is counted. */
export function surelyFits(text: string, maximum: number): boolean {
  return text.length * UNIT_BYTES <= maximum;
}

/** Lists that are cut where a result is too large, and counted in `<name>_left_out`. */
const LISTS: ReadonlySet<string> = new Set([
  "trace",
  "evidence",
  "unmet",
  "causes",
  "entry_intents",
  "prerequisite_trace",
  "rejections",
  "refusals",
  "failures",
]);

type Editable = Record<string, JsonValue>;

/** The objects of a result whose members may be cut. Nothing that callers wrote is among them. */
function holdersOf(result: Editable): Editable[] {
  const { attempt, decision, decisions, opened, feedback } = result;
  const attempts = isJsonObject(feedback) ? feedback["attempts"] : undefined;
  const inside = [attempt, decision, opened, ...isJsonArray(decisions) ? decisions : []];
  return [result, ...[...inside, ...isJsonArray(attempts) ? attempts : []].filter(isJsonObject) as Editable[]];
}

/** A part of a result that can be made smaller. */
interface Part {
  /** Shows as much of it as takes at most so many bytes, whatever was shown before; gives the bytes that it takes. */
  readonly take: (maximum: number) => number;
}

/** A list, from its first item on. */
function listPart(holder: Editable, name: string, items: readonly JsonValue[]): Part {
  holder[name] = [];
  holder[`${name}_left_out`] = items.length;
  return {
    take: (maximum) => {
      let bytes = 0;
      let count = 0;
      for (const item of items) {
        const more = sentBytes(JSON.stringify(item)) + 2;
        if (bytes + more > maximum) break;
        bytes += more;
        count++;
      }
      holder[name] = items.slice(0, count);
      holder[`${name}_left_out`] = items.length - count;
      if (count === items.length) delete holder[`${name}_left_out`];
      return bytes;
    },
  };
}

/** What a stage lacks is shown whole, or not at all: a part of a set would complete nothing. */
function missingPart(holder: Editable, missing: readonly JsonValue[]): Part {
  const bare = missing.map((one) => {
    const stage_id = isJsonObject(one) ? one["stage_id"] ?? "" : "";
    return { stage_id, sets: [], complete: false, evidence: [] };
  });
  const bytes = sentBytes(JSON.stringify(missing));
  holder["missing"] = bare;
  return {
    take: (maximum) => {
      holder["missing"] = bytes > maximum ? bare : missing;
      return bytes > maximum ? 0 : bytes;
    },
  };
}

/** Payloads of entry intents: that of each packet at its first intent, as far as they fit. */
function payloadPart(holder: Editable, payloads: ReadonlyMap<string, JsonValue>): Part {
  return {
    take: (maximum) => {
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
    },
  };
}

/** The intents as a list without payloads, then the payloads. */
function intentParts(holder: Editable, intents: readonly JsonValue[]): Part[] {
  const payloads = new Map<string, JsonValue>();
  const bare = intents.filter(isJsonObject).map(({ payload = null, ...intent }) => {
    payloads.set(String(intent["intent_id"]), payload);
    return { ...intent, payload_left_out: true };
  });
  return [listPart(holder, "entry_intents", bare), payloadPart(holder, payloads)];
}

function partsOf(holder: Editable): Part[] {
  return Object.entries(holder).flatMap(([name, value]) => {
    if (!isJsonArray(value)) return [];
    if (name === "missing") return [missingPart(holder, value)];
    if (name === "entry_intents") return intentParts(holder, value);
    return LISTS.has(name) ? [listPart(holder, name, value)] : [];
  });
}

/**
 * A result that is told in at most so many bytes: its long lists cut, each to a share of what is left of the bytes after
 * everything else. The shares are equal, and what one does not need goes to the first that does.
 *
 * @param text JSON text of an object
 * @returns The text itself where it fits
 */
export function boundedText(text: string, maximum: number = RESULT_BYTES): string {
  if (surelyFits(text, maximum) || sentBytes(text) <= maximum) return text;
  const result = readJson(text) as Editable;
  const parts = holdersOf(result).flatMap(partsOf);
  let left = maximum - sentBytes(JSON.stringify(result));
  const taken = parts.map((part, index) => {
    const bytes = part.take(left / (parts.length - index));
    left -= bytes;
    return bytes;
  });
  // What a part did not need of its share is there for the others.
  parts.forEach((part, index) => {
    left += taken[index] ?? 0;
    left -= part.take(left);
  });
  return JSON.stringify(result);
}

/** The answer that carries a result, its long lists cut where it is too large. */
export function cutAnswer(result: JsonObject): ToolAnswer {
  return textAnswer(boundedText(JSON.stringify(result)));
}

/** Details of an error, their long lists cut where they are too large. */
export function cutObject(details: JsonObject): JsonObject {
  const text = JSON.stringify(details);
  const cut = boundedText(text);
  return cut === text ? details : readJson(cut) as JsonObject;
}
