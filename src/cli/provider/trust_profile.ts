/**
 * The operator profile of a configuration for commands that verify no signature: key files are not read.
 *
 * @module
 */

import type { GateConfig } from "../../config/types.ts";
import type { OperatorProfile } from "../../run/profile.ts";
import { operatorProfile } from "../../tools/services/operator_profile.ts";
import { sha256 } from "../run/fold_state.ts";

/** The profile with a stand-in for each public key. No law is proved by a key, and cases name their signers themselves. */
export function profileWithoutKeys(config: GateConfig): Promise<OperatorProfile> {
  return operatorProfile(
    config,
    (path) => Promise.resolve(new TextEncoder().encode(sha256(new TextEncoder().encode(path)).slice(0, 32))),
    false,
  );
}
