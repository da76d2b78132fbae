/**
 * The sections `run_state_store`, `schema_registry` and `runpack_storage`: their schemas, and the rules over several of
 * their members.
 *
 * @module
 */

import * as z from "../schema_builder.ts";
import { DEFAULT_SETTINGS, STORAGE_DEFAULTS as S } from "../defaults.ts";
import type { DeepReadonly } from "../deep_readonly.ts";
import { POSTGRES_ADDRESS } from "../postgres_address.ts";
import { httpUrl, INSECURE_URL, integer, path, strings, text } from "../primitives.ts";
import { quoteShort, type Report } from "../problems.ts";
import { all, forbids, is, isSet, matches, not, requires, type Rule } from "../rules.ts";
import { at } from "../toml_tree.ts";

const acl = DEFAULT_SETTINGS.schema_registry.acl;

const storage = {
  type: z.enum(["memory", "sqlite", "postgres"]).default(S.type).describe(
    "memory loses its content at exit; postgres serves several servers.",
  ),
  path: path().nullable().default(null).describe("Database file; required by sqlite."),
  journal_mode: z.enum(["wal", "delete"]).default(S.journal_mode).describe("SQLite journal mode."),
  sync_mode: z.enum(["full", "normal"]).default(S.sync_mode)
    .describe("full survives a power failure; normal may lose the last commits."),
  busy_timeout_ms: integer(0).default(S.busy_timeout_ms).describe("Milliseconds to wait for another process."),
  batch_max_bytes: integer(1).default(S.batch_max_bytes).describe("Bytes of one writer batch."),
  batch_max_ops: integer(1).default(S.batch_max_ops).describe("Operations of one writer batch."),
  batch_max_wait_ms: integer(1).default(S.batch_max_wait_ms).describe(
    "Longest wait of a batch for more operations, in milliseconds.",
  ),
  read_pool_size: integer(1).default(S.read_pool_size).describe("Connections for reading."),
  writer_queue_capacity: integer(1).default(S.writer_queue_capacity).describe(
    "Operations that may wait for the writer.",
  ),
  url: z.string().regex(
    new RegExp(`^env:[^=\\0]+$|${POSTGRES_ADDRESS}`, "u"),
    "must be env:NAME, or postgres://USER:PASSWORD@HOST:PORT/DATABASE without parameters",
  ).nullable().default(null).describe("Address of the PostgreSQL database, or env:NAME for a variable that holds it."),
  tls_ca_path: path().nullable().default(null).describe(
    "PEM file of the authorities of the database servers; null for those of the system.",
  ),
  connections: integer(1, 64).default(S.connections).describe(
    "Connections to the PostgreSQL database; both stores use those of run_state_store.",
  ),
};

/** The shape of `run_state_store`. */
export const runStateStoreSchema = z.strictObject({
  ...storage,
  max_versions: integer(1).nullable().default(null).describe(
    "Snapshots of state kept for each run; null for two. All records are kept in any case.",
  ),
}).describe("Store of runs.");

/** `run_state_store`. */
export type RunStateStoreConfig = DeepReadonly<z.output<typeof runStateStoreSchema>>;

const aclRule = z.strictObject({
  effect: z.enum(["allow", "deny"]).describe("Decision of the rule."),
  actions: z.array(z.enum(["register", "list", "get"])).default([]).describe("Actions; empty for any."),
  namespaces: z.array(integer(1)).default([]).describe("Namespaces; empty for any."),
  tenants: z.array(integer(1)).default([]).describe("Tenants; empty for any."),
  policy_classes: strings(z.string()).describe("Policy classes; empty for any."),
  roles: strings(z.string()).describe("Roles; empty for any."),
  subjects: strings(z.string()).describe("Subjects; empty for any."),
});

/** `schema_registry.acl.rules[]`. */
export type RegistryAclRuleConfig = DeepReadonly<z.output<typeof aclRule>>;

/** What a caller can do with the schema registry. */
export type RegistryAction = RegistryAclRuleConfig["actions"][number];

const registryAcl = z.strictObject({
  mode: z.enum(["builtin", "custom"]).default(acl.mode).describe("builtin reads roles, custom reads rules."),
  allow_local_only: z.boolean().default(acl.allow_local_only).describe("builtin: a local caller may do everything."),
  default: z.enum(["deny", "allow"]).default(acl.default).describe("custom: decision when no rule matches."),
  require_signing: z.boolean().default(acl.require_signing).describe("Writes must carry signing metadata."),
  rules: z.array(aclRule).max(256).default([]).describe("custom: rules in order; the first that matches decides."),
}).describe("Access to the schema registry.");

/** `schema_registry.acl`. */
export type RegistryAclConfig = DeepReadonly<z.output<typeof registryAcl>>;

/** The shape of `schema_registry`. */
export const schemaRegistrySchema = z.strictObject({
  ...storage,
  max_schema_bytes: integer(1, 10485760).default(DEFAULT_SETTINGS.schema_registry.max_schema_bytes)
    .describe("Bytes of one schema."),
  max_entries: integer(1).nullable().default(null).describe(
    "Schemas of each tenant in each namespace; null for no limit.",
  ),
  acl: registryAcl.prefault({}),
}).describe("Store of registered schemas, and access to it.");

/** `schema_registry`. */
export type SchemaRegistryConfig = DeepReadonly<z.output<typeof schemaRegistrySchema>>;

/** The shape of `runpack_storage`. */
export const runpackStorageSchema = z.strictObject({
  type: z.literal("object_store").describe("Kind of storage."),
  provider: z.literal("s3").describe("Protocol of the object store."),
  bucket: text().describe("Bucket."),
  endpoint: httpUrl().nullable().default(null).describe(
    "URL of the object store; null for the endpoint of the region.",
  ),
  prefix: z.string().max(4096).nullable().default(null).describe("Prefix of the keys, such as releases/gate/."),
  region: z.string().nullable().default(null).describe("Region; null for the region of the environment."),
  force_path_style: z.boolean().default(false).describe("Put the bucket into the path instead of the host name."),
  allow_http: z.boolean().default(false).describe("Allow an http:// endpoint."),
}).describe("Object store to which published runpacks are mirrored; null for none.");

/** `runpack_storage`. */
export type RunpackStorageConfig = DeepReadonly<z.output<typeof runpackStorageSchema>>;

/** The rules over several members of a store. */
function storageRules(section: "run_state_store" | "schema_registry"): readonly Rule[] {
  return [
    forbids(["path"], is(["type"], ["memory"], S.type), `must not be set when ${section}.type is "memory"`),
    requires(["path"], is(["type"], ["sqlite"], S.type), `is required when ${section}.type is "sqlite"`),
    requires(["url"], is(["type"], ["postgres"], S.type), `is required when ${section}.type is "postgres"`),
    ...OF_FILES.map((name) =>
      forbids([name], is(["type"], ["postgres"], S.type), `must not be set when ${section}.type is "postgres"`)
    ),
    ...OF_DATABASES.map((name) =>
      forbids([name], not(is(["type"], ["postgres"], S.type)), `must not be set unless ${section}.type is "postgres"`)
    ),
  ];
}

/** Members that only a file has. */
const OF_FILES = ["path", "journal_mode", "sync_mode", "busy_timeout_ms", "read_pool_size"];

/** Members that only a database has. */
const OF_DATABASES = ["url", "tls_ca_path", "connections"];

/** The rule over both stores: PostgreSQL keeps both or none. */
function pairRule(section: string, other: string): Rule {
  return {
    when: is([section, "type"], ["postgres"], S.type),
    then: is([other, "type"], ["postgres"], S.type),
    at: [other, "type"],
    message: `must be "postgres" when ${section}.type is "postgres"`,
  };
}

/** Reports a `schema_registry` whose database is not that of `run_state_store`, which no rule over members can express. */
export function oneDatabaseChecks(tree: unknown, report: Report): void {
  const [run, schemas] = [at(tree, ["run_state_store"]), at(tree, ["schema_registry"])];
  if (at(run, ["type"]) !== "postgres" || at(schemas, ["type"]) !== "postgres") return;
  for (const name of ["url", "tls_ca_path"]) {
    const [expected, value] = [at(run, [name]), at(schemas, [name])];
    const isMissing = value === undefined || (name === "url" && expected === undefined);
    if (!isMissing && value !== expected) {
      report(["schema_registry", name], `must be the same as run_state_store.${name}`);
    }
  }
}

/** The rules of `run_state_store` over other sections. */
export const runStateStoreFileRules: readonly Rule[] = [pairRule("run_state_store", "schema_registry")];

/** The rules of `schema_registry` over other sections. */
export const schemaRegistryFileRules: readonly Rule[] = [pairRule("schema_registry", "run_state_store")];

/** The rules over several members of `run_state_store`. */
export const runStateStoreRules: readonly Rule[] = storageRules("run_state_store");

/** The rules over several members of `schema_registry`. */
export const schemaRegistryRules: readonly Rule[] = storageRules("schema_registry");

/** A key prefix is relative, consists of plain segments, and may end with a slash. */
const PREFIX = [
  "^(?:(?:[^/.]|\\.[^/.]|\\.\\.[^/])[^/]*(?:/|$))*$",
  "^[^/]{0,255}(?:/[^/]{0,255})*$",
  "^[^\\\\\\p{Cc}]*$",
];

/** The rules over several members of `runpack_storage`. */
export const runpackStorageRules: readonly Rule[] = [
  {
    when: matches(["endpoint"], INSECURE_URL),
    then: not(is(["allow_http"], [false], false)),
    at: ["allow_http"],
    message: "must be true when endpoint begins with http://",
  },
  {
    when: isSet(["prefix"]),
    then: all(...PREFIX.map((pattern) => matches(["prefix"], pattern))),
    at: ["prefix"],
    message: (storage) =>
      'must be relative, of segments of 1 to 255 characters other than "." and "..", ' +
      `got ${quoteShort(at(storage, ["prefix"]))}`,
  },
];
