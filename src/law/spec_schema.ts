/**
 * The JSON Schema of a scenario spec, as `scenario_define` publishes it, with every object closed. It follows from the
 * shapes that the decoder reads. The decoder and the proofs check the rules between members: names, proofs, bounds and
 * canonical sizes.
 *
 * Clients read it as the resource `gate://schemas/scenario`; the list of tools has a shorter one.
 */

import type { JsonObject } from "../canonical/json.ts";
import { schemaOf } from "../canonical/shape.ts";
import { specShape } from "./decode_spec.ts";
import { LAW_LIMITS } from "./limits.ts";

/** The order of the named types. */
const NAMES = "id line count pos int decimal labels schema typed member relative req reqs condition scalar domain " +
  "predicate policy stage packet target payload binding";

/** The schema of a spec. If it is embedded below the root of another schema, its references must be changed too. */
export const SPEC_SCHEMA: JsonObject = specSchema();

function specSchema(): JsonObject {
  const { schema, named } = schemaOf(specShape(LAW_LIMITS, LAW_LIMITS.maximum_payload_bytes), true);
  const types = NAMES.split(" ").map((name) => [name, named[name] ?? null]);
  return { ...schema as JsonObject, $defs: Object.fromEntries(types) };
}
