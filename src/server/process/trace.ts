/** Identifiers of a request across systems: the client's correlation id, the server's own, and W3C Trace Context. */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";

/** A client's correlation id, or the rule that it breaks. */
export type CorrelationReading =
  | { readonly ok: true; readonly id: string | null }
  | { readonly ok: false; readonly reason: string };

/** The most characters of a client's correlation id. */
export const CORRELATION_CHARACTERS = 128;

/** RFC 7230 section 3.2.6, token. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Reads `x-correlation-id`: 1 to 128 token characters, after trimming.
 *
 * @param value The header's value, or null
 */
export function readCorrelation(value: string | null): CorrelationReading {
  if (value === null) return { ok: true, id: null };
  const id = value.trim();
  if (id === "") return { ok: false, reason: "empty" };
  if (id.length > CORRELATION_CHARACTERS) return { ok: false, reason: "too_long" };
  return TOKEN.test(id) ? { ok: true, id } : { ok: false, reason: "disallowed_character" };
}

/**
 * Makes the function that numbers the requests of this process: `gate-<16 hex of the process>-<16 hex of the request>`.
 *
 * @param boot 8 random bytes
 */
export function createServerIds(boot: Uint8Array): () => string {
  const prefix = `gate-${boot.toHex()}-`;
  let last = 0;
  return () => prefix + (++last).toString(16).padStart(16, "0");
}

/** W3C Trace Context, section 3.2.2, version 00; the ids must not be zero. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** A later version starts the same way; the rest is ignored. */
const LATER_TRACEPARENT = /^(?!00|ff)[0-9a-f]{2}(-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2})(?:-|$)/;

/**
 * Reads `traceparent`. An invalid value counts as absent, by the standard.
 *
 * @param value The value of any type
 * @returns The value in version 00, or null
 */
export function readTraceparent(value: unknown): string | null {
  if (typeof value !== "string" || value.length > 512) return null;
  const text = value.trim();
  if (TRACEPARENT.test(text)) return text;
  const later = LATER_TRACEPARENT.exec(text)?.[1];
  return later === undefined ? null : `00${later}`;
}

/** The `traceparent` in the `_meta` of a message, or null. */
export function messageTraceparent(params: JsonObject): string | null {
  const meta = member(params, "_meta");
  return isJsonObject(meta) ? readTraceparent(member(meta, "traceparent")) : null;
}
