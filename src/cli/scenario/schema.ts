/** `gate scenario schema`: prints the JSON Schemas of scenario files and cases files, for editors. */

import type { JsonObject } from "../../canonical/json.ts";
import { closed, type Published, published, schemaOf } from "../../canonical/shape.ts";
import { characters } from "../../canonical/table_shape.ts";
import { FULL_SPEC_SCHEMA } from "../../tools/framework/full_schemas.ts";
import { LAW_FILE_SCHEMA } from "../../scenario/law_file/schema.ts";
import { type JsonFlag, prettyJson, writeAnswer } from "../terminal/output.ts";
import { CASES_MAXIMUM } from "./cases.ts";

const TEXT: JsonObject = { type: "string", minLength: 1 };
const THEN: JsonObject = {
  type: "string",
  description: "complete, active, held: EXPR, unknown: EXPR, waits for N of NAMES, error CODE, ready: STAGES, " +
    "or STAGE is OUTCOME",
};

function byName(values: JsonObject | true, description: string): JsonObject {
  return { type: "object", description, additionalProperties: values };
}

const GIVEN: JsonObject = {
  now: { type: "string", format: "date-time", description: "The time of the evaluation, of clocks and of signatures" },
  sign: { type: "array", items: { type: ["string", "object"] }, description: "People who sign: NAME or {NAME: VALUE}" },
  items: byName({ type: "array" }, "Several values of the caller for a name"),
  files: byName(true, "What files of the provider json hold: a text as it stands, else JSON"),
  answers: byName(true, "What services answer by URL: a body, or {status, headers, body}"),
};
const STEP: JsonObject = {
  ...GIVEN,
  stage: { ...TEXT, description: "The only stage that is attempted (default: every stage that is ready)" },
  then: { anyOf: [THEN, { type: "object" }, { type: "array", items: { anyOf: [THEN, { type: "object" }] } }] },
};

function named(properties: JsonObject, description: string): JsonObject {
  return { type: "object", description: `${description}; other members are values by name`, properties };
}

function textOf(shape: Published): JsonObject {
  return schemaOf(shape, true).schema as JsonObject;
}

const NAME = characters(1);
const SCHEMA: JsonObject = {
  type: "object",
  description: "A schema that conditions name, as in the schema registry; file is relative to the folder of the cases",
  ...textOf(closed(
    { schema_id: NAME, version: NAME },
    { schema: published({ type: ["object", "boolean"] }), file: NAME },
  )),
};

/** The schema of a cases file. */
const CASES_SCHEMA: JsonObject = {
  type: "object",
  description: "Test cases by name: what is given, and how the run ends",
  properties: {
    given: named(GIVEN, "What is given in every case"),
    proves: {
      type: "array",
      description: "What the run, or a stage, cannot be completed without; decided for the law",
      items: { anyOf: [TEXT, textOf(closed({ needs: NAME }, { stage: NAME }))] },
    },
    schemas: { type: "array", items: SCHEMA },
  },
  additionalProperties: named(
    { ...STEP, steps: { type: "array", minItems: 1, items: named(STEP, "A step of a case over time") } },
    "A case",
  ),
  maxProperties: CASES_MAXIMUM + 3,
};

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

/** The schema of a scenario file: that of a law file, else of a spec. */
export function scenarioSchema(): JsonObject {
  const { $schema = DIALECT, title = "", $defs = {}, ...spec } = FULL_SPEC_SCHEMA;
  return { $schema, title, if: { required: ["law"] }, then: LAW_FILE_SCHEMA, else: spec, $defs };
}

/** The schema of a cases file. */
function casesSchema(): JsonObject {
  return { $schema: DIALECT, title: "Cases of a gate scenario", ...CASES_SCHEMA };
}
