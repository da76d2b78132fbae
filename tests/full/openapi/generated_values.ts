/**
 * Builds values out of JSON Schemas. It reads the schemas by itself, and uses nothing of the engine that judges the values.
 *
 * @module
 */

import fc from "../../packages/fast_check.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../../src/canonical/json.ts";

/** How to choose where a schema leaves a choice. */
export interface Strategy {
  /** Index of the branch of a union, modulo their number. */
  readonly branch: number;
  /** Whether optional members are there. */
  readonly isFull: boolean;
}

/** The strategies in the order in which they are worth a try. */
export const STRATEGIES: readonly Strategy[] = [0, 1, 2, 3].flatMap((branch) => [
  { branch, isFull: true },
  { branch, isFull: false },
]);

/** Levels below which optional parts and items are left out. */
const DEPTH_FULL = 5;
/** Levels after which a value is given up. */
const DEPTH_MAXIMUM = 60;

interface Generation {
  readonly root: JsonObject;
  readonly strategy: Strategy;
}

/** A value for a schema; the caller has to check whether it is valid. */
export function valueFor(schema: JsonValue, strategy: Strategy): JsonValue {
  return generate({ root: isJsonObject(schema) ? schema : {}, strategy }, schema, 0);
}

function generate(generation: Generation, schema: JsonValue, depth: number): JsonValue {
  const merged = merge(generation, schema, depth);
  if (depth > DEPTH_MAXIMUM) return null;
  const constant = member(merged, "const");
  if (constant !== undefined) return constant;
  const values = member(merged, "enum");
  if (isJsonArray(values) && values.length > 0) return values.find((value) => value !== null) ?? null;
  switch (typeOf(merged, depth)) {
    case "object":
      return objectFor(generation, merged, depth);
    case "array":
      return arrayFor(generation, merged, depth);
    case "string":
      return textFor(merged);
    case "integer":
    case "number":
      return numberFor(merged);
    case "boolean":
      return true;
    default:
      return null;
  }
}

function typeOf(schema: JsonObject, depth: number): string {
  const type = member(schema, "type");
  const types = (isJsonArray(type) ? type : type === undefined ? [] : [type]).map(String);
  if (depth > DEPTH_FULL * 2 && types.includes("null")) return "null";
  const [first] = types.filter((one) => one !== "null");
  if (first !== undefined) return first;
  if (types.includes("null")) return "null";
  if (["properties", "required", "additionalProperties"].some((name) => Object.hasOwn(schema, name))) return "object";
  return Object.hasOwn(schema, "items") ? "array" : "string";
}

/** The schema without references and unions: every part that applies to the same value as one schema. */
function merge(generation: Generation, schema: JsonValue, depth: number): JsonObject {
  if (!isJsonObject(schema) || depth > DEPTH_MAXIMUM) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  let merged: JsonObject = own;
  const add = (part: JsonValue): void => {
    merged = joined(merged, merge(generation, part, depth + 1));
  };
  if (typeof $ref === "string") add(definition(generation, $ref));
  if (isJsonArray(allOf)) { for (const part of allOf) add(part); }
  for (const branches of [anyOf, oneOf]) {
    if (isJsonArray(branches)) add(branches[generation.strategy.branch % branches.length] ?? true);
  }
  return merged;
}

function definition({ root }: Generation, reference: string): JsonValue {
  const name = decodeURIComponent(reference.replace("#/$defs/", "")).replaceAll("~1", "/").replaceAll("~0", "~");
  return (root["$defs"] as JsonObject)[name] ?? true;
}

function joined(a: JsonObject, b: JsonObject): JsonObject {
  const both: Record<string, JsonValue> = { ...a, ...b };
  const [left, right] = [a["properties"], b["properties"]];
  if (isJsonObject(left) && isJsonObject(right)) {
    const shared = Object.keys(right).filter((name) => Object.hasOwn(left, name));
    const together = shared.map((name) => [name, { allOf: [left[name] ?? true, right[name] ?? true] }] as const);
    both["properties"] = { ...left, ...right, ...Object.fromEntries(together) };
  }
  const required = [a, b].flatMap((one) => isJsonArray(one["required"]) ? one["required"] : []);
  if (required.length > 0) both["required"] = [...new Set(required)];
  const types = [a, b].map((one) => one["type"]).flatMap((type) => type === undefined ? [] : [[type].flat()]);
  if (types.length === 2) both["type"] = (types[0] ?? []).filter((type) => types[1]?.includes(type)) as JsonValue[];
  return both;
}

function objectFor(generation: Generation, schema: JsonObject, depth: number): JsonValue {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = isJsonArray(schema["required"]) ? schema["required"].map(String) : [];
  const optional = generation.strategy.isFull && depth < DEPTH_FULL ? Object.keys(properties) : [];
  const names = [...new Set([...required, ...optional])].filter((name) => properties[name] !== false);
  const members = names.map((name) => [name, generate(generation, properties[name] ?? true, depth + 1)] as const);
  const other = schema["additionalProperties"];
  const least = Number(schema["minProperties"] ?? (isJsonObject(other) && members.length === 0 ? 1 : 0));
  const more = Array.from({ length: Math.max(0, least - members.length) }, (_, index) => `extra${index}`);
  return Object.fromEntries([
    ...members,
    ...more.map((name) => [name, generate(generation, other ?? true, depth + 1)] as const),
  ]);
}

function arrayFor(generation: Generation, schema: JsonObject, depth: number): JsonValue {
  const { strategy: { isFull } } = generation;
  const least = Number(schema["minItems"] ?? 0);
  const wanted = Math.max(least, isFull && depth < DEPTH_FULL ? 1 : 0);
  const count = Math.min(wanted, Number(schema["maxItems"] ?? Infinity));
  const prefix = isJsonArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  return Array.from(
    { length: count },
    (_, index) => generate(generation, prefix[index] ?? schema["items"] ?? true, depth + 1),
  );
}

function textFor(schema: JsonObject): string {
  const { pattern, format, minLength = 0, maxLength = Infinity } = schema;
  if (typeof pattern === "string") {
    return fc.sample(fc.stringMatching(new RegExp(pattern, "u")), { numRuns: 1, seed: 7 })[0] ?? "";
  }
  const text = format === "date-time" ? "2024-06-01T12:00:00Z" : format === "date" ? "2024-06-01" : "text";
  return text.padEnd(Number(minLength), "x").slice(0, Number(maxLength));
}

function numberFor(schema: JsonObject): number {
  const least = schema["minimum"] ?? schema["exclusiveMinimum"];
  const most = schema["maximum"] ?? schema["exclusiveMaximum"];
  const exclusive = Object.hasOwn(schema, "exclusiveMinimum") ? 1 : 0;
  if (typeof least === "number") return least + exclusive;
  return typeof most === "number" ? Math.min(1, most) : 1;
}
