/**
 * The schemas that the list of tools shortens, whole.
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";
import { SPEC_SCHEMA } from "../law/spec_schema.ts";

/** The JSON Schema of the `spec` of `scenario_define`, closed everywhere. */
export const FULL_SPEC_SCHEMA: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "gate scenario",
  ...SPEC_SCHEMA,
};
