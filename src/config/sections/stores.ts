/**
 * The sections `run_state_store`, `schema_registry` and `runpack_storage`: their schemas, and the rules over several of
 * their members.
 */

import { boolean, integer, listOf, oneOf, orNull, type Read, text } from "../../canonical/shape.ts";
import { characters, described, orEmpty, patterned, table, withDefault } from "../../canonical/table_shape.ts";
import { DEFAULT_SETTINGS, STORAGE_DEFAULTS as S } from "../defaults.ts";
import { POSTGRES_ADDRESS } from "../postgres_address.ts";
import { filled, httpUrl, INSECURE_URL, path, strings } from "../primitives.ts";
import { quoteShort, type Report } from "../problems.ts";
import { all, forbids, is, isSet, matches, not, requires, type Rule } from "../rules.ts";
import { at } from "../toml_tree.ts";

const acl = DEFAULT_SETTINGS.schema_registry.acl;

const storage = {
  type: withDefault(
    oneOf("memory", "sqlite", "postgres"),
    S.type,
    "memory loses its content at exit; postgres serves several servers.",
  ),
  path: withDefault(orNull(path()), null, "Database file; required by sqlite."),
  journal_mode: withDefault(oneOf("wal", "delete"), S.journal_mode, "SQLite journal mode."),
  sync_mode: withDefault(
    oneOf("full", "normal"),
    S.sync_mode,
    "full survives a power failure; normal may lose the last commits.",
  ),
  busy_timeout_ms: withDefault(integer(0), S.busy_timeout_ms, "Milliseconds to wait for another process."),
  batch_max_bytes: withDefault(integer(1), S.batch_max_bytes, "Bytes of one writer batch."),
  batch_max_ops: withDefault(integer(1), S.batch_max_ops, "Operations of one writer batch."),
  batch_max_wait_ms: withDefault(
    integer(1),
    S.batch_max_wait_ms,
    "Longest wait of a batch for more operations, in milliseconds.",
  ),
  read_pool_size: withDefault(integer(1), S.read_pool_size, "Connections for reading."),
  writer_queue_capacity: withDefault(integer(1), S.writer_queue_capacity, "Operations that may wait for the writer."),
  url: withDefault(
    orNull(
      patterned(
        text,
        new RegExp(`^env:[^=\\0]+$|${POSTGRES_ADDRESS}`, "u"),
        "must be env:NAME, or postgres://USER:PASSWORD@HOST:PORT/DATABASE without parameters",
      ),
    ),
    null,
    "Address of the PostgreSQL database, or env:NAME for a variable that holds it.",
  ),
  tls_ca_path: withDefault(
    orNull(path()),
    null,
    "PEM file of the authorities of the database servers; null for those of the system.",
  ),
  connections: withDefault(
    integer(1, 64),
    S.connections,
    "Connections to the PostgreSQL database; both stores use those of run_state_store.",
  ),
};

/** The shape of `run_state_store`. */
export const runStateStoreSchema = table({
  ...storage,
  max_versions: withDefault(
    orNull(integer(1)),
    null,
    "Snapshots of state kept for each run; null for two. All records are kept in any case.",
  ),
}, "Store of runs.");

/** `run_state_store`. */
export type RunStateStoreConfig = Read<typeof runStateStoreSchema>;

const aclRule = table({
  effect: described(oneOf("allow", "deny"), "Decision of the rule."),
  actions: withDefault(listOf(oneOf("register", "list", "get")), [], "Actions; empty for any."),
  namespaces: withDefault(listOf(integer(1)), [], "Namespaces; empty for any."),
  tenants: withDefault(listOf(integer(1)), [], "Tenants; empty for any."),
  policy_classes: strings(text, "Policy classes; empty for any."),
  roles: strings(text, "Roles; empty for any."),
  subjects: strings(text, "Subjects; empty for any."),
});

/** `schema_registry.acl.rules[]`. */
export type RegistryAclRuleConfig = Read<typeof aclRule>;

/** What a caller can do with the schema registry. */
export type RegistryAction = RegistryAclRuleConfig["actions"][number];

const registryAcl = table({
  mode: withDefault(oneOf("builtin", "custom"), acl.mode, "builtin reads roles, custom reads rules."),
  allow_local_only: withDefault(boolean, acl.allow_local_only, "builtin: a local caller may do everything."),
  default: withDefault(oneOf("deny", "allow"), acl.default, "custom: decision when no rule matches."),
  require_signing: withDefault(boolean, acl.require_signing, "Writes must carry signing metadata."),
  rules: withDefault(listOf(aclRule, 256), [], "custom: rules in order; the first that matches decides."),
}, "Access to the schema registry.");

/** `schema_registry.acl`. */
export type RegistryAclConfig = Read<typeof registryAcl>;

/** The shape of `schema_registry`. */
export const schemaRegistrySchema = table({
  ...storage,
  max_schema_bytes: withDefault(
    integer(1, 10485760),
    DEFAULT_SETTINGS.schema_registry.max_schema_bytes,
    "Bytes of one schema.",
  ),
  max_entries: withDefault(orNull(integer(1)), null, "Schemas of each tenant in each namespace; null for no limit."),
  acl: orEmpty(registryAcl),
}, "Store of registered schemas, and access to it.");

/** `schema_registry`. */
export type SchemaRegistryConfig = Read<typeof schemaRegistrySchema>;

/** The shape of `runpack_storage`. */
export const runpackStorageSchema = table({
  type: described(oneOf("object_store"), "Kind of storage."),
  provider: described(oneOf("s3"), "Protocol of the object store."),
  bucket: described(filled(), "Bucket."),
  endpoint: withDefault(orNull(httpUrl()), null, "URL of the object store; null for the endpoint of the region."),
  prefix: withDefault(orNull(characters(0, 4096)), null, "Prefix of the keys, such as releases/gate/."),
  region: withDefault(orNull(text), null, "Region; null for the region of the environment."),
  force_path_style: withDefault(boolean, false, "Put the bucket into the path instead of the host name."),
  allow_http: withDefault(boolean, false, "Allow an http:// endpoint."),
}, "Object store to which published runpacks are mirrored; null for none.");

/** `runpack_storage`. */
export type RunpackStorageConfig = Read<typeof runpackStorageSchema>;

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
