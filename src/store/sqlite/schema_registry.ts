/**
 * The schema registry on SQLite.
 *
 * @module
 */

import { identify, type Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { member, parseObject } from "../record_check.ts";
import { sealSchema } from "../seal.ts";
import { assertSchema, type SchemaLimits, tenantsOf } from "../shape.ts";
import { takeSchemas, textBytes } from "../size.ts";
import { type SchemaRecord, type SchemaRegistry, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { integer, type Row, text } from "./rows.ts";
import { openGate } from "../gate.ts";
import { ready } from "./run_store.ts";
import { createSqliteTypedProviders } from "./typed_providers.ts";

const EXISTS = "SELECT 1 FROM schemas WHERE namespace_id = ? AND schema_id = ? AND version = ?";
/** Schemas of a namespace without known tenants. */
const COUNT_OF_ALL = `SELECT count(*) AS entries FROM schemas AS s WHERE namespace_id = ?1 AND NOT EXISTS (
  SELECT 1 FROM schema_tenants AS t
  WHERE t.namespace_id = s.namespace_id AND t.schema_id = s.schema_id AND t.version = s.version)`;
/** The largest number of schemas of one tenant, over all tenants or over those in a JSON array. */
const COUNT_OF_TENANT =
  `SELECT coalesce(max(entries), 0) AS entries FROM (SELECT count(*) AS entries FROM schema_tenants
  WHERE namespace_id = ?1 AND (?2 IS NULL OR tenant IN (SELECT value FROM json_each(?2))) GROUP BY tenant)`;
const ADD_TENANT = "INSERT INTO schema_tenants (namespace_id, schema_id, version, tenant) VALUES (?, ?, ?, ?)";
const REGISTER = `INSERT INTO schemas (namespace_id, schema_id, version, schema_identity, schema_bytes, seal, record)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const GET = "SELECT * FROM schemas WHERE namespace_id = ? AND schema_id = ? AND version = ?";
const GET_TENANTS = `SELECT tenant FROM schema_tenants
  WHERE namespace_id = ? AND schema_id = ? AND version = ? ORDER BY tenant`;
const LIST = `SELECT * FROM schemas
  WHERE namespace_id = ? AND (schema_id, version) > (?, ?) ORDER BY schema_id, version LIMIT ?`;

/** Verified schemas in memory, and the characters of the longest one: a registered schema never changes. */
const SCHEMAS_KEPT = 256;
const KEPT_CHARACTERS = 16_384;

/** A schema registry on an open file. Closing the registry releases the file. */
export function createSqliteSchemaRegistry(file: StoreFile, limits: SchemaLimits, sha256: Sha256): SchemaRegistry {
  const use = openGate(file.path);
  const read = file.commits.createCache<SchemaRecord>(SCHEMAS_KEPT);
  return {
    register: (schema, tenants = null) =>
      use(() => {
        assertSchema(schema, limits);
        const seal = sealSchema(sha256, schema);
        const apply = (connection: Connection): "registered" | "exists" | "limit" =>
          register(connection, { seal, schema, tenants: tenantsOf(tenants) }, limits.max_entries);
        return file.writer.submit(textBytes(schema.record), apply);
      }),
    get: (namespaceId, schemaId, version) =>
      use(async () => {
        file.guard.verifyThisTurn();
        const name = `${namespaceId} ${schemaId.length} ${schemaId} ${version}`;
        const known = read.get(name);
        if (known !== undefined) return known;
        const found = await file.readers.point((connection) => {
          const row = connection.statement(GET).get(namespaceId, schemaId, version);
          if (row === undefined) return null;
          const schema = toSchema(sha256, row);
          if (!matchesNames(sha256, schema)) throw corruptSchema(schema);
          return schema;
        });
        if (found !== null && found.record.length <= KEPT_CHARACTERS) read.set(name, found);
        return found;
      }),
    getTenants: (namespaceId, schemaId, version) =>
      use(() =>
        file.readers.point((connection) =>
          tenantsIn(connection.statement(GET_TENANTS).all(namespaceId, schemaId, version))
        )
      ),
    list: (namespaceId, after, limit, maximumCharacters) =>
      use(() =>
        file.readers.point((connection) => {
          const rows = connection.statement(LIST)
            .iterate(namespaceId, after?.schema_id ?? "", after?.version ?? "", limit);
          return takeSchemas(rows, (row) => toSchema(sha256, row), maximumCharacters);
        })
      ),
    typedProviders: createSqliteTypedProviders(file, sha256, use),
    ready: () => use(() => ready(file)),
    close: () => use.close(() => file.release()),
  };
}

/** The tenants in rows of one schema; a schema without rows counts for all. */
export function tenantsIn(rows: readonly Row[]): readonly number[] | null {
  return rows.length === 0 ? null : rows.map((row) => integer(row, "tenant"));
}

/** A schema to register. */
interface Registration {
  readonly schema: SchemaRecord;
  readonly seal: string;
  /** Null for every tenant. */
  readonly tenants: readonly number[] | null;
}

/** Existence is checked before the limit, so that a repeated registration has the same result in a full registry. */
function register(
  connection: Connection,
  { schema, seal, tenants }: Registration,
  maximum: number | null,
): "registered" | "exists" | "limit" {
  const { namespace_id, schema_id, version } = schema;
  if (connection.statement(EXISTS).get(namespace_id, schema_id, version) !== undefined) return "exists";
  if (maximum !== null && entriesFor(connection, namespace_id, tenants) >= maximum) return "limit";
  connection.statement(REGISTER)
    .run(namespace_id, schema_id, version, schema.schema_identity, schema.schema_bytes, seal, schema.record);
  for (const tenant of tenants ?? []) connection.statement(ADD_TENANT).run(namespace_id, schema_id, version, tenant);
  return "registered";
}

/** The largest number of schemas that count for one of the tenants in a namespace. */
function entriesFor(connection: Connection, namespaceId: number, tenants: readonly number[] | null): number {
  const ofAll = connection.statement(COUNT_OF_ALL).get(namespaceId);
  const list = tenants === null ? null : JSON.stringify(tenants);
  const ofTenant = connection.statement(COUNT_OF_TENANT).get(namespaceId, list);
  if (ofAll === undefined || ofTenant === undefined) return Infinity;
  return integer(ofAll, "entries") + integer(ofTenant, "entries");
}

/**
 * The schema of a row, verified by its seal.
 *
 * @throws {StoreError} `corrupt`
 */
export function toSchema(sha256: Sha256, row: Row): SchemaRecord {
  const schema: SchemaRecord = {
    schema_id: text(row, "schema_id"),
    version: text(row, "version"),
    namespace_id: integer(row, "namespace_id"),
    record: text(row, "record"),
    schema_identity: text(row, "schema_identity"),
    schema_bytes: integer(row, "schema_bytes"),
  };
  if (sealSchema(sha256, schema) === text(row, "seal")) return schema;
  throw corruptSchema(schema);
}

/** The error for a schema that differs from the written one. */
export function corruptSchema({ schema_id, version, namespace_id }: SchemaRecord): StoreError {
  return new StoreError(
    "corrupt",
    `Cannot read schema "${schema_id}" version "${version}" of namespace ${namespace_id}: it differs from the written one`,
  );
}

/** Whether a record has the names of its row, and its document hashes to the identity of the row. */
export function matchesNames(sha256: Sha256, schema: SchemaRecord): boolean {
  const record = parseObject(schema.record);
  const document = member(record, "schema") as JsonValue | undefined;
  return document !== undefined && identify(sha256, "schema", document) === schema.schema_identity &&
    (["schema_id", "version", "namespace_id"] as const).every((name) => member(record, name) === schema[name]);
}
