/**
 * Pages of lists: how many items, from where, and the cursor to the next.
 *
 * @module
 */

import { isJsonArray, type JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { RESULT_BYTES, sentBytes } from "./response_size.ts";
import { toolError } from "./errors.ts";
import type { ToolError } from "./types.ts";

/** Items of a page where the caller names no number. */
export const PAGE_DEFAULT = 50;

/** Most items of a page. */
export const PAGE_MAXIMUM = 1000;

/** Bytes of an answer that the items of one page may take together; a page holds at least one item whatever its size. */
export const PAGE_BYTES: number = RESULT_BYTES - 32_768;

/** Characters of items that are read for a page: no page holds more, since each is told twice. */
export const PAGE_CHARACTERS: number = PAGE_BYTES / 2;

/** Longest cursor that is looked at. */
export const CURSOR_CHARACTERS = 8192;

const CURSOR_VERSION = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** What a cursor belongs to: it is refused under any other query. The page size is no part of it. */
export interface PageQuery {
  readonly tool: string;
  readonly namespaceId: number;
}

/**
 * The cursor that continues after a key.
 *
 * @param key The parts of the last item's key, in order
 */
export function encodeCursor(query: PageQuery, key: readonly string[]): string {
  const text = JSON.stringify([CURSOR_VERSION, query.tool, query.namespaceId, ...key]);
  return encoder.encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

/**
 * The key that a cursor continues after, or null where it is not one that {@link encodeCursor} wrote for the query.
 *
 * @param parts How many parts the key has
 */
export function decodeCursor(query: PageQuery, cursor: string, parts: number): string[] | null {
  if (cursor.length > CURSOR_CHARACTERS) return null;
  const items = readCursor(cursor);
  if (items === null || items.length !== 3 + parts) return null;
  const key = items.slice(3);
  if (!key.every((part) => typeof part === "string")) return null;
  // Writing it again leaves one spelling for each cursor: no other version, tool, namespace, padding or white space.
  return encodeCursor(query, key) === cursor ? key : null;
}

function readCursor(cursor: string): readonly JsonValue[] | null {
  try {
    const bytes = Uint8Array.fromBase64(cursor, { alphabet: "base64url" });
    const parsed = parseJson(decoder.decode(bytes));
    return parsed.ok && isJsonArray(parsed.value) ? parsed.value : null;
  } catch {
    return null;
  }
}

/** One page of a list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** The last item of the page where more follow, else null. */
  readonly last: T | null;
}

/**
 * Cuts a page out of what was fetched: one item more than asked for shows that there is a next page.
 *
 * @param fetched At most `limit + 1` items in order
 * @param limit Items asked for
 * @param textOf JSON text of an item
 */
export function cutPage<T>(fetched: readonly T[], limit: number, textOf: (item: T) => string): Page<T> {
  let bytes = 0;
  let count = 0;
  for (const item of fetched) {
    if (count === limit) break;
    bytes += sentBytes(textOf(item)) + 2;
    if (count > 0 && bytes > PAGE_BYTES) break;
    count++;
  }
  const items = fetched.slice(0, count);
  return { items, last: count < fetched.length ? items.at(-1) ?? null : null };
}

/**
 * Where a page starts.
 *
 * @param cursor The caller's cursor; null = at the beginning
 * @param parts How many parts the key of an item has
 */
export function pageStart(
  query: PageQuery,
  cursor: string | null,
  parts: number,
): { readonly ok: true; readonly after: string[] | null } | { readonly ok: false; readonly error: ToolError } {
  if (cursor === null) return { ok: true, after: null };
  const after = decodeCursor(query, cursor, parts);
  if (after !== null) return { ok: true, after };
  const message = `Cannot continue the list: $.cursor is not a next_token of ${query.tool} in namespace ` +
    `${query.namespaceId}; leave it out to start anew`;
  const arguments_hint = { namespace_id: query.namespaceId };
  const next = [{ tool: query.tool, arguments_hint, why: "Start the list anew, without a cursor" }];
  return { ok: false, error: toolError("invalid_cursor", message, { next }) };
}

/**
 * The JSON text of a page.
 *
 * @param items JSON texts of the items
 * @param last Key of the last item where more follow, else null
 */
export function pageText(query: PageQuery, items: readonly string[], last: readonly string[] | null): string {
  const token = last === null ? "null" : JSON.stringify(encodeCursor(query, last));
  return `{"items":[${items.join(",")}],"next_token":${token}}`;
}
