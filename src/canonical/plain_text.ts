/**
 * Reads JSON text whose member names and strings need no closer look, which is most text, at a small multiple of the
 * native parse. It makes one pass over the structure, parses natively, and counts members on both sides: the native
 * parser keeps one of two members with the same name, so equal counts prove that no name stands twice.
 */

import { isJsonArray, type JsonValue } from "./json.ts";
import { isExactNumber } from "./number.ts";

/** A double keeps every decimal of at most this many significant digits. */
const SAFE_DIGITS = 15;

/** Longer numbers are left to the scanner. */
const NUMBER_BYTES = 64;

/** Texts with more names are left to the scanner: the native listing of one object with so many takes longer. */
const NAMES_MAXIMUM = 262_144;

/** The count of a text that needs the scanner. */
const NEEDS_SCAN = -1;

const encoder = new TextEncoder();

/**
 * The value of a text, if the text is JSON that the scanner would accept and no member name has an escape.
 *
 * @param text The text
 * @param maximumDepth Maximum nesting of containers
 * @param utf8 The text in UTF-8, if the caller has it
 * @returns The value, or undefined where only the scanner can decide or explain
 */
export function readPlain(text: string, maximumDepth: number, utf8?: Uint8Array): JsonValue | undefined {
  if (!text.isWellFormed()) return undefined;
  // Nesting is bounded before the native parse, which takes memory for each level.
  const names = countNames(utf8 ?? encoder.encode(text), maximumDepth);
  if (names === NEEDS_SCAN) return undefined;
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
  return countMembers(value) === names ? value : undefined;
}

/**
 * The member names of a text, which the native parser has not checked yet. Returns {@link NEEDS_SCAN} if the text is
 * nested too deep, a name has an escape or a string an escaped surrogate. It also does so where a double might not keep
 * a number. Up to the first fault of the grammar this pass and the parser see the same strings and containers.
 */
function countNames(bytes: Uint8Array, maximumDepth: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let names = 0;
  let depth = 0;
  /** Whether the last string has an escape. */
  let isEscaped = false;
  for (let at = skipSpace(bytes, view, 0); at < bytes.length; at = skipSpace(bytes, view, at)) {
    const byte = bytes[at++] as number;
    if (byte === 0x22) {
      at = skipPlain(bytes, view, at);
      isEscaped = bytes[at] === 0x5c;
      while (bytes[at] === 0x5c) {
        // An escaped surrogate: d8 to df.
        if (bytes[at + 1] === 0x75 && ((bytes[at + 2] ?? 0) | 0x20) === 0x64) return NEEDS_SCAN;
        at = skipPlain(bytes, view, at + 2);
      }
      at++;
    } else if (byte === 0x3a) {
      if (isEscaped || ++names > NAMES_MAXIMUM) return NEEDS_SCAN;
    } else if (byte >= 0x30 && byte <= 0x39) {
      at = exactEnd(bytes, at - 1);
      if (at === NEEDS_SCAN) return NEEDS_SCAN;
    } else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > maximumDepth) return NEEDS_SCAN;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return names;
}

/** The position of the first byte that is no space, from `start` on. Indentation is read four bytes at a time. */
function skipSpace(bytes: Uint8Array, view: DataView, start: number): number {
  const last = bytes.length - 4;
  let at = start;
  while (at < bytes.length && (bytes[at] as number) <= 0x20) {
    at++;
    while (at <= last && view.getInt32(at, true) === 0x20202020) at += 4;
  }
  return at;
}

/** The position of the first quote or backslash from `start` on, or one after the end; read four bytes at a time. */
function skipPlain(bytes: Uint8Array, view: DataView, start: number): number {
  const last = bytes.length - 4;
  let at = start;
  for (; at <= last; at += 4) {
    const word = view.getInt32(at, true);
    const quote = word ^ 0x22222222;
    const backslash = word ^ 0x5c5c5c5c;
    // The usual test for a zero byte within a word.
    const found = ((quote - 0x01010101) & ~quote) | ((backslash - 0x01010101) & ~backslash);
    if ((found & 0x80808080) !== 0) break;
  }
  while (at < bytes.length && bytes[at] !== 0x22 && bytes[at] !== 0x5c) at++;
  return at;
}

/** The position after the number whose first digit is at `start`; {@link NEEDS_SCAN} if a double might not keep it. */
function exactEnd(bytes: Uint8Array, start: number): number {
  let digits = 0;
  let hasExponent = false;
  let at = start;
  for (;; at++) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x30 && byte <= 0x39) digits++;
    else if (byte === 0x65 || byte === 0x45) hasExponent = true;
    else if (byte !== 0x2e && byte !== 0x2b && byte !== 0x2d) break;
  }
  if (!hasExponent && digits <= SAFE_DIGITS) return at;
  const isExact = at - start <= NUMBER_BYTES && isExactNumber(String.fromCharCode(...bytes.subarray(start, at)));
  return isExact ? at : NEEDS_SCAN;
}

function countMembers(value: JsonValue): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner: readonly JsonValue[] = isJsonArray(value) ? value : Object.values(value);
  let count = inner === value ? 0 : inner.length;
  for (let index = 0; index < inner.length; index++) {
    const one = inner[index] as JsonValue;
    if (typeof one === "object" && one !== null) count += countMembers(one);
  }
  return count;
}
