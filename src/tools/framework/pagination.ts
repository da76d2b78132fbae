/** Pagination of lists: page size, start, and the cursor of the next page. */

import { isJsonArray, type JsonValue } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { RESULT_BYTES, sentBytes } from "./response_size.ts";
import { DomainError } from "./errors.ts";
import type { StateKeys } from "../services/state_keys.ts";

/** Items of a page without `limit`. */
export const PAGE_DEFAULT = 50;

/** Most items of a page. */
export const PAGE_MAXIMUM = 1000;

/** Most bytes of the items of a page in an answer; a page has at least one item of any size. */
export const PAGE_BYTES: number = RESULT_BYTES - 32_768;

/** Characters of items that are read for a page: no page can hold more, since an answer has each item twice. */
export const PAGE_CHARACTERS: number = PAGE_BYTES / 2;

/** Longest cursor that is parsed. */
export const CURSOR_CHARACTERS = 8192;

const CURSOR_VERSION = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** The query of a cursor: a cursor is invalid under any other query. The page size is not part of it. */
export interface PageQuery {
  readonly tool: string;
  readonly namespaceId: number;
  /** A digest of the filters of the list; absent for a list without filters. */
  readonly filters?: string;
  /** The keys that sign cursors; null or absent for unsigned cursors. */
  readonly keys?: StateKeys | null;
}

/** What a signature of a cursor is for. */
const PURPOSE = "cursor";

/**
 * The cursor that continues after a key.
 *
 * @param key The parts of the last item's key, in order
 */
export function encodeCursor(query: PageQuery, key: readonly string[]): string {
  const cursor = unsignedCursor(query, key);
  return query.keys?.sign(PURPOSE, cursor) ?? cursor;
}

function unsignedCursor(query: PageQuery, key: readonly string[]): string {
  const text = JSON.stringify([...queryNames(query), ...key]);
  return encoder.encode(text).toBase64({ alphabet: "base64url", omitPadding: true });
}

function queryNames({ tool, namespaceId, filters }: PageQuery): readonly (string | number)[] {
  return [CURSOR_VERSION, tool, namespaceId, ...filters === undefined ? [] : [filters]];
}

/**
 * The key that a cursor continues after, or null where {@link encodeCursor} did not write it for the query.
 *
 * @param parts How many parts the key has
 */
export function decodeCursor(query: PageQuery, cursor: string, parts: number): string[] | null {
  if (cursor.length > CURSOR_CHARACTERS) return null;
  const unsigned = query.keys ? query.keys.open(PURPOSE, cursor) : cursor;
  const items = unsigned === null ? null : readCursor(unsigned);
  const names = queryNames(query).length;
  if (items === null || items.length !== names + parts) return null;
  const key = items.slice(names);
  if (!key.every((part) => typeof part === "string")) return null;
  // Encoding it again rejects every other spelling: version, tool, namespace, padding or white space.
  return unsignedCursor(query, key) === unsigned ? key : null;
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
  /** The last item of the page where more items follow, else null. */
  readonly last: T | null;
}

/**
 * Cuts a page out of fetched items: one item more than `limit` shows that there is a next page.
 *
 * @param fetched At most `limit + 1` items in order
 * @param limit Items of the page
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
 * The key after which a page starts; null at the beginning.
 *
 * @param cursor The caller's cursor; null = at the beginning
 * @param parts How many parts the key of an item has
 * @param isKey Whether the parts have the form of a key; callers can write any text into a cursor
 * @throws {DomainError} `invalid_cursor`
 */
export function pageStart(
  query: PageQuery,
  cursor: string | null,
  parts: number,
  isKey: (key: readonly string[]) => boolean = () => true,
): string[] | null {
  if (cursor === null) return null;
  const after = decodeCursor(query, cursor, parts);
  if (after !== null && isKey(after)) return after;
  const message = `Cannot continue the list: $.cursor is not a next_token of ${query.tool} in namespace ` +
    `${query.namespaceId}${
      query.filters === undefined ? "" : " with these filters"
    }; omit it to start at the beginning`;
  const arguments_hint = { namespace_id: query.namespaceId };
  const next = [{ tool: query.tool, arguments_hint, why: "Start at the beginning, without a cursor" }];
  throw new DomainError("invalid_cursor", message, { next });
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
