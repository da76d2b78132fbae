import { isJsonArray, isJsonObject, type JsonValue, member } from "../canonical/json.ts";
import type { CheckFacts } from "./types.ts";

type ResultType = CheckFacts["result_types"][number];

const TYPES: readonly ResultType[] = ["string", "integer", "number", "boolean", "null", "object", "array"];

/**
 * The JSON types that a schema allows by its `type`, `const`, `enum`, `anyOf` and `oneOf`. The result is `any` if these
 * do not limit the type, or if `x-gate.dynamic_type` declares that it is known only at run time.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { resultTypes } from "@/law/result_types.ts";
 *
 * assert.deepEqual(resultTypes({ type: ["string", "null"] }), ["string", "null"]);
 * assert.deepEqual(resultTypes({ "x-gate": { dynamic_type: true } }), ["any"]);
 * ```
 */
export function resultTypes(schema: JsonValue): readonly ResultType[] {
  const types = typesOf(schema, 0);
  return types === null ? ["any"] : TYPES.filter((type) => types.has(type));
}

/** Null if the schema does not limit the type. */
function typesOf(schema: JsonValue, depth: number): ReadonlySet<ResultType> | null {
  if (!isJsonObject(schema) || depth > 16) return null;
  const annotation = member(schema, "x-gate");
  if (isJsonObject(annotation) && member(annotation, "dynamic_type") === true) return null;
  const type = member(schema, "type");
  if (typeof type === "string") return new Set([type as ResultType]);
  if (isJsonArray(type)) return new Set(type as readonly ResultType[]);
  const constant = member(schema, "const");
  if (constant !== undefined) return new Set([typeOf(constant)]);
  const values = member(schema, "enum");
  if (isJsonArray(values)) return new Set(values.map(typeOf));
  const branches = member(schema, "anyOf") ?? member(schema, "oneOf");
  return isJsonArray(branches) ? union(branches, depth) : null;
}

function union(branches: readonly JsonValue[], depth: number): ReadonlySet<ResultType> | null {
  const types = new Set<ResultType>();
  for (const branch of branches) {
    const found = typesOf(branch, depth + 1);
    if (found === null) return null;
    for (const type of found) types.add(type);
  }
  return types;
}

function typeOf(value: JsonValue): ResultType {
  if (value === null) return "null";
  if (isJsonArray(value)) return "array";
  if (isJsonObject(value)) return "object";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value === "string" ? "string" : "boolean";
}
