/**
 * A schema registry in memory.
 *
 * @module
 */

import { compareCodePoints } from "../../canonical/order.ts";
import { assertSchema, type SchemaLimits } from "../shape.ts";
import { takeSchemas } from "../size.ts";
import { type SchemaRecord, type SchemaRegistry, StoreError } from "../types.ts";

type SchemaKey = Pick<SchemaRecord, "schema_id" | "version">;

/** Opens an empty schema registry in memory. */
export function openMemorySchemaRegistry(limits: SchemaLimits): SchemaRegistry {
  // By namespace; within it by id and version, which a NUL parts because no name holds one.
  const namespaces = new Map<number, Map<string, SchemaRecord>>();
  let open = true;
  const answer = <Result>(work: () => Result): Promise<Result> => {
    if (!open) return Promise.reject(new StoreError("closed", "Cannot use the schema registry: it is closed"));
    return new Promise((resolve) => resolve(work()));
  };
  const register = (schema: SchemaRecord): "registered" | "exists" | "limit" => {
    assertSchema(schema, limits);
    const entries = namespaces.get(schema.namespace_id) ?? new Map<string, SchemaRecord>();
    if (entries.has(keyOf(schema))) return "exists";
    if (limits.max_entries !== null && entries.size >= limits.max_entries) return "limit";
    namespaces.set(schema.namespace_id, entries.set(keyOf(schema), { ...schema }));
    return "registered";
  };
  const list = (
    namespaceId: number,
    after: SchemaKey | null,
    limit: number,
    maximumCharacters: number | undefined,
  ): SchemaRecord[] => {
    const found = [...namespaces.get(namespaceId)?.values() ?? []]
      .filter((schema) => after === null || compareSchemas(schema, after) > 0)
      .sort(compareSchemas)
      .slice(0, limit);
    return takeSchemas(found, (schema) => schema, maximumCharacters);
  };
  return {
    register: (schema) => answer(() => register(schema)),
    get: (namespaceId, schema_id, version) =>
      answer(() => namespaces.get(namespaceId)?.get(keyOf({ schema_id, version })) ?? null),
    list: (namespaceId, after, limit, maximumCharacters) =>
      answer(() => list(namespaceId, after, limit, maximumCharacters)),
    ready: () => answer(() => undefined),
    close: () => {
      open = false;
      return Promise.resolve();
    },
  };
}

function keyOf(schema: SchemaKey): string {
  return `${schema.schema_id}\0${schema.version}`;
}

function compareSchemas(a: SchemaKey, b: SchemaKey): number {
  return compareCodePoints(a.schema_id, b.schema_id) || compareCodePoints(a.version, b.version);
}
