/**
 * A pack whose evaluation left out a binding of a condition that requires all of its bindings: no kernel accepts such a
 * call.
 *
 * @module
 */

import { identify } from "../../../src/canonical/identity.ts";
import { oneConditionLaw, SHA256 } from "../kernel/fixture.ts";
import type { Editable } from "../kernel/law_specs.ts";
import { forge } from "./forge.ts";
import type { MemoryPack } from "../runpack/memory.ts";
import { play } from "./played.ts";

/** The pack, with its values or with values withheld. */
export function leftOutPack(withheld: readonly string[]): MemoryPack {
  const law = oneConditionLaw({ allowed_channels: ["local_acquisition"] });
  const run = play(law, {}, [{ caller: [], acquired: { "env-1": { value: 1 } } }]);
  return forge(run, (parts) => {
    parts.withheld.push(...withheld);
    if (withheld.length > 0) parts.bodies.clear();
    const condition = parts.law.conditions.find(({ condition_id }: Editable) => condition_id === "c");
    condition.evidence_use_policy.requires_all_bindings = true;
    const scenario_law_identity = identify(SHA256, "scenario-law", parts.law);
    parts.records[0].body.scenario_law_identity = scenario_law_identity;
    parts.receipts[0].result.scenario_law_identity = scenario_law_identity;
  });
}
