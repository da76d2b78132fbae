/**
 * The id of a message that must be refused for how its text is written, or for how long it is.
 *
 * @module
 */

import { parseJson } from "../../canonical/scan.ts";
import type { RequestId } from "../process/edge_error.ts";
import { isRequestId } from "./message.ts";

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
 * import { recoverRequestId } from "@/server/protocol/request_id_recovery.ts";
 *
 * assert.equal(recoverRequestId('{"id":7,"params":{"a":1,"a":2}}'), 7);
 * assert.equal(recoverRequestId('{"id":7,"\\u0069d":8}'), null);
 * ```
 */
export function recoverRequestId(text: string): RequestId | null {
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const bytes = new TextEncoder().encode(text);
  const finder = createRequestIdScanner(bytes.length);
  finder.push(bytes);
  return finder.id();
}

/** Finds the id of a message in its bytes as they come. */
export interface RequestIdScanner {
  readonly push: (bytes: Uint8Array) => void;
  /** The id, after the last byte; null where it is not certain. Whether the rest is JSON is not looked at. */
  readonly id: () => RequestId | null;
}

const [SPACE, QUOTE, BACKSLASH, COLON, COMMA] = [0x20, 0x22, 0x5c, 0x3a, 0x2c];
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/**
 * Makes a finder that keeps so many bytes of a member and nothing else of the message.
 *
 * @param keptBytes Bytes of a name or an id; longer ones are not the id
 */
export function createRequestIdScanner(keptBytes: number): RequestIdScanner {
  const found: (RequestId | null)[] = [];
  let depth = 0;
  let [inString, escaped, isOver, isOther] = [false, false, false, false];
  /** The name of the outermost member whose value is read; null while its name is. */
  let name: string | null = null;
  let kept: number[] = [];

  const keep = (byte: number): void => {
    if (depth === 0 && byte > SPACE) isOther = true;
    const isAsked = name === null || name === "id";
    // One more than is allowed tells that there was more.
    if (isAsked && kept.length <= keptBytes && (kept.length > 0 || byte > SPACE)) kept.push(byte);
  };
  const takeKept = (): string => {
    const text = kept.length > keptBytes ? "" : new TextDecoder().decode(new Uint8Array(kept)).trimEnd();
    kept = [];
    return text;
  };
  const structure = (byte: number): void => {
    if (depth === 1 && byte === COLON && name === null) {
      name = nameOf(takeKept());
      return;
    }
    const closes = byte === CLOSE_OBJECT || byte === CLOSE_LIST;
    if (depth === 1 && (byte === COMMA || closes)) {
      const text = takeKept();
      if (name === "id" && found.length < 2) found.push(idOf(text));
      name = null;
    } else if (depth > 0 || byte !== OPEN_OBJECT || isOver) keep(byte);
    if (closes) isOver = --depth === 0;
    else if (byte === OPEN_OBJECT || byte === OPEN_LIST) depth++;
  };
  const take = (byte: number): void => {
    if (!inString && STRUCTURE.has(byte)) return structure(byte);
    keep(byte);
    if (escaped) escaped = false;
    else if (inString && byte === BACKSLASH) escaped = true;
    else if (byte === QUOTE) inString = !inString;
  };
  return {
    push: (bytes) => bytes.forEach(take),
    id: () => isOver && !isOther && found.length === 1 ? found[0] ?? null : null,
  };
}

const STRUCTURE: ReadonlySet<number> = new Set([
  ...[COLON, COMMA, OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST],
]);

function nameOf(text: string): string {
  const parsed = parseJson(text);
  return parsed.ok && typeof parsed.value === "string" ? parsed.value : "";
}

function idOf(text: string): RequestId | null {
  const parsed = parseJson(text);
  if (!parsed.ok || !isRequestId(parsed.value)) return null;
  return typeof parsed.value === "string" || INTEGER.test(text) ? parsed.value : null;
}
