/**
 * `gate scenario schema`: prints the JSON Schemas of scenario files and cases files, for editors.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
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

/** The schema of a scenario file: that of a law file, else of a spec. */
export function scenarioSchema(): JsonObject {
  const { $schema = DIALECT, title = "", $defs = {}, ...spec } = FULL_SPEC_SCHEMA;
  return { $schema, title, if: { required: ["law"] }, then: LAW_FILE_SCHEMA, else: spec, $defs };
}

/** The schema of a cases file. */
function casesSchema(): JsonObject {
  return { $schema: DIALECT, title: "Cases of a gate scenario", ...CASES_SCHEMA };
}
