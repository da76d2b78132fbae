/**
 * `gate scenario schema`: prints the JSON Schemas of scenario files and cases files, for editors.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { FULL_SPEC_SCHEMA } from "../../tools/framework/full_schemas.ts";
import { LAW_FILE_SCHEMA } from "../../scenario/law_file/schema.ts";
import { type JsonFlag, prettyJson, writeAnswer } from "../terminal/output.ts";
import { CASES_SCHEMA } from "./cases_schema.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The flags of `gate scenario schema`. */
export interface ScenarioSchemaFlags extends JsonFlag {
  readonly cases?: boolean;
}

/** Runs `gate scenario schema`. */
export function runScenarioSchema(flags: ScenarioSchemaFlags): number {
  const schema = flags.cases === true ? casesSchema() : scenarioSchema();
  return writeAnswer("scenario schema", flags, schema, prettyJson(schema));
}

/** A source of a condition in short form. */
const SOURCE: JsonObject = {
  type: "object",
  properties: { provider: { $ref: "#/$defs/id" }, check: { $ref: "#/$defs/id" }, params: true },
  required: ["provider", "check"],
  additionalProperties: false,
};

/** A value without a type, which the domain of its condition gives. */
const BARE: JsonObject = {
  not: {
    type: "object",
    anyOf: ["value_type", "parameter", "relative_to"].map((name) => ({ required: [name] })),
  },
};

/** The schema of a scenario file: that of a law file, else of a spec with the short form of its conditions. */
export function scenarioSchema(): JsonObject {
  const types = FULL_SPEC_SCHEMA["$defs"] as Readonly<Record<string, JsonObject>>;
  const { condition = {}, predicate = {} } = types;
  const from = {
    description: "The checks that acquire the value",
    anyOf: [SOURCE, { type: "array", items: SOURCE, minItems: 1 }],
  };
  const { $schema = DIALECT, title = "", $defs: _, ...spec } = FULL_SPEC_SCHEMA;
  return {
    $schema,
    title,
    if: { required: ["law"] },
    then: LAW_FILE_SCHEMA,
    else: spec,
    $defs: {
      ...types,
      condition: { ...condition, properties: { ...condition["properties"] as JsonObject, from } },
      predicate: { ...predicate, oneOf: (predicate["oneOf"] as readonly JsonObject[]).map(withBareValues) },
    },
  };
}

/** A predicate whose expected values may have no type. */
function withBareValues(predicate: JsonObject): JsonObject {
  const properties = predicate["properties"] as JsonObject;
  const expected = member(properties, "expected");
  if (!isJsonObject(expected)) return predicate;
  const items = member(expected, "items");
  const values = items === undefined ? { anyOf: [expected, BARE] } : { ...expected, items: { anyOf: [items, BARE] } };
  return { ...predicate, properties: { ...properties, expected: values } };
}

/** The schema of a cases file. */
function casesSchema(): JsonObject {
  return { $schema: DIALECT, title: "Cases of a gate scenario", ...CASES_SCHEMA };
}
