import { identifyCanonical, type Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { member, parseObject } from "../record_check.ts";
import type { Snapshot } from "../types.ts";
import { integer, type Row, text } from "./columns.ts";
import { corruptRecord } from "./records.ts";

/**
 * Snapshots of each run where `max_versions` is null. The newest one serves a cold read, the one before it serves a
 * read just below the newest. More snapshots would only repeat what a fold of the records yields.
 */
export const SNAPSHOTS_KEPT = 2;

/**
 * The snapshot of a row, verified by its hash.
 *
 * @throws {StoreError} `corrupt`
 */
export function toVerifiedSnapshot(sha256: Sha256, runKey: RunKey, row: Row | undefined): Snapshot | null {
  if (row === undefined) return null;
  const snapshot = toSnapshot(row);
  const [problem] = snapshotProblems(sha256, snapshot);
  if (problem === undefined) return snapshot;
  throw corruptRecord(runKey, snapshot.revision, problem);
}

/** The snapshot of a row, not verified. */
export function toSnapshot(row: Row): Snapshot {
  const state_identity = text(row, "state_identity");
  return { revision: integer(row, "revision"), state_identity, state: text(row, "state") };
}

/** Every problem of a snapshot alone. */
export function snapshotProblems(sha256: Sha256, snapshot: Snapshot): string[] {
  const problems: string[] = [];
  if (identifyCanonical(sha256, "run-state", snapshot.state) !== snapshot.state_identity) {
    problems.push(`the snapshot does not hash to "${snapshot.state_identity}"`);
  }
  const head = member(parseObject(snapshot.state), "head");
  if (member(head, "revision") !== snapshot.revision) problems.push("the snapshot is of another revision");
  return problems;
}
