import type { Sha256 } from "../../canonical/identity.ts";
import { type RegisteredSchema, toSchema, toVerifiedSchema } from "../rows/schemas.ts";
import { sealSchema } from "../seal.ts";
import { assertSchema, type SchemaLimits, tenantsOf } from "../shape.ts";
import { takeSchemas, textBytes } from "../size.ts";
import type { SchemaRecord, SchemaRegistry } from "../types.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { integer } from "../rows/columns.ts";
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
/** The columns of a schema `s`, with its tenants as a JSON array; null without tenants. */
export const SCHEMA_COLUMNS = `s.*, nullif((SELECT json_group_array(tenant) FROM schema_tenants AS t
  WHERE t.namespace_id = s.namespace_id AND t.schema_id = s.schema_id AND t.version = s.version), '[]') AS tenants`;
const GET = `SELECT ${SCHEMA_COLUMNS} FROM schemas AS s WHERE namespace_id = ? AND schema_id = ? AND version = ?`;
const LIST = `SELECT ${SCHEMA_COLUMNS} FROM schemas AS s
  WHERE namespace_id = ? AND (schema_id, version) > (?, ?) ORDER BY schema_id, version LIMIT ?`;

/** Verified schemas in memory, and the characters of the longest one: a registered schema never changes. */
const SCHEMAS_KEPT = 256;
const KEPT_CHARACTERS = 16_384;

/** A schema registry on an open file. Closing the registry releases the file. */
export function createSqliteSchemaRegistry(file: StoreFile, limits: SchemaLimits, sha256: Sha256): SchemaRegistry {
  const use = openGate(file.path);
  const read = file.commits.createCache<SchemaRecord>(SCHEMAS_KEPT);
  const find = (namespaceId: number, schemaId: string, version: string): Promise<RegisteredSchema | null> =>
    file.readers.point((connection) => {
      const row = connection.statement(GET).get(namespaceId, schemaId, version);
      return row === undefined ? null : toVerifiedSchema(sha256, row);
    });
  return {
    register: (schema, tenants = null) =>
      use(() => {
        assertSchema(schema, limits);
        const sealed = { schema, tenants: tenantsOf(tenants) };
        const seal = sealSchema(sha256, sealed);
        const apply = (connection: Connection): "registered" | "exists" | "limit" =>
          register(connection, { ...sealed, seal }, limits.max_entries);
        return file.writer.submit(textBytes(schema.record), apply);
      }),
    get: (namespaceId, schemaId, version) =>
      use(async () => {
        file.guard.verifyThisTurn();
        const name = `${namespaceId} ${schemaId.length} ${schemaId} ${version}`;
        const known = read.get(name);
        if (known !== undefined) return known;
        const found = (await find(namespaceId, schemaId, version))?.schema ?? null;
        if (found !== null && found.record.length <= KEPT_CHARACTERS) read.set(name, found);
        return found;
      }),
    getTenants: (namespaceId, schemaId, version) =>
      use(async () => (await find(namespaceId, schemaId, version))?.tenants ?? null),
    list: (namespaceId, after, limit, maximumCharacters) =>
      use(() =>
        file.readers.point((connection) => {
          const rows = connection.statement(LIST)
            .iterate(namespaceId, after?.schema_id ?? "", after?.version ?? "", limit);
          return takeSchemas(rows, (row) => toSchema(sha256, row).schema, maximumCharacters);
        })
      ),
    typedProviders: createSqliteTypedProviders(file, sha256, use),
    ready: () => use(() => ready(file)),
    close: () => use.close(() => file.release()),
  };
}

/** A schema to register. */
interface Registration extends RegisteredSchema {
  readonly seal: string;
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
