/**
 * A schema registry in memory.
 *
 * @module
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { assertSchema, type SchemaLimits, tenantsOf } from "../shape.ts";
import { takeSchemas } from "../size.ts";
import { type SchemaRecord, type SchemaRegistry, StoreError } from "../types.ts";
import { createMemoryTypedProviders } from "./typed_providers.ts";

/** A schema and its tenants. */
interface Registered {
  readonly schema: SchemaRecord;
  readonly tenants: readonly number[] | null;
}

type SchemaKey = Pick<SchemaRecord, "schema_id" | "version">;

/** Opens an empty schema registry in memory. */
export function openMemorySchemaRegistry(limits: SchemaLimits): SchemaRegistry {
  // By namespace, then by id and version, separated by a NUL, which no name contains.
  const namespaces = new Map<number, Map<string, Registered>>();
  let open = true;
  const answer = <Result>(work: () => Result): Promise<Result> => {
    if (!open) return Promise.reject(new StoreError("closed", "Cannot use the schema registry: it is closed"));
    return new Promise((resolve) => resolve(work()));
  };
  const register = (schema: SchemaRecord, given: readonly number[] | null): "registered" | "exists" | "limit" => {
    assertSchema(schema, limits);
    const tenants = tenantsOf(given);
    const entries = namespaces.get(schema.namespace_id) ?? new Map<string, Registered>();
    if (entries.has(keyOf(schema))) return "exists";
    const { max_entries } = limits;
    if (max_entries !== null && entriesFor([...entries.values()], tenants) >= max_entries) return "limit";
    namespaces.set(schema.namespace_id, entries.set(keyOf(schema), { schema: { ...schema }, tenants }));
    return "registered";
  };
  const list = (
    namespaceId: number,
    after: SchemaKey | null,
    limit: number,
    maximumCharacters: number | undefined,
  ): SchemaRecord[] => {
    const found = [...namespaces.get(namespaceId)?.values() ?? []].map(({ schema }) => schema)
      .filter((schema) => after === null || compareSchemas(schema, after) > 0)
      .sort(compareSchemas)
      .slice(0, limit);
    return takeSchemas(found, (schema) => schema, maximumCharacters);
  };
  return {
    register: (schema, tenants = null) => answer(() => register(schema, tenants)),
    get: (namespaceId, schema_id, version) =>
      answer(() => namespaces.get(namespaceId)?.get(keyOf({ schema_id, version }))?.schema ?? null),
    getTenants: (namespaceId, schema_id, version) =>
      answer(() => {
        const tenants = namespaces.get(namespaceId)?.get(keyOf({ schema_id, version }))?.tenants ?? null;
        return tenants?.toSorted((a, b) => a - b) ?? null;
      }),
    list: (namespaceId, after, limit, maximumCharacters) =>
      answer(() => list(namespaceId, after, limit, maximumCharacters)),
    typedProviders: createMemoryTypedProviders(answer),
    ready: () => answer(() => undefined),
    close: () => {
      open = false;
      return Promise.resolve();
    },
  };
}

/** The largest number of schemas that count for one of the tenants; null for every tenant. */
function entriesFor(entries: readonly Registered[], tenants: readonly number[] | null): number {
  const counts = new Map<number, number>();
  for (const tenant of entries.flatMap((entry) => entry.tenants ?? [])) {
    if (tenants === null || tenants.includes(tenant)) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  }
  return entries.filter((entry) => entry.tenants === null).length + Math.max(0, ...counts.values());
}

function keyOf(schema: SchemaKey): string {
  return `${schema.schema_id}\0${schema.version}`;
}

function compareSchemas(a: SchemaKey, b: SchemaKey): number {
  return compareCodePoints(a.schema_id, b.schema_id) || compareCodePoints(a.version, b.version);
}
