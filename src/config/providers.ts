/**
 * The section `providers`: its schema, the rules over several members of an entry, and the completion of each entry's
 * `config`.
 *
 * @module
 */

import { z } from "zod";
import type { JsonValue } from "../canonical/json.ts";
import { BUILTIN_CONFIG_SCHEMAS, BUILTIN_PROVIDER_NAMES, isBuiltinProviderName, restConfigRules } from "./builtin.ts";
import { PROVIDER_TIMEOUT_DEFAULTS as T } from "./defaults.ts";
import { trustPolicySchema } from "./evidence.ts";
import { ONCE, schemaProblems } from "./zod_messages.ts";
import { httpUrl, integer, name, path, token } from "./primitives.ts";
import { quoteShort, type Report, type SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";
import type { ProviderConfig } from "./types.ts";

const timeouts = z.strictObject({
  connect_timeout_ms: integer(100, 10000).optional().meta({ default: T.connect_timeout_ms }).describe(
    "Milliseconds to wait for a connection; request_timeout_ms where that is lower than the default.",
  ),
  request_timeout_ms: integer(500, 30000).default(T.request_timeout_ms).describe("Milliseconds to wait for an answer."),
}).describe("Timeouts of an external provider.");

const providerAuth = z.strictObject({
  bearer_token: token().nullable().default(null).describe("Bearer token for the provider."),
}).describe("Credentials for an external provider.");

/** The shape of one entry; what `config` may hold depends on the provider. */
const providerSchema = z.strictObject({
  name: name().describe("Identifier of the provider; a built-in one has its own name."),
  type: z.enum(["builtin", "mcp", "typed"]).describe("Kind of provider; typed is not available yet."),
  url: httpUrl().nullable().default(null).describe("Address of the provider."),
  command: z.array(z.string().regex(/^[^\0]*$/, { error: "must not hold a zero character" })).default([])
    .describe("Program that is the provider, and its arguments; wins over url."),
  allow_insecure_http: z.boolean().default(false).describe("Allow a url that begins with http://."),
  allow_raw: z.boolean().default(false).describe("Raw values of this provider may be disclosed."),
  auth: providerAuth.nullable().default(null),
  capabilities_path: path().nullable().default(null).describe("JSON file of the provider's capability contract."),
  runtime_profile_path: path().nullable().default(null).describe(
    "JSON file of the runtime profile of a typed provider (not available yet).",
  ),
  typed_protocol: z.enum(["openapi_http", "grpc"]).nullable().default(null).describe(
    "Protocol of a typed provider (not available yet).",
  ),
  config: z.unknown().optional().describe("Settings of a built-in provider; gate does not read those of another."),
  trust: trustPolicySchema.nullable().default(null).describe("Replaces trust.default_policy for this provider."),
  timeouts: timeouts.prefault({}),
});

/** The shape of `providers`. */
export const providersSchema = z.array(providerSchema).default([]).describe(
  "Where evidence may come from; a provider that is not listed is not available.",
);

/** An entry as the schema gives it, before its `config` is completed. */
export type ParsedProvider = z.output<typeof providerSchema>;

/** The rules over several members of each entry. */
export function providerRules(tree: unknown, report: Report): void {
  const seen = new Map<unknown, number>();
  arrayAt(tree, ["providers"]).forEach((entry, index) => {
    const base = ["providers", index];
    const providerName = at(entry, ["name"]);
    if (typeof providerName === "string") {
      const first = seen.get(providerName);
      if (first === undefined) seen.set(providerName, index);
      else report([...base, "name"], `must be unique, but providers[${first}] has the same`);
    }
    const type = at(entry, ["type"]);
    if (type === "builtin") builtinRules(entry, base, report);
    if (type === "mcp" || type === "typed") externalRules(entry, type, base, report);
    connectionRules(entry, base, report);
  });
}

function builtinRules(entry: unknown, base: SettingPath, report: Report): void {
  const foreign = [
    "url",
    "command",
    "allow_insecure_http",
    "auth",
    "capabilities_path",
    "runtime_profile_path",
    "typed_protocol",
  ];
  for (const member of foreign) mustNotSet(entry, member, "builtin", base, report);
  const providerName = at(entry, ["name"]);
  if (typeof providerName !== "string") return;
  if (!isBuiltinProviderName(providerName)) {
    const names = BUILTIN_PROVIDER_NAMES.map((known) => `"${known}"`).join(", ");
    report([...base, "name"], `must be one of ${names} when type is "builtin", got ${quoteShort(providerName)}`);
    return;
  }
  const config = at(entry, ["config"]);
  if (config === undefined) {
    if (providerName === "json") report([...base, "config"], 'is required for the provider "json"');
    return;
  }
  schemaProblems(BUILTIN_CONFIG_SCHEMAS[providerName], config, [...base, "config"], report);
  if (providerName === "rest") restConfigRules(config, [...base, "config"], report);
}

function externalRules(entry: unknown, type: "mcp" | "typed", base: SettingPath, report: Report): void {
  const providerName = at(entry, ["name"]);
  if (isBuiltinProviderName(providerName)) {
    report([...base, "name"], `must not be the built-in name "${providerName}" when type is "${type}"`);
  }
  const foreign = type === "mcp" ? ["runtime_profile_path", "typed_protocol"] : ["command"];
  for (const member of foreign) mustNotSet(entry, member, type, base, report);
  const required = type === "mcp"
    ? ["capabilities_path"]
    : ["capabilities_path", "runtime_profile_path", "typed_protocol"];
  for (const member of required) {
    if (at(entry, [member]) === undefined) report([...base, member], `is required when type is "${type}"`);
  }
  if (type === "mcp" && isUnset(at(entry, ["command"])) && isUnset(at(entry, ["url"]))) {
    report(base, 'must have command or url when type is "mcp"');
  }
}

function connectionRules(entry: unknown, base: SettingPath, report: Report): void {
  const url = at(entry, ["url"]);
  const insecure = at(entry, ["allow_insecure_http"]) ?? false;
  if (typeof url === "string" && /^http:/i.test(url) && insecure === false) {
    report([...base, "allow_insecure_http"], "must be true when url begins with http://");
  }
  if (at(entry, ["command", 0]) === "") report([...base, "command", 0], "must not be empty");
  const connect = at(entry, ["timeouts", "connect_timeout_ms"]);
  const request = at(entry, ["timeouts", "request_timeout_ms"]) ?? T.request_timeout_ms;
  if (typeof connect === "number" && typeof request === "number" && request < connect) {
    report([...base, "timeouts", "request_timeout_ms"], `must be >= connect_timeout_ms (${connect}), got ${request}`);
  }
}

function mustNotSet(entry: unknown, member: string, type: string, base: SettingPath, report: Report): void {
  if (!isUnset(at(entry, [member]))) report([...base, member], `must not be set when type is "${type}"`);
}

/** Left out, or given as what it is when left out. */
function isUnset(value: unknown): boolean {
  return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
}

/**
 * An entry with `timeouts` and `config` completed: no connection is waited for longer than its request, and `config` has
 * the defaults of a built-in provider, or is null where there is none.
 */
export function completeProvider(parsed: ParsedProvider): ProviderConfig {
  const { config, timeouts: { request_timeout_ms, connect_timeout_ms } } = parsed;
  const connecting = connect_timeout_ms ?? Math.min(T.connect_timeout_ms, request_timeout_ms);
  const entry = { ...parsed, timeouts: { connect_timeout_ms: connecting, request_timeout_ms } };
  if (entry.type !== "builtin") return { ...entry, config: (config ?? null) as JsonValue } as ProviderConfig;
  if (!isBuiltinProviderName(entry.name)) {
    throw new TypeError(`Cannot complete provider "${entry.name}": name is unknown`);
  }
  return { ...entry, config: BUILTIN_CONFIG_SCHEMAS[entry.name].parse(config ?? {}, ONCE) } as ProviderConfig;
}
