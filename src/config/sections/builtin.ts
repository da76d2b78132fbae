/** The `config` tables of the built-in providers (docs/reference/providers.md). */

import { annotated, boolean, integer, listOf, orNull, type Read, type Reader, text } from "../../canonical/shape.ts";
import { characters, checked, choices, described, patterned, table, withDefault } from "../../canonical/table_shape.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { BuiltinProviderName } from "../builtin_names.ts";
import { hostKey } from "../host_name.ts";
import { name, path, stringMap, strings, withUnstatedDefault } from "../primitives.ts";
import type { Report, SettingPath } from "../problems.ts";
import { USER_AGENT } from "../product_version.ts";
import { at, isTable } from "../toml_tree.ts";
import {
  HEADER_VALUE,
  isHeaderValue,
  isReservedHeader,
  KEYLESS_HEADERS,
  referencedVariable,
  RESERVED_HEADERS,
  RESERVED_PREFIXES,
} from "../request_headers.ts";
import { any, isSet, matches, not, requires, type Rule } from "../rules.ts";

const MEBIBYTE = 1048576;

/** A header field name (RFC 9110 section 5.1: a token). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const timeConfig = table({ allow_logical: withDefault(boolean, true, "Accept logical trigger times.") });

const calendarConfig = table({});

const envConfig = table({
  allowlist: withDefault(orNull(listOf(text)), null, "Names that may be read; omit to permit all names."),
  denylist: strings(text, "Names that may not be read; wins over the allowlist."),
  overrides: withUnstatedDefault(
    orNull(stringMap()),
    null,
    "Values that replace those of the environment; names that are not listed are read from the environment.",
  ),
  max_key_bytes: withDefault(integer(0), 255, "Bytes of a name."),
  max_value_bytes: withDefault(integer(0), 65536, "Bytes of a value."),
});

const jsonConfig = table({
  root: described(path(), "Folder that files are read from."),
  root_id: described(
    patterned(text, /^[a-z0-9][a-z0-9_-]{0,63}$/, "must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit"),
    "Name of the root in evidence.",
  ),
  allow_yaml: withDefault(boolean, true, "Read .yaml and .yml files as YAML."),
  max_bytes: withDefault(integer(0), MEBIBYTE, "Bytes of one file."),
});

const host = annotated(
  checked(
    name(),
    (value) => hostKey(value) === null ? "must be a host name alone, without scheme, port and path" : null,
  ),
  { allOf: [{ pattern: "\\S" }, { pattern: "^[^/\\\\?#@*\\s]+$" }] },
);

const request = {
  allow_http: withDefault(boolean, false, "Allow http:// addresses."),
  allow_private_networks: withDefault(boolean, false, "Allow private, link-local and loopback addresses."),
  allowed_hosts: withDefault(
    orNull(listOf(host)),
    null,
    "Hosts that may receive requests; omit to permit all public hosts.",
  ),
  hash_algorithm: withDefault(choices("sha256"), "sha256", "Algorithm of body hashes."),
  user_agent: withDefault(
    patterned(text, HEADER_VALUE, "must be ASCII text without control characters and outer spaces"),
    USER_AGENT,
    "User-Agent header.",
  ),
  max_response_bytes: withDefault(integer(0), MEBIBYTE, "Bytes of one response."),
  timeout_ms: withDefault(integer(0), 5000, "Milliseconds of one request."),
};

const httpConfig = table(request);

/** A literal or `env:NAME`, whose value goes into a header. */
const credential = annotated(
  checked(characters(1), (value) => {
    const variable = referencedVariable(value);
    if (variable !== null) return /^[^=\0]+$/.test(variable) ? null : "must name a variable after env:";
    return isHeaderValue(value) ? null : "must be ASCII text without control characters and outer spaces";
  }),
  { anyOf: [{ pattern: "^env:[^=\\0]+$" }, { pattern: HEADER_VALUE.source, not: { pattern: "^env:" } }] },
);

/** The header that carries the key of an API. */
const keyHeader = annotated(
  checked(
    patterned(text, HEADER_NAME, "must be a header name"),
    (name) => isReservedHeader(name, KEYLESS_HEADERS) ? "must not be a header that gate or the protocol decides" : null,
  ),
  { not: headerNames(KEYLESS_HEADERS) },
);

const restAuth = table({
  api_key_header: withDefault(orNull(keyHeader), null, "Header that carries the API key."),
  api_key_value: withDefault(orNull(credential), null, "API key: a literal or env:NAME."),
  basic_username: withDefault(orNull(credential), null, "User name: a literal or env:NAME."),
  basic_password: withDefault(orNull(credential), null, "Password: a literal or env:NAME."),
  bearer_token: withDefault(orNull(credential), null, "Bearer token: a literal or env:NAME."),
});

/** The rules on the headers of every request, as JSON Schema. */
const HEADERS: JsonObject = {
  propertyNames: { pattern: HEADER_NAME.source, not: headerNames(RESERVED_HEADERS) },
  additionalProperties: { type: "string", pattern: HEADER_VALUE.source },
};

const restConfig = table({
  ...request,
  default_headers: withUnstatedDefault(stringMap(HEADERS), {}, "Headers of every request."),
  auth: withDefault(orNull(restAuth), null, "Credentials of every request."),
});

/** The shape of `config` for each built-in provider. */
export const BUILTIN_CONFIG_SCHEMAS = {
  time: timeConfig,
  calendar: calendarConfig,
  env: envConfig,
  json: jsonConfig,
  http: httpConfig,
  rest: restConfig,
} as const satisfies Readonly<Record<BuiltinProviderName, Reader<unknown>>>;

/** `config` of a built-in provider. */
export type BuiltinProviderConfig<Name extends BuiltinProviderName> = Read<typeof BUILTIN_CONFIG_SCHEMAS[Name]>;

const HAS_BASIC = isSet(["auth", "basic_username"]);
const HAS_BEARER = isSet(["auth", "bearer_token"]);

/** The rule that a member of `auth` requires another. */
function needs(member: string, other: string): Rule {
  return requires(["auth", other], isSet(["auth", member]), `is required when ${member} is set`);
}

/** The rules over several members of the `config` of a built-in provider. */
export const BUILTIN_CONFIG_RULES: Readonly<Partial<Record<BuiltinProviderName, readonly Rule[]>>> = {
  rest: [
    needs("api_key_header", "api_key_value"),
    needs("api_key_value", "api_key_header"),
    {
      when: matches(["auth", "basic_username"], ":"),
      then: matches(["auth", "basic_username"], "^env:"),
      at: ["auth", "basic_username"],
      message: "must not hold a colon",
    },
    needs("basic_password", "basic_username"),
    {
      when: any(HAS_BEARER, HAS_BASIC),
      then: not(matches(["auth", "api_key_header"], anyCase(["authorization"], ""))),
      at: ["auth", "api_key_header"],
      message: "must not be Authorization together with bearer_token or basic_username",
    },
    {
      when: HAS_BEARER,
      then: not(any(HAS_BASIC, isSet(["auth", "basic_password"]))),
      at: ["auth", "bearer_token"],
      message: "must not be set together with basic_username or basic_password",
    },
  ],
};

/** Reports each invalid header of every request: each one alone, and compared with the others. */
export function headerChecks(config: unknown, base: SettingPath, report: Report): void {
  const headers = at(config, ["default_headers"]);
  const apiKeyHeader = at(config, ["auth", "api_key_header"]);
  if (!isTable(headers)) return;
  const seen = new Set<string>();
  const apiKeyName = typeof apiKeyHeader === "string" ? apiKeyHeader.toLowerCase() : null;
  for (const [header, value] of Object.entries(headers)) {
    const where = [...base, "default_headers", header];
    const key = header.toLowerCase();
    if (!HEADER_NAME.test(header)) report(where, "must have a header name as its name");
    if (isReservedHeader(header)) report(where, "must not be a header that gate or the protocol decides");
    if (typeof value === "string" && !isHeaderValue(value)) {
      report(where, "must be ASCII text without control characters and outer spaces");
    }
    if (seen.has(key)) report(where, "must be given once, in one spelling");
    if (key === apiKeyName) report(where, "must not be the header that config.auth.api_key_header names");
    seen.add(key);
  }
}

/** The schema of names, or of names with a reserved prefix. */
function headerNames(headers: readonly string[]): JsonObject {
  return { anyOf: [{ pattern: anyCase(headers, "") }, { pattern: anyCase(RESERVED_PREFIXES, "start") }] };
}

/** A pattern that matches words in any case: whole words, or with `start` every text that begins with a word. */
function anyCase(words: readonly string[], where: "" | "start"): string {
  const folded = words.map((word) => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  return `^(?:${folded.join("|")})${where === "start" ? "" : "$"}`;
}
