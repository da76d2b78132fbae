/**
 * The section `providers`: its schema, the rules over several members of an entry, and the defaults of each entry's
 * `config`.
 */

import { words } from "../../canonical/words.ts";
import {
  anything,
  boolean,
  integer,
  listOf,
  oneOf,
  orNull,
  type Read,
  readSilently,
  text,
} from "../../canonical/shape.ts";
import { described, optional, orEmpty, patterned, table, withDefault } from "../../canonical/table_shape.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { BUILTIN_PROVIDER_NAMES, type BuiltinProviderName, isBuiltinProviderName } from "../builtin_names.ts";
import { BUILTIN_CONFIG_RULES, BUILTIN_CONFIG_SCHEMAS, type BuiltinProviderConfig, headerChecks } from "./builtin.ts";
import { PROVIDER_TIMEOUT_DEFAULTS as T } from "../defaults.ts";
import { trustPolicySchema } from "./evidence.ts";
import { readSettings } from "../schema_messages.ts";
import { httpUrl, INSECURE_URL, name, path, token } from "../primitives.ts";
import { quoteShort, type Report } from "../problems.ts";
import {
  all,
  any,
  applyRules,
  is,
  isFilled,
  isSet,
  isText,
  isUnset,
  matches,
  not,
  requires,
  type Rule,
  uniqueMembers,
} from "../rules.ts";
import { arrayAt, at } from "../toml_tree.ts";

const timeouts = table({
  connect_timeout_ms: optional(integer(100, 10000), {
    default: T.connect_timeout_ms,
    description:
      `Milliseconds to wait for a connection; request_timeout_ms where that is lower than ${T.connect_timeout_ms}.`,
  }),
  request_timeout_ms: withDefault(integer(500, 30000), T.request_timeout_ms, "Milliseconds to wait for a response."),
}, "Timeouts of an external provider.");

const providerAuth = table({
  bearer_token: withDefault(orNull(token()), null, "Bearer token for the provider."),
}, "Credentials for an external provider.");

/** The shape of one entry; the shape of `config` depends on the provider. */
const providerSchema = table({
  name: described(name(), "Name of the provider; each built-in provider has a fixed name."),
  type: described(oneOf("builtin", "mcp", "typed"), "Kind of provider."),
  url: withDefault(orNull(httpUrl()), null, "Address of the provider."),
  command: withDefault(
    listOf(patterned(text, /^[^\0]*$/, "must not hold a zero character")),
    [],
    "Program of the provider and its arguments; wins over url.",
  ),
  allow_insecure_http: withDefault(boolean, false, "Allow a url, or the service of a typed provider, without TLS."),
  allow_raw: withDefault(boolean, false, "Raw values of this provider may be disclosed."),
  auth: withDefault(orNull(providerAuth), null),
  capabilities_path: withDefault(orNull(path()), null, "JSON file of the provider's capability contract."),
  runtime_profile_path: withDefault(orNull(path()), null, "JSON file of the runtime profile of a typed provider."),
  typed_protocol: withDefault(
    orNull(oneOf("openapi_http", "grpc")),
    null,
    "Protocol of a typed provider, the same as in its runtime profile.",
  ),
  config: optional(
    anything,
    "Settings of a built-in or typed provider; gate does not read those of providers of type mcp.",
  ),
  trust: withDefault(orNull(trustPolicySchema), null, "Replaces trust.default_policy for this provider."),
  timeouts: orEmpty(timeouts),
});

/** The shape of `config` of a typed provider. */
export const typedConfigSchema = table({
  allow_private_networks: withDefault(boolean, false, "Allow private, link-local and loopback addresses."),
});

/** The shape of `providers`. */
export const providersSchema = withDefault(
  listOf(providerSchema),
  [],
  "Sources of evidence; a provider that is not listed is not available.",
);

/** An entry as the schema returns it, before `timeouts` and `config` are completed. */
type ParsedProvider = Read<typeof providerSchema>;

/** The members that all providers share. */
interface CommonProviderConfig extends Omit<ParsedProvider, "name" | "type" | "timeouts" | "config"> {
  readonly timeouts: { readonly connect_timeout_ms: number; readonly request_timeout_ms: number };
}

/** `providers[]` of type `builtin`, distinguished by `name`. */
export type BuiltinProviderEntry<Name extends BuiltinProviderName = BuiltinProviderName> = Name extends
  BuiltinProviderName ? CommonProviderConfig & {
    readonly type: "builtin";
    readonly name: Name;
    readonly config: BuiltinProviderConfig<Name>;
  }
  : never;

/** `providers[]` of type `mcp`: it has `command` or `url`, and `capabilities_path`. The service does not read its `config`. */
export interface McpProviderConfig extends CommonProviderConfig {
  readonly type: "mcp";
  readonly name: string;
  readonly config: JsonValue;
}

/** `providers[]` of type `typed`: it has `capabilities_path`, `runtime_profile_path` and `typed_protocol`. */
export interface TypedProviderConfig extends CommonProviderConfig {
  readonly type: "typed";
  readonly name: string;
  readonly config: Read<typeof typedConfigSchema>;
}

/** `providers[]`, distinguished by `type`. */
export type ProviderConfig = BuiltinProviderEntry | McpProviderConfig | TypedProviderConfig;

const IS_BUILTIN = is(["type"], ["builtin"]);

/** Members of an entry that do not apply to its type. */
const NOT_APPLICABLE = {
  builtin: words("url command allow_insecure_http auth capabilities_path runtime_profile_path typed_protocol"),
  mcp: ["runtime_profile_path", "typed_protocol"],
  typed: ["command", "url", "auth"],
} as const;

/** Members that an entry requires for its type. */
const REQUIRED = {
  mcp: ["capabilities_path"],
  typed: ["capabilities_path", "runtime_profile_path", "typed_protocol"],
} as const;

const typeRules: readonly Rule[] = [
  ...Object.entries(NOT_APPLICABLE).flatMap(([type, members]) =>
    members.map((member): Rule => ({
      when: is(["type"], [type]),
      then: isUnset([member]),
      at: [member],
      message: `must not be set when type is "${type}"`,
    }))
  ),
  ...Object.entries(REQUIRED).flatMap(([type, members]) =>
    members.map((member) => requires([member], is(["type"], [type]), `is required when type is "${type}"`))
  ),
  {
    when: is(["type"], ["mcp"]),
    then: any(isFilled(["command"]), isSet(["url"])),
    at: [],
    message: 'must have command or url when type is "mcp"',
  },
];

const nameRules: readonly Rule[] = [
  {
    when: all(IS_BUILTIN, isText(["name"], () => true, "")),
    then: is(["name"], BUILTIN_PROVIDER_NAMES),
    at: ["name"],
    message: (entry) => {
      const names = BUILTIN_PROVIDER_NAMES.map((known) => `"${known}"`).join(", ");
      return `must be one of ${names} when type is "builtin", got ${quoteShort(at(entry, ["name"]))}`;
    },
  },
  {
    when: is(["type"], ["mcp", "typed"]),
    then: not(is(["name"], BUILTIN_PROVIDER_NAMES)),
    at: ["name"],
    message: (entry) => `must not be the built-in name "${at(entry, ["name"])}" when type is "${at(entry, ["type"])}"`,
  },
  requires(["config"], all(IS_BUILTIN, is(["name"], ["json"])), 'is required for the provider "json"'),
];

/** The rules over several members of each entry. */
export const providerRules: readonly Rule[] = [{
  each: [],
  rules: [
    ...typeRules,
    ...nameRules,
    {
      when: matches(["url"], INSECURE_URL),
      then: not(is(["allow_insecure_http"], [false], false)),
      at: ["allow_insecure_http"],
      message: "must be true when url begins with http://",
    },
    {
      then: {
        holds: (entry) => at(entry, ["command", 0]) !== "",
        schema: { properties: { command: { prefixItems: [{ minLength: 1 }] } } },
      },
      at: ["command", 0],
      message: "must not be empty",
    },
  ],
}];

/**
 * Checks that no rule over members can express: the `config` of built-in and typed providers, repeated names, and the
 * two timeouts.
 */
export function providerChecks(tree: unknown, report: Report): void {
  uniqueMembers(tree, ["providers"], "name", report);
  arrayAt(tree, ["providers"]).forEach((entry, index) => {
    const base = ["providers", index];
    const type = at(entry, ["type"]);
    const providerName = at(entry, ["name"]);
    const config = at(entry, ["config"]) ?? undefined;
    if (type === "builtin" && isBuiltinProviderName(providerName) && config !== undefined) {
      readSettings(BUILTIN_CONFIG_SCHEMAS[providerName], config, [...base, "config"], report);
      applyRules(BUILTIN_CONFIG_RULES[providerName] ?? [], config, [...base, "config"], report);
      if (providerName === "rest") headerChecks(config, [...base, "config"], report);
    }
    if (type === "typed" && config !== undefined) {
      readSettings(typedConfigSchema, config, [...base, "config"], report);
    }
    const connect = at(entry, ["timeouts", "connect_timeout_ms"]);
    const request = at(entry, ["timeouts", "request_timeout_ms"]);
    if (typeof connect === "number" && typeof request === "number" && request < connect) {
      report([...base, "timeouts", "request_timeout_ms"], `must be >= connect_timeout_ms (${connect}), got ${request}`);
    }
  });
}

/**
 * An entry with its defaults: the connect timeout is at most the request timeout, and `config` has the defaults of a
 * built-in provider. Without settings, `config` of an external provider is null.
 */
export function completeProvider(parsed: ParsedProvider): ProviderConfig {
  const { config, timeouts: { request_timeout_ms, connect_timeout_ms } } = parsed;
  const connectTimeout = connect_timeout_ms ?? Math.min(T.connect_timeout_ms, request_timeout_ms);
  const entry = { ...parsed, timeouts: { connect_timeout_ms: connectTimeout, request_timeout_ms } };
  if (entry.type === "mcp") return { ...entry, config: (config ?? null) as JsonValue } as ProviderConfig;
  if (entry.type === "typed") {
    return { ...entry, config: readSilently(typedConfigSchema, config ?? {}) } as ProviderConfig;
  }
  if (!isBuiltinProviderName(entry.name)) {
    throw new TypeError(`Cannot complete provider "${entry.name}": name is unknown`);
  }
  return {
    ...entry,
    config: readSilently<unknown>(BUILTIN_CONFIG_SCHEMAS[entry.name], config ?? {}),
  } as ProviderConfig;
}
