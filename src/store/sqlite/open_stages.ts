/** Open stages in SQL, and the figures that metrics show of the runs. */

import type { RunKey } from "../../run/types.ts";
import { type RunFigures, StoreError } from "../types.ts";
import type { StageChanges } from "../open_stages.ts";
import type { Connection } from "./connection.ts";
import { integer } from "../rows/columns.ts";
import { countMissing } from "./run_index.ts";

const RUN_ROW = "(SELECT run_row FROM runs WHERE namespace_id = ? AND run_id = ?)";
const OPEN = `INSERT OR REPLACE INTO open_stages (run_row, stage_id, opened) VALUES (${RUN_ROW}, ?, ?)`;
const CLOSE = `DELETE FROM open_stages WHERE run_row = ${RUN_ROW} AND stage_id = ?`;
const CLOSE_ALL = `DELETE FROM open_stages WHERE run_row = ${RUN_ROW}`;
// Rows of runs are never removed, so the last one is their number. The namespaces are found in steps by the index.
const FIGURES = `WITH RECURSIVE namespaces (id) AS (
    SELECT min(namespace_id) FROM run_index
    UNION ALL SELECT (SELECT min(namespace_id) FROM run_index WHERE namespace_id > id) FROM namespaces WHERE id IS NOT NULL)
  SELECT (SELECT coalesce(max(run_row), 0) FROM runs) AS runs,
    (SELECT coalesce(sum((SELECT count(*) FROM run_index INDEXED BY run_index_status
      WHERE namespace_id = id AND status = 'active')), 0) FROM namespaces) AS active,
    (SELECT min(opened) FROM open_stages) AS opened`;

/** Writes the changes of an append; to be called inside its transaction. */
export function writeStages(connection: Connection, { namespace_id, run_id }: RunKey, changes: StageChanges): void {
  if (changes.isRunComplete) connection.statement(CLOSE_ALL).run(namespace_id, run_id);
  else for (const stage of changes.completed) connection.statement(CLOSE).run(namespace_id, run_id, stage);
  for (const { stage_id, instant } of changes.opened) {
    connection.statement(OPEN).run(namespace_id, run_id, stage_id, instant);
  }
}

/**
 * The figures of all runs: its cost grows with the active runs alone.
 *
 * @throws {StoreError} `index_missing` where runs have no entry in the index, so that their status is unknown
 */
export function readFigures(connection: Connection): RunFigures {
  if (countMissing(connection, 1) > 0) {
    throw new StoreError("index_missing", `Cannot count the runs of "${connection.path}": run "gate store migrate"`);
  }
  const row = connection.statement(FIGURES).get() ?? {};
  const active = integer(row, "active");
  return {
    active,
    complete: Math.max(0, integer(row, "runs") - active),
    oldestOpened: row["opened"] === null ? null : integer(row, "opened"),
  };
}
