/** The full schemas, which the list of tools shortens. */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import { SPEC_SCHEMA } from "../../law/spec_schema.ts";
import { referenceOf } from "./reference.ts";
import type { Tool } from "./types.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The JSON Schema of the `spec` of `scenario_define`, closed everywhere. */
export const FULL_SPEC_SCHEMA: JsonObject = { $schema: DIALECT, title: "gate scenario", ...SPEC_SCHEMA };

/** The same schema within another document: with an identifier of its own, its references resolve within it. */
const EMBEDDED_SPEC: JsonObject = { $id: "gate://schemas/scenario", ...SPEC_SCHEMA };

/** The JSON Schemas of a tool as one document: the schema of its arguments, and `#/$defs/output`. */
export async function fullToolSchema(tool: Tool): Promise<JsonObject> {
  const { details, input, output: { $defs: types = {}, ...output } } = await referenceOf(tool);
  const properties = member(input, "properties");
  const takesSpec = isJsonObject(properties) && member(properties, "spec") !== undefined;
  return {
    $schema: DIALECT,
    title: tool.name,
    description: details,
    $ref: "#/$defs/input",
    $defs: {
      input: takesSpec ? { ...input, properties: { ...properties, spec: EMBEDDED_SPEC } } : input,
      output,
      ...types as JsonObject,
    },
  };
}
