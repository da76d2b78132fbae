/**
 * The schema registry on SQLite.
 *
 * @module
 */

import { identify, type Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { member, parseObject } from "../record_check.ts";
import { sealSchema } from "../seal.ts";
import { assertSchema, type SchemaLimits } from "../shape.ts";
import { takeSchemas, textBytes } from "../size.ts";
import { type SchemaRecord, type SchemaRegistry, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { integer, type Row, text } from "./rows.ts";
import { openGate, ready } from "./run_store.ts";

const EXISTS = "SELECT 1 FROM schemas WHERE namespace_id = ? AND schema_id = ? AND version = ?";
const COUNT = "SELECT count(*) AS entries FROM schemas WHERE namespace_id = ?";
const REGISTER = `INSERT INTO schemas (namespace_id, schema_id, version, schema_identity, schema_bytes, seal, record)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const GET = "SELECT * FROM schemas WHERE namespace_id = ? AND schema_id = ? AND version = ?";
const LIST = `SELECT * FROM schemas
  WHERE namespace_id = ? AND (schema_id, version) > (?, ?) ORDER BY schema_id, version LIMIT ?`;

/** A schema registry on an open file. Closing it lets go of the file. */
export function createSqliteSchemaRegistry(file: StoreFile, limits: SchemaLimits, sha256: Sha256): SchemaRegistry {
  const use = openGate(file.path);
  return {
    register: (schema) =>
      use(() => {
        assertSchema(schema, limits);
        const seal = sealSchema(sha256, schema);
        const apply = (connection: Connection): "registered" | "exists" | "limit" =>
          register(connection, seal, schema, limits.max_entries);
        return file.writer.submit(textBytes(schema.record), apply);
      }),
    get: (namespaceId, schemaId, version) =>
      use(() =>
        file.readers.point((connection) => {
          const row = connection.statement(GET).get(namespaceId, schemaId, version);
          if (row === undefined) return null;
          const schema = toSchema(sha256, row);
          if (!saysItsNames(sha256, schema)) throw corruptSchema(schema);
          return schema;
        })
      ),
    list: (namespaceId, after, limit, maximumCharacters) =>
      use(() =>
        file.readers.point((connection) => {
          const rows = connection.statement(LIST)
            .iterate(namespaceId, after?.schema_id ?? "", after?.version ?? "", limit);
          return takeSchemas(rows, (row) => toSchema(sha256, row), maximumCharacters);
        })
      ),
    ready: () => use(() => ready(file)),
    close: () => use.close(() => file.release()),
  };
}

/** Existence is looked at before the limit, so that repeating a registration tells the same at a full registry. */
function register(
  connection: Connection,
  seal: string,
  schema: SchemaRecord,
  maximum: number | null,
): "registered" | "exists" | "limit" {
  const { namespace_id, schema_id, version } = schema;
  if (connection.statement(EXISTS).get(namespace_id, schema_id, version) !== undefined) return "exists";
  if (maximum !== null) {
    const row = connection.statement(COUNT).get(namespace_id);
    if (row === undefined || integer(row, "entries") >= maximum) return "limit";
  }
  connection.statement(REGISTER)
    .run(namespace_id, schema_id, version, schema.schema_identity, schema.schema_bytes, seal, schema.record);
  return "registered";
}

/**
 * The schema of a row, its seal compared.
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

function corruptSchema({ schema_id, version, namespace_id }: SchemaRecord): StoreError {
  return new StoreError(
    "corrupt",
    `Cannot read schema "${schema_id}" version "${version}" of namespace ${namespace_id}: it is not what was written`,
  );
}

/** Whether a record is of the names that it is found by, and its document hashes to the identity beside it. */
export function saysItsNames(sha256: Sha256, schema: SchemaRecord): boolean {
  const record = parseObject(schema.record);
  const document = member(record, "schema") as JsonValue | undefined;
  return document !== undefined && identify(sha256, "schema", document) === schema.schema_identity &&
    (["schema_id", "version", "namespace_id"] as const).every((name) => member(record, name) === schema[name]);
}
