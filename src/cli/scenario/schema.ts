/**
 * `gate scenario schema`: prints the JSON Schemas of scenario files and cases files, for editors.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { FULL_SPEC_SCHEMA } from "../../tools/framework/full_schemas.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeOut, writeResult } from "../terminal/output.ts";
import { CASES_SCHEMA } from "./cases_schema.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The flags of `gate scenario schema`. */
export interface ScenarioSchemaFlags {
  readonly cases?: boolean;
  readonly json?: boolean;
}

/** Runs `gate scenario schema`. */
export function runScenarioSchema(flags: ScenarioSchemaFlags): number {
  const schema = flags.cases === true ? casesSchema() : scenarioSchema();
  if (flags.json === true) writeResult("scenario schema", schema);
  else writeOut(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT.ok;
}

/** The schema of a scenario file. */
export function scenarioSchema(): JsonObject {
  return FULL_SPEC_SCHEMA;
}

/** The schema of a cases file. */
function casesSchema(): JsonObject {
  return { $schema: DIALECT, title: "Cases of a gate scenario", ...CASES_SCHEMA };
}
