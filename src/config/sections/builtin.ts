/**
 * The `config` tables of the built-in providers (docs/reference/providers.md).
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { BuiltinProviderName } from "../builtin_names.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { hostKey } from "../host_name.ts";
import { integer, name, path, stringMap, strings } from "../primitives.ts";
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

const timeConfig = z.strictObject({
  allow_logical: z.boolean().default(true).describe("Accept logical trigger times."),
});

const calendarConfig = z.strictObject({});

const envConfig = z.strictObject({
  allowlist: z.array(z.string()).nullable().default(null).describe("Names that may be read; omit to permit all names."),
  denylist: strings(z.string()).describe("Names that may not be read; wins over the allowlist."),
  overrides: stringMap().nullable().default(null).describe(
    "Values that replace those of the environment; names that are not listed are read from the environment.",
  ),
  max_key_bytes: integer(0).default(255).describe("Bytes of a name."),
  max_value_bytes: integer(0).default(65536).describe("Bytes of a value."),
});

const jsonConfig = z.strictObject({
  root: path().describe("Folder that files are read from."),
  root_id: z.string().regex(
    /^[a-z0-9][a-z0-9_-]{0,63}$/,
    "must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit",
  ).describe("Name of the root in evidence."),
  allow_yaml: z.boolean().default(true).describe("Read .yaml and .yml files as YAML."),
  max_bytes: integer(0).default(MEBIBYTE).describe("Bytes of one file."),
});

const host = name().refine(
  (value) => hostKey(value) !== null,
  "must be a host name alone, without scheme, port and path",
).meta({ allOf: [{ pattern: "\\S" }, { pattern: "^[^/\\\\?#@*\\s]+$" }] });

const request = {
  allow_http: z.boolean().default(false).describe("Allow http:// addresses."),
  allow_private_networks: z.boolean().default(false).describe("Allow private, link-local and loopback addresses."),
  allowed_hosts: z.array(host).nullable().default(null).describe(
    "Hosts that may receive requests; omit to permit all public hosts.",
  ),
  hash_algorithm: z.enum(["sha256"]).default("sha256").describe("Algorithm of body hashes."),
  user_agent: z.string().regex(HEADER_VALUE, "must be ASCII text without control characters and outer spaces")
    .default(USER_AGENT).describe("User-Agent header."),
  max_response_bytes: integer(0).default(MEBIBYTE).describe("Bytes of one response."),
  timeout_ms: integer(0).default(5000).describe("Milliseconds of one request."),
};

const httpConfig = z.strictObject(request);

/** A literal or `env:NAME`, whose value goes into a header. */
const credential = z.string().min(1).check((value) => {
  const variable = referencedVariable(value);
  if (variable !== null) return /^[^=\0]+$/.test(variable) ? null : "must name a variable after env:";
  return isHeaderValue(value) ? null : "must be ASCII text without control characters and outer spaces";
}).meta({
  anyOf: [{ pattern: "^env:[^=\\0]+$" }, { pattern: HEADER_VALUE.source, not: { pattern: "^env:" } }],
});

/** The header that carries the key of an API. */
const keyHeader = z.string().regex(HEADER_NAME, "must be a header name").check((name) =>
  isReservedHeader(name, KEYLESS_HEADERS) ? "must not be a header that gate or the protocol decides" : null
).meta({ not: namesOf(KEYLESS_HEADERS) });

const restAuth = z.strictObject({
  api_key_header: keyHeader.nullable().default(null)
    .describe("Header that carries the API key."),
  api_key_value: credential.nullable().default(null).describe("API key: a literal or env:NAME."),
  basic_username: credential.nullable().default(null).describe("User name: a literal or env:NAME."),
  basic_password: credential.nullable().default(null).describe("Password: a literal or env:NAME."),
  bearer_token: credential.nullable().default(null).describe("Bearer token: a literal or env:NAME."),
});

/** The rules on the headers of every request, as JSON Schema. */
const HEADERS: JsonObject = {
  propertyNames: {
    pattern: HEADER_NAME.source,
    not: namesOf(RESERVED_HEADERS),
  },
  additionalProperties: { type: "string", pattern: HEADER_VALUE.source },
};

const restConfig = z.strictObject({
  ...request,
  default_headers: stringMap().meta({ type: "object", ...HEADERS }).default({}).describe("Headers of every request."),
  auth: restAuth.nullable().default(null).describe("Credentials of every request."),
});

/** The shape of `config` for each built-in provider. */
export const BUILTIN_CONFIG_SCHEMAS = {
  time: timeConfig,
  calendar: calendarConfig,
  env: envConfig,
  json: jsonConfig,
  http: httpConfig,
  rest: restConfig,
} as const satisfies Readonly<Record<BuiltinProviderName, z.AnySchema>>;

/** `config` of a built-in provider. */
export type BuiltinProviderConfig<Name extends BuiltinProviderName> = DeepReadonly<
  z.output<typeof BUILTIN_CONFIG_SCHEMAS[Name]>
>;

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
function namesOf(headers: readonly string[]): JsonObject {
  return { anyOf: [{ pattern: anyCase(headers, "") }, { pattern: anyCase(RESERVED_PREFIXES, "start") }] };
}

/** A pattern that matches words in any case: whole words, or with `start` every text that begins with a word. */
function anyCase(words: readonly string[], where: "" | "start"): string {
  const folded = words.map((word) => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`));
  return `^(?:${folded.join("|")})${where === "start" ? "" : "$"}`;
}
