/**
 * The `config` tables of the built-in providers (interface "Built-in providers", "Limits"; decisions 5).
 *
 * @module
 */

import { z } from "zod";
import { hostKey } from "./host_name.ts";
import { integer, name, path, stringMap, strings } from "./primitives.ts";
import type { Report, SettingPath } from "./problems.ts";
import { USER_AGENT } from "./product_version.ts";
import { at, isTable } from "./toml_tree.ts";
import { isHeaderValue, isReservedHeader, referencedVariable } from "./request_headers.ts";
import type { BuiltinProviderName } from "./types.ts";

const MEBIBYTE = 1048576;

/** A header field name (RFC 9110 section 5.1: a token). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const timeConfig = z.strictObject({
  allow_logical: z.boolean().default(true).describe("Accept logical trigger times."),
});

const envConfig = z.strictObject({
  allowlist: z.array(z.string()).nullable().default(null).describe("Names that may be read; left out for any."),
  denylist: strings(z.string()).describe("Names that may not be read; wins."),
  overrides: stringMap().nullable().default(null).describe("Values to answer with in place of the environment."),
  max_key_bytes: integer(0).default(255).describe("Bytes of a name."),
  max_value_bytes: integer(0).default(65536).describe("Bytes of a value."),
});

const jsonConfig = z.strictObject({
  root: path().describe("Folder that files are read from."),
  root_id: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, {
    error: "must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit",
  }).describe("Name of the root in evidence."),
  allow_yaml: z.boolean().default(true).describe("Read .yaml and .yml files as YAML."),
  max_bytes: integer(0).default(MEBIBYTE).describe("Bytes of one file."),
});

const host = name().refine((value) => hostKey(value) !== null, {
  error: "must be a host name alone, without scheme, port and path",
});

const request = {
  allow_http: z.boolean().default(false).describe("Allow http:// addresses."),
  allow_private_networks: z.boolean().default(false).describe("Allow private, link-local and loopback addresses."),
  allowed_hosts: z.array(host).nullable().default(null).describe("Hosts that may be asked; left out for any."),
  hash_algorithm: z.enum(["sha256"]).default("sha256").describe("Algorithm of body hashes."),
  user_agent: z.string().regex(/^[^\p{Cc}]*$/u, { error: "must not hold control characters" }).default(USER_AGENT)
    .describe("User-Agent header."),
  max_response_bytes: integer(0).default(MEBIBYTE).describe("Bytes of one response."),
  timeout_ms: integer(0).default(5000).describe("Milliseconds of one request."),
};

const httpConfig = z.strictObject(request);

/** A literal or `env:NAME`; it goes into a header. */
const credential = z.string().min(1).check(({ value, issues }) => {
  const variable = referencedVariable(value);
  const isUsable = variable === null ? isHeaderValue(value) : /^[^=\0]+$/.test(variable);
  if (isUsable) return;
  const message = variable === null
    ? "must be ASCII text without control characters and outer spaces"
    : "must name a variable after env:";
  issues.push({ code: "custom", message, input: value });
});

const restAuth = z.strictObject({
  api_key_header: z.string().regex(HEADER_NAME, { error: "must be a header name" }).nullable().default(null)
    .describe("Header that carries the API key."),
  api_key_value: credential.nullable().default(null).describe("API key: a literal or env:NAME."),
  basic_username: credential.nullable().default(null).describe("User name: a literal or env:NAME."),
  basic_password: credential.nullable().default(null).describe("Password: a literal or env:NAME."),
  bearer_token: credential.nullable().default(null).describe("Bearer token: a literal or env:NAME."),
});

const restConfig = z.strictObject({
  ...request,
  default_headers: stringMap().default({}).describe("Headers of every request."),
  auth: restAuth.nullable().default(null).describe("Credentials of every request."),
});

/** The shape of `config` for each built-in provider. */
export const BUILTIN_CONFIG_SCHEMAS = {
  time: timeConfig,
  env: envConfig,
  json: jsonConfig,
  http: httpConfig,
  rest: restConfig,
} as const satisfies Record<BuiltinProviderName, z.ZodType>;

/** The names that only built-in providers may have. */
export const BUILTIN_PROVIDER_NAMES = Object.keys(BUILTIN_CONFIG_SCHEMAS) as readonly BuiltinProviderName[];

/** Whether a name is that of a built-in provider. */
export function isBuiltinProviderName(value: unknown): value is BuiltinProviderName {
  return typeof value === "string" && Object.hasOwn(BUILTIN_CONFIG_SCHEMAS, value);
}

/** The rules over several members of the `config` of `rest`. */
export function restConfigRules(config: unknown, base: SettingPath, report: Report): void {
  headerRules(
    at(config, ["default_headers"]),
    at(config, ["auth", "api_key_header"]),
    [...base, "default_headers"],
    report,
  );
  const has = (member: string): boolean => at(config, ["auth", member]) !== undefined;
  const auth = [...base, "auth"];
  if (has("api_key_header") && !has("api_key_value")) {
    report([...auth, "api_key_value"], "is required when api_key_header is set");
  }
  if (has("api_key_value") && !has("api_key_header")) {
    report([...auth, "api_key_header"], "is required when api_key_value is set");
  }
  const user = at(config, ["auth", "basic_username"]);
  if (typeof user === "string" && referencedVariable(user) === null && user.includes(":")) {
    report([...auth, "basic_username"], "must not hold a colon");
  }
  if (has("basic_password") && !has("basic_username")) {
    report([...auth, "basic_username"], "is required when basic_password is set");
  }
  const keyHeader = at(config, ["auth", "api_key_header"]);
  const isAuthorized = has("bearer_token") || has("basic_username");
  if (isAuthorized && typeof keyHeader === "string" && keyHeader.toLowerCase() === "authorization") {
    report([...auth, "api_key_header"], "must not be Authorization together with bearer_token or basic_username");
  }
  if (has("bearer_token") && (has("basic_username") || has("basic_password"))) {
    report([...auth, "bearer_token"], "must not be set together with basic_username or basic_password");
  }
}

function headerRules(headers: unknown, keyHeader: unknown, base: SettingPath, report: Report): void {
  if (!isTable(headers)) return;
  const seen = new Set<string>();
  const ofKey = typeof keyHeader === "string" ? keyHeader.toLowerCase() : null;
  for (const [header, value] of Object.entries(headers)) {
    const where = [...base, header];
    const key = header.toLowerCase();
    if (!HEADER_NAME.test(header)) report(where, "must have a header name as its name");
    if (isReservedHeader(header)) report(where, "must not be a header that gate or the protocol decides");
    if (typeof value === "string" && !isHeaderValue(value)) {
      report(where, "must be ASCII text without control characters and outer spaces");
    }
    if (seen.has(key)) report(where, "must be given once, in one spelling");
    if (key === ofKey) report(where, "must not be the header that config.auth.api_key_header names");
    seen.add(key);
  }
}
