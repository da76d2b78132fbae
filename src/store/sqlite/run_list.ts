/** The list of runs in SQL: reads the index of runs in slices. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import { type ListedRun, type RunPage, type RunPosition, type RunQuery, StoreError } from "../types.ts";
import { parameterText } from "../run_index.ts";
import { archivedOf } from "../rows/tombstones.ts";
import { findRun } from "./append.ts";
import type { Connection } from "./connection.ts";
import { integer, type Row, text } from "../rows/columns.ts";
import { isIndexed } from "./run_index.ts";
import { toEntry } from "../rows/entries.ts";

/** Runs that one call examines. The page ends there, and the next one goes on. */
export const EXAMINED_MAXIMUM = 10_000;

/** Runs that are examined in one turn of the event loop. */
const SLICE = 500;

/** A position before every run. */
const NEWEST_INSTANT = Number.MAX_SAFE_INTEGER;

const NEWEST_ROW = "SELECT coalesce(max(run_row), 0) AS newest FROM run_index";

/** A list of runs that is being read in slices. */
interface Reading {
  readonly sha256: Sha256;
  readonly query: RunQuery;
  readonly limit: number;
  readonly runs: ListedRun[];
  position: RunPosition | null;
  examined: number;
  isAtEnd: boolean;
}

/** Starts to read a page; call {@link readRuns} until it returns false, then {@link pageOf}. */
export function startReading(sha256: Sha256, query: RunQuery, after: RunPosition | null, limit: number): Reading {
  return { sha256, query, limit, runs: [], position: after, examined: 0, isAtEnd: false };
}

/** The page that was read. */
export function pageOf({ runs, position, isAtEnd }: Reading): RunPage {
  return { runs, next: isAtEnd ? null : position, newest: position?.newest ?? 0 };
}

/**
 * Reads a slice of a page.
 *
 * @returns Whether more slices follow
 * @throws {StoreError} `corrupt`, `index_missing`
 */
export function readRuns(connection: Connection, reading: Reading): boolean {
  if (!isIndexed(connection)) {
    throw new StoreError("index_missing", `Cannot list the runs of "${connection.path}": run "gate store migrate"`);
  }
  const start = reading.position ?? startOf(connection);
  reading.position = start;
  const { sql, values, admits } = selectOf(reading);
  const rows = connection.statement(sql).iterate(...values, start.created_instant, start.run_id, start.newest, SLICE);
  let examined = 0;
  for (const row of rows) {
    examined += 1;
    if (admits(row)) {
      if (reading.runs.length === reading.limit) return false;
      reading.runs.push(listed(connection, reading.sha256, row));
    }
    reading.position = { created_instant: integer(row, "created"), run_id: text(row, "run_id"), newest: start.newest };
  }
  reading.examined += examined;
  reading.isAtEnd = examined < SLICE;
  return !reading.isAtEnd && reading.examined < EXAMINED_MAXIMUM;
}

function startOf(connection: Connection): RunPosition {
  const row = connection.statement(NEWEST_ROW).get();
  // No run id sorts after this text.
  return { created_instant: NEWEST_INSTANT, run_id: "g", newest: row === undefined ? 0 : integer(row, "newest") };
}

function listed(connection: Connection, sha256: Sha256, row: Row): ListedRun {
  const entry = toEntry(sha256, row);
  const run = findRun(connection, sha256, entry.run_key);
  if (run?.scenario_id === entry.scenario_id && run.scenario_law_identity === entry.scenario_law_identity) {
    return { ...entry, ...archivedOf(run.archived), head: run.head };
  }
  const { namespace_id, run_id } = entry.run_key;
  throw new StoreError(
    "corrupt",
    `Cannot list run "${run_id}" of namespace ${namespace_id}: the index names another scenario`,
  );
}

/** The filters in the order in which their indexes are preferred: the first ones admit the fewest runs. */
const FILTERS = [
  ["correlation", "run_index_correlation"],
  ["law_identity", "run_index_law"],
  ["scenario_id", "run_index_scenario"],
  ["status", "run_index_status"],
] as const;

/** Selects runs by one index; the other filters are compared with each row. */
function selectOf({ query, sha256 }: Pick<Reading, "query" | "sha256">): {
  readonly sql: string;
  readonly values: readonly (string | number)[];
  readonly admits: (row: Row) => boolean;
} {
  const wanted = {
    correlation: query.correlation_id === undefined ? undefined : canonicalize(query.correlation_id),
    law_identity: query.scenario_law_identity,
    scenario_id: query.scenario_id,
    status: query.status,
  };
  const given = FILTERS.filter(([column]) => wanted[column] !== undefined);
  const texts = query.parameters ?? [];
  const [first] = texts;
  const admits = (row: Row): boolean =>
    given.every(([column]) => row[column] === wanted[column]) &&
    (texts.length === 0 || hasParameters(sha256, row, texts));
  if (first !== undefined) {
    const sql = `SELECT i.* FROM run_parameters AS p CROSS JOIN run_index AS i ON i.run_row = p.run_row
      WHERE p.namespace_id = ? AND p.parameter = ? AND (p.created, p.run_id) < (?, ?) AND p.run_row <= ?
      ORDER BY p.created DESC, p.run_id DESC LIMIT ?`;
    return { sql, values: [query.namespace_id, sha256(first)], admits };
  }
  const [column, index] = given[0] ?? [null, "run_index_all"];
  const condition = column === null
    ? ""
    : ` AND ${column} = ?${column === "correlation" ? " AND correlation <> ''" : ""}`;
  const sql = `SELECT * FROM run_index INDEXED BY ${index} WHERE namespace_id = ?${condition}
    AND (created, run_id) < (?, ?) AND run_row <= ? ORDER BY created DESC, run_id DESC LIMIT ?`;
  const value = column === null ? undefined : wanted[column];
  return { sql, values: [query.namespace_id, ...value === undefined ? [] : [value]], admits };
}

/** The SQL text that lists the runs of a query, for tests of its plan. */
export function planned(query: RunQuery, sha256: Sha256): string {
  return selectOf({ query, sha256 }).sql;
}

function hasParameters(sha256: Sha256, row: Row, texts: readonly string[]): boolean {
  const own = new Set(toEntry(sha256, row).parameters.map(parameterText));
  return texts.every((one) => own.has(one));
}
