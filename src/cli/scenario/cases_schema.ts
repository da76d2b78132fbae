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

const STAGE: JsonObject = closed(
  {
    stage: { ...TEXT, description: "The stage; it is opened first if it is ready" },
    given: byName(true, "A value for each condition: sent by the caller where that counts, else found by its bindings"),
    items: byName({ type: "array" }, "Several values for a condition, each an item that the caller sends"),
    acquired: byName(true, "What each binding finds; null: nothing"),
    signed: list(TEXT, "Conditions whose items are taken as signed by a key that counts"),
    expect: { enum: [true, false, ...STAGE_EXPECTATIONS], description: "What becomes of the stage" },
    conditions: byName(KLEENE, "What single conditions have to be judged"),
  },
  ["stage", "expect"],
  "One attempt at a stage",
);

const CASE: JsonObject = closed(
  {
    name: TEXT,
    stages: { ...list(STAGE, "Attempts in their order, as one run"), minItems: 1 },
    expect: { enum: RUN_EXPECTATIONS, description: "What the run is afterwards" },
    ready: list(TEXT, "Exactly the stages that may be opened afterwards"),
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
        "Instead of schema: the file that holds it, or a list of schema records; counted from the folder of the cases",
    },
  },
  ["schema_id", "version"],
  "A schema that conditions name, which the registry will hold",
);

/** The schema of a cases file. */
export const CASES_SCHEMA: JsonObject = closed(
  {
    schemas: list(SCHEMA, "The schemas that the law's conditions name"),
    cases: { ...list(CASE, "The cases"), minItems: 1, maxItems: CASES_MAXIMUM },
  },
  ["cases"],
  "Given this evidence, expect this outcome",
);
