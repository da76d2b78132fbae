/**
 * Reads lines and texts of a pack during a replay. Texts are long and many. So a text is checked for its canonical form
 * only where no other check implies it: a text that was derived again, and is equal, needs no second check.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson, readJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { PACK_DEPTH, TEXT_BYTES } from "./types.ts";

const LINE_FEED = 0x0a;
/** Code units of a text beyond which its bytes are counted: a code unit has at most three bytes. */
const SURELY_WITHIN = TEXT_BYTES / 3;

/** Whether a text is within the limit for texts that are parsed. */
export function isBounded(text: string): boolean {
  return text.length <= SURELY_WITHIN || (text.length <= TEXT_BYTES && utf8Length(text) <= TEXT_BYTES);
}

/** The value of a text; undefined where the scanner rejects it. The canonical form is not checked. */
export function readText(text: string): JsonValue | undefined {
  if (!isBounded(text)) return undefined;
  const plain = readPlain(text);
  if (plain !== undefined) return plain;
  const parsed = parseJson(text, { maximumDepth: PACK_DEPTH });
  return parsed.ok ? parsed.value : undefined;
}

/**
 * The value of a text that the runtime serialises to the same text; undefined where the scanner has to decide. Such a
 * text has no duplicate member and no inexact number. Canonical text has this form, and this path takes a third of the
 * time of the scanner.
 */
function readPlain(text: string): JsonValue | undefined {
  try {
    const value = readJson(text);
    return JSON.stringify(value) === text && isWithinDepth(value, PACK_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isWithinDepth(value: JsonValue, most: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return most > 0 && Object.values(value).every((inner) => isWithinDepth(inner, most - 1));
}

/** Whether a text is the canonical text of the value that was read from it. */
export function isCanonicalText(text: string, value: JsonValue): boolean {
  try {
    return canonicalize(value) === text;
  } catch {
    // A value without a canonical form cannot be the value of the text.
    return false;
  }
}

/** The value of bytes that are canonical JSON; undefined for any others. */
export function readCanonical(bytes: Uint8Array): JsonValue | undefined {
  const text = bytes.length > TEXT_BYTES ? null : decodeUtf8Strict(bytes);
  const value = text === null ? undefined : readText(text);
  return value !== undefined && text !== null && isCanonicalText(text, value) ? value : undefined;
}

/**
 * The lines of JSON lines, each without its line feed. At most one line more than `most` is returned; null where the
 * bytes are not lines.
 */
export function readLines(bytes: Uint8Array, most: number): readonly string[] | null {
  const text = decodeUtf8Strict(bytes);
  if (text === null || (text !== "" && !text.endsWith("\n"))) return null;
  const lines: string[] = [];
  let at = 0;
  while (at < text.length && lines.length <= most) {
    const end = text.indexOf("\n", at);
    lines.push(text.slice(at, end));
    at = end + 1;
  }
  return lines;
}

/** The value of the first line; undefined where it cannot be read. */
export function readFirstLine(bytes: Uint8Array): JsonValue | undefined {
  const end = bytes.indexOf(LINE_FEED);
  const text = end < 0 || end > TEXT_BYTES ? null : decodeUtf8Strict(bytes.subarray(0, end));
  return text === null ? undefined : readText(text);
}

/** Whether two JSON values are equal. */
export function sameJson(a: unknown, b: unknown): boolean {
  return canonicalize(a as JsonValue) === canonicalize(b as JsonValue);
}
