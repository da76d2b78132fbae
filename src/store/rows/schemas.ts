/** Registered schemas as rows, for every store that has SQL. */

import { identify, type Sha256 } from "../../canonical/identity.ts";
import { isJsonArray, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { member, parseObject } from "../record_check.ts";
import { schemaSealHolds } from "../seal.ts";
import { integer, type Row, text } from "./columns.ts";
import { type SchemaRecord, StoreError } from "../types.ts";

/** A schema with the tenants for which it counts. */
export interface RegisteredSchema {
  readonly schema: SchemaRecord;
  /** In ascending order; null for every tenant. */
  readonly tenants: readonly number[] | null;
}

/**
 * The schema of a row, verified by its seal. The row has its tenants as a JSON array, or null.
 *
 * @throws {StoreError} `corrupt`
 */
export function toSchema(sha256: Sha256, row: Row): RegisteredSchema {
  const schema: SchemaRecord = {
    schema_id: text(row, "schema_id"),
    version: text(row, "version"),
    namespace_id: integer(row, "namespace_id"),
    record: text(row, "record"),
    schema_identity: text(row, "schema_identity"),
    schema_bytes: integer(row, "schema_bytes"),
  };
  const registered = { schema, tenants: tenantsOf(row) };
  if (schemaSealHolds(sha256, registered, text(row, "seal"))) return registered;
  throw corruptSchema(schema);
}

function tenantsOf(row: Row): readonly number[] | null {
  if (row["tenants"] === null) return null;
  const tenants = readJson(text(row, "tenants"));
  if (!isJsonArray(tenants)) return null;
  return tenants.filter((tenant) => typeof tenant === "number").toSorted((a, b) => a - b);
}

/**
 * The schema of a row, verified by its seal and by its document.
 *
 * @throws {StoreError} `corrupt`
 */
export function toVerifiedSchema(sha256: Sha256, row: Row): RegisteredSchema {
  const registered = toSchema(sha256, row);
  if (!matchesNames(sha256, registered.schema)) throw corruptSchema(registered.schema);
  return registered;
}

function corruptSchema({ schema_id, version, namespace_id }: SchemaRecord): StoreError {
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
