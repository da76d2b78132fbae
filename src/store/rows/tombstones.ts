/** Tombstones: what a store keeps of an archived run, and their columns. */

import { identifyCanonical, type Sha256 } from "../../canonical/identity.ts";
import type { Head, RunKey } from "../../run/types.ts";
import { member, parseObject } from "../record_check.ts";
import { sealTombstone } from "../seal.ts";
import { type Archived, type RunHead, StoreError, type Tombstone } from "../types.ts";
import { integer, type Row, text } from "./columns.ts";

/** The member `archived` of a head or of a listed run; no member for a run that is not archived. */
export function archivedOf(archived: Archived | undefined): { readonly archived?: Archived } {
  return archived === undefined ? {} : { archived };
}

/** The error for a read of records that are no longer in the store. */
export function archivedError({ namespace_id, run_id }: RunKey): StoreError {
  return new StoreError("archived", `Cannot read run "${run_id}" of namespace ${namespace_id}: it is archived`);
}

/** The reason why a state is not the one at a head; null where it is. */
function stateProblem(
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

/** The columns of {@link withArchived}: null in the row of a run that is not archived. */
export const ARCHIVED_COLUMNS = "a.runpack_identity, a.archived, a.state_identity, a.archive_seal";

/** The head of a run, with {@link RunHead.archived} of a row that has {@link ARCHIVED_COLUMNS}. */
export function withArchived(sha256: Sha256, run: RunHead, row: Row): RunHead {
  if (row["archive_seal"] === null) return run;
  const names = tombstoneNames(row);
  if (sealTombstone(sha256, run, names) !== text(row, "archive_seal")) throw otherTombstone(run.run_key);
  const { runpack_identity, archived_instant } = names;
  return { ...run, archived: { runpack_identity, archived_instant } };
}

function tombstoneNames(row: Row): Omit<Tombstone, "state"> {
  return {
    runpack_identity: text(row, "runpack_identity"),
    archived_instant: integer(row, "archived"),
    state_identity: text(row, "state_identity"),
  };
}

function otherTombstone({ namespace_id, run_id }: RunKey): StoreError {
  const run = `run "${run_id}" of namespace ${namespace_id}`;
  return new StoreError("corrupt", `Cannot read ${run}: its tombstone differs from the written one`);
}

/**
 * The tombstone of a row whose seal was verified with the head of its run.
 *
 * @throws {StoreError} `corrupt` where its state is another one
 */
export function toTombstone(sha256: Sha256, run: RunHead | null, row: Row): Tombstone {
  const tombstone = { ...tombstoneNames(row), state: text(row, "state") };
  const problem = run === null ? "its run is missing" : stateProblem(sha256, run.head, tombstone);
  if (problem === null) return tombstone;
  throw new StoreError("corrupt", `Cannot read run "${run?.run_key.run_id ?? ""}": ${problem}`);
}
