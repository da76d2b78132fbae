/**
 * The JSON Schema of cases files.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { CASES_MAXIMUM, RUN_EXPECTATIONS, STAGE_EXPECTATIONS } from "./cases.ts";

const TEXT: JsonObject = { type: "string", minLength: 1 };

function closed(properties: JsonObject, required: readonly string[], description: string): JsonObject {
  return { type: "object", description, properties, required, additionalProperties: false };
}

function list(items: JsonObject, description: string): JsonObject {
  return { type: "array", description, items };
}

function byName(values: JsonObject | true, description: string): JsonObject {
  return { type: "object", description, additionalProperties: values };
}

const KLEENE: JsonObject = { enum: [true, false, "true", "false", "unknown"] };

const INSTANT: JsonObject = { type: "string", format: "date-time" };

const STAGE: JsonObject = closed(
  {
    stage: { ...TEXT, description: "The stage; it is opened first if it is ready" },
    evaluated_at: { ...INSTANT, description: "The evaluation time, to which expected values may be relative" },
    given: byName(true, "A value for each condition: sent by the caller if allowed, else found by its bindings"),
    items: byName({ type: "array" }, "Several values for a condition, each an item from the caller"),
    acquired: byName(true, "The result of each binding; null if it finds nothing"),
    submitted: byName(
      { type: "object", additionalProperties: true },
      "Statements that wait: for each condition the last value of each key id",
    ),
    signed: list(TEXT, "Conditions whose items count as signed by a trusted key"),
    expect: { enum: [true, false, ...STAGE_EXPECTATIONS], description: "The expected outcome of the stage" },
    conditions: byName(KLEENE, "The expected truth values of single conditions"),
  },
  ["stage", "expect"],
  "One attempt at a stage",
);

const CASE: JsonObject = closed(
  {
    name: TEXT,
    parameters: byName(true, "The values of the law's parameters, instead of those of the file"),
    evaluated_at: { ...INSTANT, description: "The evaluation time of the stages that give none" },
    stages: { ...list(STAGE, "The attempts of the run, in order"), minItems: 1 },
    expect: { enum: RUN_EXPECTATIONS, description: "The expected status of the run" },
    ready: list(TEXT, "Exactly the stages that are ready at the end"),
  },
  ["name", "stages", "expect"],
  "One run",
);

const SCHEMA: JsonObject = closed(
  {
    schema_id: TEXT,
    version: TEXT,
    schema: { type: ["object", "boolean"] },
    file: {
      ...TEXT,
      description:
        "Instead of schema: a file with the schema or a list of schema records, relative to the folder of the cases",
    },
  },
  ["schema_id", "version"],
  "A schema that conditions name, as in the schema registry",
);

/** The schema of a cases file. */
export const CASES_SCHEMA: JsonObject = closed(
  {
    schemas: list(SCHEMA, "The schemas that the law's conditions name"),
    parameters: byName(true, "The values of the law's parameters"),
    cases: { ...list(CASE, "The cases"), minItems: 1, maxItems: CASES_MAXIMUM },
  },
  ["cases"],
  "Test cases: given evidence, expected outcome",
);
