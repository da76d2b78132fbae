/**
 * The headers of the provider `rest`: those of the configuration, those that a query may add, and their form in
 * evidence.
 */

import { encodeBase64 } from "../../canonical/base64.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { isHeaderValue, isReservedHeader, referencedVariable } from "../../config/request_headers.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import type { ObservedError } from "../../run/types.ts";
import type { PinnedQuestion } from "../egress/pinned_request.ts";
import { type ProviderDependencies, ProviderSetupError, type SetupFault } from "./engine.ts";
import { invalidParams, observed } from "./result.ts";

type Headers = PinnedQuestion["headers"];

/** Headers that one query may add. */
const QUERY_HEADERS_MAXIMUM = 64;
/** Characters of a header's value. */
const HEADER_CHARACTERS_MAXIMUM = 8192;

/** Replaces a value of the configuration in evidence. */
const REDACTED = "<redacted>";

/** A header name (RFC 9110, 5.1). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/;

/** The headers of the configuration, which every request sends. */
export interface ConfiguredHeaders {
  readonly headers: Headers;
  /** Their names in lower case. */
  readonly names: ReadonlySet<string>;
}

/**
 * Builds the configured headers and resolves `env:NAME` references.
 *
 * @throws {ProviderSetupError} Where a referenced variable is not set or is not a valid header value; it holds every fault
 */
export function configuredHeaders(
  config: BuiltinProviderConfig<"rest">,
  dependencies: ProviderDependencies,
): ConfiguredHeaders {
  const { auth } = config;
  const faults: SetupFault[] = [];
  const read = (name: keyof NonNullable<typeof auth>): string | null => {
    const value = auth?.[name] ?? null;
    const resolved = value === null ? null : resolveReference(value, dependencies);
    if (typeof resolved !== "object" || resolved === null) return resolved;
    faults.push({ member: `config.auth.${name}`, message: resolved.fault });
    return null;
  };
  const headers: (readonly [string, string])[] = Object.entries(config.default_headers);
  const bearer = read("bearer_token");
  if (bearer !== null) headers.push(["Authorization", `Bearer ${bearer}`]);
  const user = read("basic_username");
  const password = read("basic_password") ?? "";
  // The rules of the configuration check literals only, not the values of variables.
  if (user?.includes(":") === true) {
    faults.push({ member: "config.auth.basic_username", message: "must not hold a colon" });
  }
  if (user !== null) {
    headers.push(["Authorization", `Basic ${encodeBase64(new TextEncoder().encode(`${user}:${password}`))}`]);
  }
  const keyHeader = auth?.api_key_header ?? null;
  const key = read("api_key_value");
  if (keyHeader !== null && key !== null) headers.push([keyHeader, key]);
  if (faults.length > 0) throw new ProviderSetupError(faults);
  return { headers, names: new Set(headers.map(([name]) => name.toLowerCase())) };
}

/** The names of variables that `config.auth` refers to. */
export function referencedVariables(config: BuiltinProviderConfig<"rest">): readonly string[] {
  const values: readonly (string | null)[] = Object.values(config.auth ?? {});
  return values.flatMap((value) => value === null ? [] : referencedVariable(value) ?? []);
}

function resolveReference(value: string, { environment }: ProviderDependencies): string | { readonly fault: string } {
  const name = referencedVariable(value);
  if (name === null) return value;
  const found = environment(name);
  if (found === undefined || found === "") return { fault: `refers to variable "${name}", which is not set` };
  if (isHeaderValue(found)) return found;
  return {
    fault: `refers to variable "${name}", which must be ASCII text without control characters and outer spaces`,
  };
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
    const isUsable = typeof text === "string" && text.length <= HEADER_CHARACTERS_MAXIMUM && isHeaderValue(text);
    if (entries.length > QUERY_HEADERS_MAXIMUM || !isHeaderName(name) || !isUsable || seen.has(key)) {
      return invalidParams("headers", expected);
    }
    if (isReservedHeader(name) || configured.names.has(key)) {
      return observed("header_reserved", `Header "${name}" is reserved: a query cannot set it`, { header: name });
    }
    seen.add(key);
    headers.push([name, text]);
  }
  return { headers };
}

/** The headers as evidence states them: the query's with their values, the configuration's by name only. */
export function describeHeaders(configured: ConfiguredHeaders, own: Headers): JsonObject {
  const redacted = [...configured.names].map((name) => [name, REDACTED]);
  const stated = own.map(([name, value]) => [name.toLowerCase(), value]);
  return Object.fromEntries([...redacted, ...stated]);
}
