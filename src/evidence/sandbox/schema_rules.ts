/**
 * What a user's JSON Schema may not hold: things that the validator would read in another way than JSON Schema 2020-12
 * does, or would not enforce. Each is refused at registration, because a rule that is silently not applied would let
 * values pass by absence.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";

/** How deep schemas may be nested within each other, counted in JSON containers. */
export const SCHEMA_DEPTH_MAXIMUM = 64;

/** Keywords whose value is one schema. */
const ONE = new Set([
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords whose value is an array of schemas. */
const SEVERAL = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
/** Keywords whose value maps names to schemas, or to arrays of names. */
const NAMED = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** Keywords that the validator takes for something that 2020-12 does not know. */
const FOREIGN: ReadonlyMap<string, string> = new Map([
  ["$async", "it is no keyword of JSON Schema 2020-12"],
  ["id", 'it is a keyword of older drafts; use "$id"'],
  ["nullable", 'it is no keyword of JSON Schema 2020-12; use "type": [..., "null"]'],
]);

interface Walk {
  refusal: string | null;
  contains: boolean;
  unevaluatedItems: boolean;
}

/**
 * Why a schema is refused before it is compiled; null when nothing speaks against it.
 *
 * @param schema The JSON Schema document
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { refuseSchema } from "@/evidence/sandbox/schema_rules.ts";
 *
 * assert.equal(refuseSchema({ properties: { nullable: { type: "string" } } }), null);
 * assert.match(refuseSchema({ type: "string", nullable: true }) ?? "", /^\$\.nullable: /);
 * ```
 */
export function refuseSchema(schema: JsonValue): string | null {
  const walk: Walk = { refusal: null, contains: false, unevaluatedItems: false };
  visit(walk, schema, []);
  if (walk.refusal !== null) return walk.refusal;
  // The validator counts every item as evaluated once there is a "contains", whether it matched or not.
  if (walk.contains && walk.unevaluatedItems) return '$: "contains" and "unevaluatedItems" cannot be enforced together';
  return null;
}

function visit(walk: Walk, schema: JsonValue, path: (string | number)[]): void {
  if (walk.refusal !== null) return;
  if (path.length > SCHEMA_DEPTH_MAXIMUM) {
    walk.refusal = `${formatPath(path)}: schemas are nested deeper than ${SCHEMA_DEPTH_MAXIMUM}`;
    return;
  }
  if (!isJsonObject(schema)) return;
  if (Object.hasOwn(schema, "contains")) walk.contains = true;
  if (Object.hasOwn(schema, "unevaluatedItems")) walk.unevaluatedItems = true;
  for (const [keyword, value] of Object.entries(schema)) {
    const foreign = FOREIGN.get(keyword);
    if (foreign !== undefined) walk.refusal ??= `${formatPath([...path, keyword])}: ${foreign}`;
    visitKeyword(walk, keyword, value, [...path, keyword]);
  }
}

function visitKeyword(walk: Walk, keyword: string, value: JsonValue, path: (string | number)[]): void {
  if (ONE.has(keyword)) visit(walk, value, path);
  else if (SEVERAL.has(keyword) && isJsonArray(value)) {
    value.forEach((entry, index) => visit(walk, entry, [...path, index]));
  } else if (NAMED.has(keyword) && isJsonObject(value)) visitNamed(walk, value, path);
}

function visitNamed(walk: Walk, map: JsonObject, path: (string | number)[]): void {
  for (const [name, value] of Object.entries(map)) {
    // The validator leaves this one name out of its rules.
    if (name === "__proto__") {
      walk.refusal ??= `${formatPath([...path, name])}: a rule for this name cannot be enforced`;
    }
    visit(walk, value, [...path, name]);
  }
}
