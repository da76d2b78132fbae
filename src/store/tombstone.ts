/**
 * Tombstones: what a store keeps of an archived run.
 *
 * @module
 */

import { identifyCanonical, type Sha256 } from "../canonical/identity.ts";
import type { Head, RunKey } from "../run/types.ts";
import { member, parseObject } from "./record_check.ts";
import { type Archived, StoreError, type Tombstone } from "./types.ts";

/** The member `archived` of a head or of a listed run; no member for a run that is not archived. */
export function archivedOf(archived: Archived | undefined): { readonly archived?: Archived } {
  return archived === undefined ? {} : { archived };
}

/** The error for a read of records that are no longer in the store. */
export function archivedError({ namespace_id, run_id }: RunKey): StoreError {
  return new StoreError("archived", `Cannot read run "${run_id}" of namespace ${namespace_id}: it is archived`);
}

/** The reason why a state is not the one at a head; null where it is. */
export function stateProblem(
  sha256: Sha256,
  head: Head,
  { state_identity, state }: Pick<Tombstone, "state_identity" | "state">,
): string | null {
  if (identifyCanonical(sha256, "run-state", state) !== state_identity) {
    return `its state does not hash to "${state_identity}"`;
  }
  const stated = member(parseObject(state), "head");
  const isAtHead = member(stated, "revision") === head.revision && member(stated, "record_id") === head.record_id;
  return isAtHead ? null : "its state is not that of its head";
}

/** The error for a tombstone that does not fit the head of its run; null where it fits. */
export function tombstoneProblem(
  sha256: Sha256,
  { namespace_id, run_id }: RunKey,
  head: Head,
  tombstone: Tombstone,
): StoreError | null {
  const problem = stateProblem(sha256, head, tombstone);
  if (problem === null) return null;
  return new StoreError("corrupt", `Cannot archive run "${run_id}" of namespace ${namespace_id}: ${problem}`);
}
