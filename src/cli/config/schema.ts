/** `gate config schema`: prints the JSON Schema of the configuration file. */

import { configJsonSchema } from "../../config/json_schema.ts";
import { type JsonFlag, prettyJson, writeAnswer } from "../terminal/output.ts";

/** Runs `gate config schema`. */
export async function runConfigSchema(options: JsonFlag): Promise<number> {
  const schema = await configJsonSchema();
  return writeAnswer("config schema", options, schema, prettyJson(schema));
}
