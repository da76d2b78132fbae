/**
 * `gate config schema`: prints the JSON Schema of the configuration file.
 *
 * @module
 */

import { configJsonSchema } from "../../config/json_schema.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { type JsonFlag, writeOut, writeResult } from "../terminal/output.ts";

/** Runs `gate config schema`. */
export async function runConfigSchema(options: JsonFlag): Promise<number> {
  const schema = await configJsonSchema();
  if (options.json === true) writeResult("config schema", schema);
  else writeOut(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT.ok;
}
