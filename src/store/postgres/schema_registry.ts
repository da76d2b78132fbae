/**
 * The schema registry on PostgreSQL, with the typed providers.
 *
 * Writes lock the row of their namespace first. So a limit on entries and the one active version of a provider hold for
 * all servers.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { openGate } from "../gate.ts";
import { type RegisteredSchema, toSchema, toVerifiedSchema } from "../rows/schemas.ts";
import { sealSchema } from "../seal.ts";
import { assertSchema, type SchemaLimits, tenantsOf } from "../shape.ts";
import { takeSchemas } from "../size.ts";
import { integer } from "../rows/columns.ts";
import { storeTypedProviders } from "../rows/typed_providers.ts";
import type { SchemaRecord, SchemaRegistry } from "../types.ts";
import type { Database, Transaction } from "./database.ts";
import { ready } from "./run_store.ts";
import { runSteps, statementsOn } from "./statements.ts";

const ADD_NAMESPACE = "INSERT INTO gate.namespaces (namespace_id) VALUES ($1) ON CONFLICT DO NOTHING";
const LOCK_NAMESPACE = "SELECT namespace_id FROM gate.namespaces WHERE namespace_id = $1 FOR UPDATE";

/** Runs a transaction that no other writer of the namespace overlaps. */
function inNamespace<Result>(
  database: Database,
  namespaceId: number,
  work: (query: Transaction) => Promise<Result>,
): Promise<Result> {
  return database.transaction(async (query) => {
    await query(ADD_NAMESPACE, [namespaceId]);
    await query(LOCK_NAMESPACE, [namespaceId]);
    return await work(query);
  });
}

const EXISTS = "SELECT 1 AS one FROM gate.schemas WHERE namespace_id = $1 AND schema_id = $2 AND version = $3";
/** Schemas without known tenants, and the largest number of one tenant, over all tenants or over the given ones. */
const COUNT = `SELECT
  (SELECT count(*) FROM gate.schemas WHERE namespace_id = $1 AND tenants IS NULL) +
  (SELECT coalesce(max(entries), 0) FROM (
    SELECT count(*) AS entries FROM gate.schemas, unnest(tenants) AS t (tenant)
    WHERE namespace_id = $1 AND ($2::int8[] IS NULL OR tenant = ANY ($2::int8[])) GROUP BY tenant) AS counted)
  AS entries`;
const REGISTER = `INSERT INTO gate.schemas
  (namespace_id, schema_id, version, schema_identity, schema_bytes, seal, record, tenants)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
/** The columns of a schema, with its tenants as a JSON array. */
export const SCHEMA_COLUMNS = `namespace_id, schema_id, version, schema_identity, schema_bytes, seal, record,
  array_to_json(tenants)::text AS tenants`;
const GET = `SELECT ${SCHEMA_COLUMNS} FROM gate.schemas WHERE namespace_id = $1 AND schema_id = $2 AND version = $3`;
const LIST = `SELECT ${SCHEMA_COLUMNS} FROM gate.schemas
  WHERE namespace_id = $1 AND (schema_id, version) > ($2, $3) ORDER BY schema_id, version LIMIT $4`;

/** Schemas of one statement of a list. */
const SLICE = 16;

/** A schema registry on an open database. Closing the registry calls `release`. */
export function createPostgresSchemaRegistry(
  database: Database,
  limits: SchemaLimits,
  sha256: Sha256,
  release: () => Promise<void>,
): SchemaRegistry {
  const use = openGate(database.name);
  const find = async (...name: readonly [number, string, string]): Promise<RegisteredSchema | null> => {
    const [row] = await database.query(GET, name);
    return row === undefined ? null : toVerifiedSchema(sha256, row);
  };
  return {
    register: (schema, tenants = null) =>
      use(() => {
        assertSchema(schema, limits);
        const sealed = { schema, tenants: tenantsOf(tenants) };
        const registration = { ...sealed, seal: sealSchema(sha256, sealed) };
        return inNamespace(database, schema.namespace_id, (query) => register(query, registration, limits.max_entries));
      }),
    get: (...name) => use(async () => (await find(...name))?.schema ?? null),
    getTenants: (...name) => use(async () => (await find(...name))?.tenants ?? null),
    list: (namespaceId, after, limit, maximumCharacters) =>
      use(() => list(database, sha256, { namespaceId, after, limit, maximumCharacters })),
    typedProviders: storeTypedProviders(
      sha256,
      statementsOn(database, use).read,
      (namespaceId, _bytes, begin) =>
        use(() => inNamespace(database, namespaceId, (query) => runSteps(query, begin()))),
    ),
    ready: () => use(() => ready(database)),
    close: () => use.close(release),
  };
}

/** A schema to register. */
interface Registration extends RegisteredSchema {
  readonly seal: string;
}

/** Existence is checked before the limit, so that a repeated registration has the same result in a full registry. */
async function register(
  query: Transaction,
  { schema, seal, tenants }: Registration,
  maximum: number | null,
): Promise<"registered" | "exists" | "limit"> {
  const { namespace_id, schema_id, version } = schema;
  if ((await query(EXISTS, [namespace_id, schema_id, version])).length > 0) return "exists";
  if (maximum !== null) {
    const [row] = await query(COUNT, [namespace_id, tenants]);
    if (row === undefined || integer(row, "entries") >= maximum) return "limit";
  }
  const names = [namespace_id, schema_id, version];
  await query(REGISTER, [...names, schema.schema_identity, schema.schema_bytes, seal, schema.record, tenants]);
  return "registered";
}

interface ListRequest {
  readonly namespaceId: number;
  readonly after: { readonly schema_id: string; readonly version: string } | null;
  readonly limit: number;
  readonly maximumCharacters: number | undefined;
}

async function list(database: Database, sha256: Sha256, request: ListRequest): Promise<SchemaRecord[]> {
  const { namespaceId, after, limit, maximumCharacters } = request;
  const found: SchemaRecord[] = [];
  for (let more = true; more && found.length < limit;) {
    const last = found.at(-1) ?? after;
    const count = Math.min(SLICE, limit - found.length);
    const rows = await database.query(LIST, [namespaceId, last?.schema_id ?? "", last?.version ?? "", count]);
    found.push(...rows.map((row) => toSchema(sha256, row).schema));
    const taken = takeSchemas(found, (schema) => schema, maximumCharacters);
    if (taken.length < found.length) return taken;
    more = rows.length === count;
  }
  return found;
}
