/**
 * The columns of tombstones.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { sealTombstone } from "../seal.ts";
import { stateProblem } from "../tombstone.ts";
import { type RunHead, StoreError, type Tombstone } from "../types.ts";
import { integer, type Row, text } from "./rows.ts";

/** The columns of {@link withArchived}: null in the row of a run that is not archived. */
export const ARCHIVED_COLUMNS = "a.runpack_identity, a.archived, a.state_identity, a.archive_seal";

/** The head of a run, with {@link RunHead.archived} of a row that has {@link ARCHIVED_COLUMNS}. */
export function withArchived(sha256: Sha256, run: RunHead, row: Row): RunHead {
  if (row["archive_seal"] === null) return run;
  const names = namesOf(row);
  if (sealTombstone(sha256, run, names) !== text(row, "archive_seal")) throw otherTombstone(run.run_key);
  const { runpack_identity, archived_instant } = names;
  return { ...run, archived: { runpack_identity, archived_instant } };
}

function namesOf(row: Row): Omit<Tombstone, "state"> {
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
  const tombstone = { ...namesOf(row), state: text(row, "state") };
  const problem = run === null ? "its run is missing" : stateProblem(sha256, run.head, tombstone);
  if (problem === null) return tombstone;
  throw new StoreError("corrupt", `Cannot read run "${run?.run_key.run_id ?? ""}": ${problem}`);
}
