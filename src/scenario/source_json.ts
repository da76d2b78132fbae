/**
 * Reads JSON documents with the position of every value.
 *
 * @module
 */

import { decodeUtf8Strict, parseJson } from "../canonical/scan.ts";
import { type Locator, notUtf8, type Position, positionAt, type ReadSource, type Steps } from "./source_position.ts";

/** Parses JSON as the server does. */
export function readJsonSource(bytes: Uint8Array): ReadSource {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notUtf8();
  const parsed = parseJson(text);
  if (parsed.ok) return { ok: true, value: parsed.value, locator: () => jsonLocator(text) };
  const { code, path, offset, message } = parsed.fault;
  return { ok: false, fault: { code, path, message, position: positionAt(text, offset) } };
}

/** Finds values by descending from the root of a text that is valid JSON. */
function jsonLocator(text: string): Locator {
  return {
    locate(steps: Steps, part: "name" | "value"): Position {
      let at: MemberOffsets = { name: skipSpace(text, 0), value: skipSpace(text, 0) };
      for (const step of steps) {
        const next = typeof step === "number" ? findItem(text, at.value, step) : findMember(text, at.value, step);
        if (next === null) return positionAt(text, at.value);
        at = next;
      }
      return positionAt(text, part === "name" ? at.name : at.value);
    },
  };
}

/** The offsets of the name and the value of a member; equal for an item of an array. */
interface MemberOffsets {
  readonly name: number;
  readonly value: number;
}

function findMember(text: string, object: number, name: string): MemberOffsets | null {
  if (text[object] !== "{") return null;
  let at = skipSpace(text, object + 1);
  while (text[at] === '"') {
    const start = at;
    const end = skipString(text, at);
    const value = skipSpace(text, skipSpace(text, end) + 1);
    if (JSON.parse(text.slice(start, end)) === name) return { name: start, value };
    at = skipSpace(text, skipValue(text, value));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return null;
}

function findItem(text: string, array: number, index: number): MemberOffsets | null {
  if (text[array] !== "[") return null;
  let at = skipSpace(text, array + 1);
  for (let count = 0; at < text.length && text[at] !== "]"; count++) {
    if (count === index) return { name: at, value: at };
    at = skipSpace(text, skipValue(text, at));
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return null;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && " \t\n\r".includes(text[at] ?? "")) at++;
  return at;
}

function skipString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Finds the end of a value; for an object or array by counting brackets outside of strings. */
function skipValue(text: string, start: number): number {
  if (text[start] === '"') return skipString(text, start);
  let at = start;
  let depth = 0;
  while (at < text.length) {
    const unit = text[at] ?? "";
    if (unit === '"') {
      at = skipString(text, at);
      continue;
    }
    if (unit === "{" || unit === "[") depth++;
    else if (unit === "}" || unit === "]") {
      if (depth <= 1) return depth === 1 ? at + 1 : at;
      depth--;
    } else if (depth === 0 && (unit === "," || " \t\n\r".includes(unit))) return at;
    at++;
  }
  return at;
}
