/**
 * The headers of the provider `rest`: what the configuration decides, what a query may add, and what of it evidence tells.
 *
 * @module
 */

import { encodeBase64 } from "../../canonical/base64.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import type { RestProviderConfig } from "../../config/types.ts";
import type { ObservedError } from "../../run/types.ts";
import type { PinnedQuestion } from "../egress/pinned_request.ts";
import { ProviderSetupError, type Surroundings } from "./engine.ts";
import { invalidParams, observed } from "./result.ts";

type Headers = PinnedQuestion["headers"];

/** Headers that one query may add. */
export const QUERY_HEADERS_MAXIMUM = 64;
/** Characters of a header's value. */
export const HEADER_CHARACTERS_MAXIMUM = 8192;

/** What stands in evidence for a value that the configuration gives. */
const REDACTED = "<redacted>";

/** A header name (RFC 9110, 5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;
/** What a value may hold: visible ASCII, inside also spaces and tabs. */
const HEADER_VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/**
 * Headers that belong to the protocol or to gate: they frame the message, choose the host, carry credentials, speak for
 * somebody else, or turn the answer into a part of it.
 */
const RESERVED = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "cookie2",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "keep-alive",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
]);
const RESERVED_PREFIXES = ["proxy-", "sec-", "x-forwarded-", "x-gate-"];

/** The headers that the configuration gives every request. */
export interface ConfiguredHeaders {
  readonly headers: Headers;
  /** Their names in lower case. */
  readonly names: ReadonlySet<string>;
}

/**
 * The configured headers, `env:NAME` references read.
 *
 * @throws {ProviderSetupError} Where a header is reserved, a reference leads nowhere, or a value cannot stand in a header
 */
export function configuredHeaders(config: RestProviderConfig, surroundings: Surroundings): ConfiguredHeaders {
  const headers: (readonly [string, string])[] = [];
  for (const [name, value] of Object.entries(config.default_headers)) {
    const member = `config.default_headers.${name}`;
    if (isReserved(name)) {
      throw new ProviderSetupError(member, "must not be a header that gate or the protocol decides");
    }
    headers.push([name, usable(value, member)]);
  }
  const { auth } = config;
  const read = (name: keyof NonNullable<typeof auth>): string | null => {
    const value = auth?.[name] ?? null;
    return value === null
      ? null
      : usable(resolveReference(value, `config.auth.${name}`, surroundings), `config.auth.${name}`);
  };
  const bearer = read("bearer_token");
  if (bearer !== null) headers.push(["Authorization", `Bearer ${bearer}`]);
  const user = read("basic_username");
  if (user !== null) headers.push(["Authorization", basic(user, read("basic_password") ?? "")]);
  const keyHeader = auth?.api_key_header ?? null;
  const key = read("api_key_value");
  if (keyHeader !== null && key !== null) headers.push([keyHeader, key]);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  if (names.size === headers.length) return { headers, names };
  throw new ProviderSetupError("config.default_headers", "must not give a header that config.auth gives too");
}

function basic(user: string, password: string): string {
  if (user.includes(":")) throw new ProviderSetupError("config.auth.basic_username", "must not hold a colon");
  return `Basic ${encodeBase64(new TextEncoder().encode(`${user}:${password}`))}`;
}

/** The names of variables that `config.auth` refers to. */
export function referencedVariables(config: RestProviderConfig): readonly string[] {
  const values: readonly (string | null)[] = Object.values(config.auth ?? {});
  return values.flatMap((value) => value?.startsWith("env:") === true ? [value.slice(4)] : []);
}

function resolveReference(value: string, member: string, { environment }: Surroundings): string {
  if (!value.startsWith("env:")) return value;
  const name = value.slice(4);
  if (!/^[^=\0]+$/.test(name)) throw new ProviderSetupError(member, "must name a variable after env:");
  const found = environment(name);
  if (found !== undefined && found !== "") return found;
  throw new ProviderSetupError(member, `refers to variable "${name}", which is not set`);
}

function usable(value: string, member: string): string {
  if (HEADER_VALUE.test(value)) return value;
  throw new ProviderSetupError(member, "must be ASCII text without control characters and outer spaces");
}

function isReserved(name: string): boolean {
  const key = name.toLowerCase();
  return RESERVED.has(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** Whether a text is a header name. */
export function isHeaderName(text: string): boolean {
  return HEADER_NAME.test(text);
}

/** The headers of a query, or the error that was observed. */
export function queryHeaders(
  value: JsonValue | undefined,
  configured: ConfiguredHeaders,
): { readonly headers: Headers } | { readonly error: ObservedError } {
  if (value === undefined || value === null) return { headers: [] };
  const expected = `"headers" as an object of at most ${QUERY_HEADERS_MAXIMUM} header names and ASCII values`;
  if (!isJsonObject(value)) return invalidParams("headers", expected);
  const entries = Object.entries(value);
  const headers: (readonly [string, string])[] = [];
  const seen = new Set<string>();
  for (const [name, text] of entries) {
    const key = name.toLowerCase();
    const isUsable = typeof text === "string" && text.length <= HEADER_CHARACTERS_MAXIMUM && HEADER_VALUE.test(text);
    if (entries.length > QUERY_HEADERS_MAXIMUM || !isHeaderName(name) || !isUsable || seen.has(key)) {
      return invalidParams("headers", expected);
    }
    if (isReserved(name) || configured.names.has(key)) {
      return observed("header_reserved", `Header "${name}" is not for queries to set`, { header: name });
    }
    seen.add(key);
    headers.push([name, text]);
  }
  return { headers };
}

/** The headers as evidence tells them: those of the query in full, those of the configuration by name. */
export function describeHeaders(configured: ConfiguredHeaders, own: Headers): JsonObject {
  const all = [...[...configured.names].map((name) => [name, REDACTED] as const), ...own];
  return Object.fromEntries(all.map(([name, value]) => [name.toLowerCase(), value]));
}
