/**
 * Claim 10: the records fold to the state that the manifest names.
 *
 * @module
 */

import type { Sha256 } from "../../../canonical/identity.ts";
import { stateIdentity } from "../../../run/fold.ts";
import type { RunState } from "../../../run/types.ts";
import type { Manifest } from "../../format/types.ts";
import { violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/** Compares the folded state with the manifest's. */
export function checkState(sha256: Sha256, state: RunState, manifest: Manifest): Violation | null {
  return stateIdentity(sha256, state) === manifest.state_identity ? null : violation("state_mismatch");
}
