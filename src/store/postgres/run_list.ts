/**
 * The list of runs in SQL: one statement a page. Every filter is a condition on a row of `gate.runs`, which has the
 * entry of its run.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { ListedRun, RunPage, RunPosition, RunQuery } from "../types.ts";
import { integer, text } from "../rows/columns.ts";
import { toEntry } from "../rows/entries.ts";
import { archivedOf, withArchived } from "../rows/tombstones.ts";
import type { Database, Row, Value } from "./database.ts";

const NEWEST_ROW = "SELECT coalesce(max(run_row), 0) AS newest FROM gate.runs WHERE namespace_id = $1";

interface Request {
  readonly query: RunQuery;
  readonly after: RunPosition | null;
  readonly limit: number;
}

/** A page of runs in descending order of (creation instant, run id). */
export async function findRuns(database: Database, sha256: Sha256, request: Request): Promise<RunPage> {
  const { query, limit } = request;
  const after = request.after ?? await startOf(database, query.namespace_id);
  const { conditions, values } = filtersOf(query, sha256);
  const sql = `SELECT *, CASE WHEN status = 'complete' THEN complete_seal ELSE active_seal END AS seal FROM gate.runs
    WHERE namespace_id = $1 AND (created, run_id) < ($2, $3) AND run_row <= $4${conditions}
    ORDER BY created DESC, run_id DESC LIMIT $5`;
  const position = [query.namespace_id, after.created_instant, after.run_id, after.newest];
  const rows = await database.query(sql, [...position, limit + 1, ...values]);
  const runs = rows.slice(0, limit).map((row) => listed(sha256, row));
  const last = rows.length > limit ? runs.at(-1) : undefined;
  const { newest } = after;
  if (last === undefined) return { runs, newest, next: null };
  return { runs, newest, next: { created_instant: last.created_instant, run_id: last.run_key.run_id, newest } };
}

async function startOf(database: Database, namespaceId: number): Promise<RunPosition> {
  const [row] = await database.query(NEWEST_ROW, [namespaceId]);
  // No instant and no run id sort after these.
  return {
    created_instant: Number.MAX_SAFE_INTEGER,
    run_id: "g",
    newest: row === undefined ? 0 : integer(row, "newest"),
  };
}

function filtersOf(
  query: RunQuery,
  sha256: Sha256,
): { readonly conditions: string; readonly values: readonly Value[] } {
  const given: (readonly [condition: string, value: Value | undefined])[] = [
    ["scenario_id =", query.scenario_id],
    ["law_identity =", query.scenario_law_identity],
    ["status =", query.status],
    [
      "correlation <> '' AND correlation =",
      query.correlation_id === undefined ? undefined : canonicalize(query.correlation_id),
    ],
    ["parameter_hashes @>", query.parameters?.map((one) => sha256(one))],
  ];
  const set = given.flatMap(([condition, value]) => value === undefined ? [] : [{ condition, value }]);
  return {
    conditions: set.map(({ condition }, index) => ` AND ${condition} $${index + 6}`).join(""),
    values: set.map(({ value }) => value),
  };
}

function listed(sha256: Sha256, row: Row): ListedRun {
  const entry = toEntry(sha256, row);
  const head = { record_id: text(row, "head"), revision: integer(row, "revision") };
  return { ...entry, ...archivedOf(withArchived(sha256, { ...entry, head }, row).archived), head };
}
