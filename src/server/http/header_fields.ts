/** Reads the header fields of a request, and finds fields that were repeated but must be single. */

import type { RequestHeaders } from "../auth/types.ts";

/** The header fields of one request. */
export interface HeaderFields extends RequestHeaders {
  /** The lower-case name of a repeated field that must be single, or null. */
  readonly repeated: string | null;
}

/** The most header fields of one request. Any field can matter for authorization, so none is dropped silently. */
export const HEADER_FIELDS = 100;

/** Fields that must have exactly one value, since a decision depends on them. */
const SINGULAR = new Set([
  "authorization",
  "content-encoding",
  "content-length",
  "content-type",
  "host",
  "mcp-method",
  "mcp-name",
  "mcp-protocol-version",
  "mcp-session-id",
  "origin",
  "traceparent",
  "x-correlation-id",
  "x-gate-client-subject",
]);

/**
 * Reads fields from alternating names and values.
 *
 * @param raw Name, value, name, value, ...
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readFields } from "@/server/http/header_fields.ts";
 *
 * const fields = readFields(["Host", "a", "Accept", "x/y", "ACCEPT", "x/z"]);
 * assert.equal(fields.get("accept"), "x/y, x/z");
 * assert.equal(fields.repeated, null);
 * assert.equal(readFields(["Host", "a", "host", "b"]).repeated, "host");
 * ```
 */
export function readFields(raw: readonly string[]): HeaderFields {
  const values = new Map<string, string>();
  let repeated: string | null = null;
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    const value = raw[at + 1] ?? "";
    const before = values.get(name);
    if (before !== undefined && SINGULAR.has(name)) repeated ??= name;
    values.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return {
    get: (name) => values.get(name) ?? null,
    startsWith: (prefix) => values.keys().some((name) => name.startsWith(prefix)),
    repeated,
  };
}
