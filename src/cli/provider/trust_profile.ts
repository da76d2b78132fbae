/** The operator profile of a configuration for commands that verify no signatures; it does not read key files. */

import type { GateConfig } from "../../config/types.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import { operatorProfile } from "../../tools/services/operator_profile.ts";
import { sha256 } from "../run/fold_state.ts";

/** Builds the profile with a placeholder for each public key: checking a law needs no keys, and cases name their signers. */
export function profileWithoutKeys(config: GateConfig): Promise<OperatorProfile> {
  return operatorProfile(
    config,
    (path) => Promise.resolve(new TextEncoder().encode(sha256(new TextEncoder().encode(path)).slice(0, 32))),
    false,
  );
}
