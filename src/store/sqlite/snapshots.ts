/**
 * Snapshots in SQL.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { integer } from "../rows/columns.ts";
import { toVerifiedSnapshot } from "../rows/snapshots.ts";
import type { Snapshot } from "../types.ts";
import type { Connection } from "./connection.ts";

// A snapshot beyond the head or without a run is not stored: its state was never accepted. That of an archived run is its tombstone's.
const PUT_SNAPSHOT = `INSERT INTO snapshots (run_row, revision, state_identity, state)
  SELECT run_row, ?3, ?4, ?5 FROM runs WHERE namespace_id = ?1 AND run_id = ?2 AND revision >= ?3
    AND NOT EXISTS (SELECT 1 FROM archives AS a WHERE a.run_row = runs.run_row)
  ON CONFLICT DO UPDATE SET state_identity = excluded.state_identity, state = excluded.state RETURNING run_row`;
const PRUNE_SNAPSHOTS = `DELETE FROM snapshots WHERE run_row = ?1 AND revision <=
  (SELECT revision FROM snapshots WHERE run_row = ?1 ORDER BY revision DESC LIMIT 1 OFFSET ?2)`;
const GET_SNAPSHOT =
  `SELECT s.revision, s.state_identity, s.state FROM runs JOIN snapshots AS s ON s.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ? AND s.revision <= ? ORDER BY s.revision DESC LIMIT 1`;

/** Writes a snapshot and removes those beyond `kept`; to be called inside a transaction. */
export function writeSnapshot(connection: Connection, runKey: RunKey, snapshot: Snapshot, kept: number): void {
  const { revision, state_identity, state } = snapshot;
  const row = connection.statement(PUT_SNAPSHOT)
    .get(runKey.namespace_id, runKey.run_id, revision, state_identity, state);
  if (row !== undefined) connection.statement(PRUNE_SNAPSHOTS).run(integer(row, "run_row"), kept);
}

/**
 * The newest snapshot at or below a revision, verified by its hash.
 *
 * @throws {StoreError} `corrupt`
 */
export function readSnapshot(connection: Connection, sha256: Sha256, runKey: RunKey, atMost: number): Snapshot | null {
  const row = connection.statement(GET_SNAPSHOT).get(runKey.namespace_id, runKey.run_id, atMost);
  return toVerifiedSnapshot(sha256, runKey, row);
}
