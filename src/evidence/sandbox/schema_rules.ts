/**
 * What a user's JSON Schema may not hold: things that the validator would read in another way than JSON Schema 2020-12
 * does, or would not enforce. Each is refused at registration, because a rule that is silently not applied would let
 * values pass by absence.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { quote } from "../../law/suggest.ts";

/** How deep schemas may be nested within each other, counted in JSON containers. */
export const SCHEMA_DEPTH_MAXIMUM = 64;

/** The only dialect there is. */
const DIALECT = "https://json-schema.org/draft/2020-12/schema";

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
  ["$recursiveAnchor", 'it is a keyword of older drafts; use "$dynamicAnchor"'],
  ["$recursiveRef", 'it is a keyword of older drafts; use "$dynamicRef"'],
]);

interface Walk {
  /** The one dynamic anchor that the validator finds from everywhere: that of the document itself. */
  readonly anchor: JsonValue | undefined;
  /** Every schema of the document that was looked at. */
  readonly schemas: Set<unknown>;
  refusal: string | null;
  contains: boolean;
  unevaluatedItems: boolean;
}

/** What was found out about a schema: why it is refused before it is compiled, or the schemas in it. */
export type SchemaReview = { readonly refusal: string } | { readonly schemas: ReadonlySet<unknown> };

/**
 * Looks whether a schema may be compiled.
 *
 * @param schema The JSON Schema document
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reviewSchema } from "@/evidence/sandbox/schema_rules.ts";
 *
 * assert.ok("schemas" in reviewSchema({ properties: { nullable: { type: "string" } } }));
 * const refused = reviewSchema({ type: "string", nullable: true });
 * assert.match("refusal" in refused ? refused.refusal : "", /^\$\.nullable: /);
 * ```
 */
export function reviewSchema(schema: JsonValue): SchemaReview {
  const anchor = isJsonObject(schema) ? member(schema, "$dynamicAnchor") : undefined;
  const walk: Walk = { anchor, schemas: new Set(), refusal: null, contains: false, unevaluatedItems: false };
  visit(walk, schema, []);
  // The validator counts every item as evaluated once there is a "contains", whether it matched or not.
  if (walk.refusal === null && walk.contains && walk.unevaluatedItems) {
    walk.refusal = '$: "contains" and "unevaluatedItems" cannot be enforced together';
  }
  return walk.refusal === null ? { schemas: walk.schemas } : { refusal: walk.refusal };
}

function visit(walk: Walk, schema: JsonValue, path: (string | number)[]): void {
  if (walk.refusal !== null) return;
  if (path.length > SCHEMA_DEPTH_MAXIMUM) {
    walk.refusal = `${formatPath(path)}: schemas are nested deeper than ${SCHEMA_DEPTH_MAXIMUM}`;
    return;
  }
  if (!isJsonObject(schema)) return;
  walk.schemas.add(schema);
  if (Object.hasOwn(schema, "contains")) walk.contains = true;
  if (Object.hasOwn(schema, "unevaluatedItems")) walk.unevaluatedItems = true;
  for (const [keyword, value] of Object.entries(schema)) {
    const foreign = FOREIGN.get(keyword);
    if (foreign !== undefined) walk.refusal ??= `${formatPath([...path, keyword])}: ${foreign}`;
    visitKeyword(walk, keyword, value, [...path, keyword]);
  }
}

function visitKeyword(walk: Walk, keyword: string, value: JsonValue, path: (string | number)[]): void {
  const why = refuseKeyword(walk, keyword, value);
  if (why !== null) walk.refusal ??= `${formatPath(path)}: ${why}`;
  if (ONE.has(keyword)) visit(walk, value, path);
  else if (SEVERAL.has(keyword) && isJsonArray(value)) {
    value.forEach((entry, index) => visit(walk, entry, [...path, index]));
  } else if (NAMED.has(keyword) && isJsonObject(value)) visitNamed(walk, value, path);
}

/** Why a keyword with this value cannot be enforced, whatever stands in it. */
function refuseKeyword({ anchor }: Walk, keyword: string, value: JsonValue): string | null {
  if (keyword === "required") return refuseNames(value);
  if (keyword === "$schema" && typeof value === "string" && value.replace(/#$/, "") !== DIALECT) {
    return `must be ${quote(DIALECT)}, got ${quote(value)}`;
  }
  // The validator looks anchors up among names that every object inherits too.
  if (keyword === "$dynamicAnchor" && typeof value === "string" && value in {}) return "this name cannot be enforced";
  // One that the document itself does not have would be read as a reference to the document.
  if (keyword === "$dynamicRef" && value !== `#${anchor}`) {
    return "only the $dynamicAnchor of the whole schema can be referred to";
  }
  return keyword === "$anchor" && value === anchor ? "the whole schema has a $dynamicAnchor of this name" : null;
}

/** The validator takes a member without a name for one that is there. */
function refuseNames(names: JsonValue): string | null {
  return isJsonArray(names) && names.includes("") ? "a rule for a member without a name cannot be enforced" : null;
}

function visitNamed(walk: Walk, map: JsonObject, path: (string | number)[]): void {
  for (const [name, value] of Object.entries(map)) {
    // The validator leaves this one name out of its rules.
    const why = name === "__proto__" ? "a rule for this name cannot be enforced" : refuseNames(value);
    if (why !== null) walk.refusal ??= `${formatPath([...path, name])}: ${why}`;
    visit(walk, value, [...path, name]);
  }
}
