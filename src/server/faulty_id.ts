/**
 * The id of a message that must be refused for how its text is written.
 *
 * @module
 */

import type { RequestId } from "./edge_error.ts";

const INTEGER = /^-?(?:0|[1-9][0-9]*)$/;

/**
 * The id of a JSON text that the raw-text check refused, where every reader of the text would agree on it: the text
 * parses, and its outermost object has exactly one `id`, a well-formed string or an integer within ±(2^53-1).
 *
 * @param text The text
 * @returns The id, or null where it is not certain
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { idOfFaulty } from "@/server/faulty_id.ts";
 *
 * assert.equal(idOfFaulty('{"id":7,"params":{"a":1,"a":2}}'), 7);
 * assert.equal(idOfFaulty('{"id":7,"\\u0069d":8}'), null);
 * ```
 */
export function idOfFaulty(text: string): RequestId | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const found = outermostIds(text);
  return found.length === 1 && found[0] !== undefined ? idOf(found[0]) : null;
}

/** The texts of the values that the outermost object has under the name `id`; the text is known to be JSON. */
function outermostIds(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let name: string | null = null;
  let valueStart = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      const end = stringEnd(text, at);
      if (depth === 1 && name === null) name = JSON.parse(text.slice(at, end)) as string;
      at = end - 1;
    } else if (char === 0x7b || char === 0x5b) {
      depth++;
      // An array at the top has no names.
      if (depth === 1 && char === 0x5b) return [];
    } else if (depth === 1 && char === 0x3a) {
      valueStart = at + 1;
    } else if (char === 0x7d || char === 0x5d || char === 0x2c) {
      if (depth === 1) {
        if (name === "id") found.push(text.slice(valueStart, at).trim());
        name = null;
      }
      if (char !== 0x2c) depth--;
    }
  }
  return found;
}

/** The offset after the string that opens at an offset. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== 0x22) at += text.charCodeAt(at) === 0x5c ? 2 : 1;
  return at + 1;
}

function idOf(literal: string): RequestId | null {
  if (literal.startsWith('"')) {
    const id = JSON.parse(literal) as string;
    return id.isWellFormed() ? id : null;
  }
  return INTEGER.test(literal) && Number.isSafeInteger(Number(literal)) ? Number(literal) : null;
}
