/**
 * The rows of a database. Its session is read-only, so a role that may only select can read them, and a standby can
 * answer.
 *
 * A run's row and its last revision are read in one statement. Accepted records never change, so the statements after
 * it need no transaction.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { RunKey } from "../../run/types.ts";
import { parameterText } from "../run_index.ts";
import type { RunEntry } from "../types.ts";
import { sealEntry } from "../seal.ts";
import { integer, text } from "../rows/columns.ts";
import { correlationText } from "../rows/entries.ts";
import { type Orphan, type RowTable, type StoreRows, toStages } from "../rows/store_rows.ts";
import type { Database, Row } from "./database.ts";
import { toStoreError } from "./errors.ts";
import { SCHEMA_COLUMNS } from "./schema_registry.ts";
import { LIST_RECORDS, SLICE_BYTES, SLICE_RECORDS } from "./run_store.ts";

/** The columns of the tables, and those of them that their order goes by. */
const TABLES: Readonly<Record<RowTable, { readonly columns: string; readonly keys: readonly string[] }>> = {
  laws: { columns: "*", keys: ["namespace_id", "identity"] },
  artifacts: { columns: "*", keys: ["identity"] },
  schemas: { columns: SCHEMA_COLUMNS, keys: ["namespace_id", "schema_id", "version"] },
  typed_providers: { columns: "*", keys: ["namespace_id", "provider_id", "version"] },
};

/** Rows of a page; each may have a document of a megabyte. */
const PAGE = 16;

/** Runs of a page of {@link orphansOf}. */
const ORPHAN_PAGE = 500;

/** Runs that one statement reads. */
const RUN_PAGE = 64;

const NEXT_RUNS = `SELECT *, array_to_string(parameter_hashes, ' ') AS hashes, coalesce((SELECT max(r.revision)
    FROM gate.records AS r WHERE r.namespace_id = u.namespace_id AND r.run_id = u.run_id), 0) AS last,
    (SELECT count(*) FROM gate.snapshots AS s WHERE s.namespace_id = u.namespace_id AND s.run_id = u.run_id) AS snapshots
  FROM gate.runs AS u WHERE (namespace_id, run_id) > ($1, $2) ORDER BY namespace_id, run_id LIMIT ${RUN_PAGE}`;
// A snapshot of a later revision was written after the run's row was read, or is found among the orphans.
const SNAPSHOTS = `SELECT revision, state_identity, state FROM gate.snapshots
  WHERE namespace_id = $1 AND run_id = $2 AND revision <= $3 ORDER BY revision`;
// Others append during a check: the revision shows whether the stages are those of the records that were read.
const STAGES = `SELECT u.revision, o.stage_id, o.opened
  FROM gate.runs AS u LEFT JOIN gate.open_stages AS o USING (namespace_id, run_id)
  WHERE u.namespace_id = $1 AND u.run_id = $2`;
const TOMBSTONE =
  `SELECT u.runpack_identity, u.archived, u.state_identity, u.archive_seal, coalesce(a.state, '') AS state
  FROM gate.runs AS u LEFT JOIN gate.archives AS a USING (namespace_id, run_id)
  WHERE u.namespace_id = $1 AND u.run_id = $2 AND u.archived IS NOT NULL`;
const LAW = "SELECT * FROM gate.laws WHERE namespace_id = $1 AND identity = $2";
const ARTIFACT = "SELECT * FROM gate.artifacts WHERE identity = $1";
// What could change a row behind the statements of gate, and indexes that PostgreSQL does not use or keep.
const FOREIGN = `SELECT 'trigger' AS kind, t.tgname AS name, c.relname AS "table" FROM pg_trigger AS t
    JOIN pg_class AS c ON c.oid = t.tgrelid WHERE c.relnamespace = 'gate'::regnamespace AND NOT t.tgisinternal
  UNION ALL SELECT 'rule', rulename, tablename FROM pg_rules WHERE schemaname = 'gate'
  UNION ALL SELECT 'invalid index', i.relname, c.relname FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid
    JOIN pg_class AS i ON i.oid = x.indexrelid WHERE c.relnamespace = 'gate'::regnamespace AND NOT x.indisvalid
  ORDER BY 1, 2, 3`;

/** Steps through the runs of a table by its index, so that the cost does not depend on the rows of each run. */
const NAMED_RUNS = (table: "records" | "snapshots"): string =>
  `WITH RECURSIVE named (namespace_id, run_id, place) AS (
    (SELECT namespace_id, run_id, 1 FROM gate.${table} WHERE (namespace_id, run_id) > ($1, $2)
      ORDER BY namespace_id, run_id LIMIT 1)
    UNION ALL
    SELECT following.namespace_id, following.run_id, named.place + 1 FROM named, LATERAL (
      SELECT namespace_id, run_id FROM gate.${table}
      WHERE (namespace_id, run_id) > (named.namespace_id, named.run_id)
      ORDER BY namespace_id, run_id LIMIT 1) AS following WHERE named.place < ${ORPHAN_PAGE})
  SELECT namespace_id, run_id, (SELECT count(*) FROM gate.${table} AS r WHERE r.namespace_id = named.namespace_id
      AND r.run_id = named.run_id AND r.revision > coalesce(u.revision, -1)) AS rows, u.revision AS head
  FROM named LEFT JOIN gate.runs AS u USING (namespace_id, run_id)
  ORDER BY place`;

/** The rows of an open database, which {@link StoreRows.close} closes. */
export function postgresRows(database: Database): StoreRows {
  const one = async (sql: string, ...values: (string | number)[]): Promise<Row | null> =>
    (await database.query(sql, values))[0] ?? null;
  return {
    name: database.name,
    faults: async () => {
      const foreign = (await database.query(FOREIGN)).map((row) =>
        `The ${text(row, "kind")} "${text(row, "name")}" on table "${text(row, "table")}" is not part of a gate store`
      );
      const counts = (await database.query(COUNTS)).map((row) =>
        `The counts of runs are ${row["counted"]} and ${row["counted_complete"]} complete, expected ${
          row["runs"]
        } and ` +
        `${row["complete"]}`
      );
      return [...foreign, ...counts];
    },
    pages: (table) => pagesOf(database, table),
    nextRun: runReader(database),
    records: (run, after) => recordsOf(database, run, after),
    snapshots: (run) =>
      run["snapshots"] === 0
        ? Promise.resolve([])
        : database.query(SNAPSHOTS, [...keyOf(run), integer(run, "revision")]),
    entryProblems: (sha256, run, expected) =>
      new Promise((resolve) => resolve(entryHolds(sha256, run, expected) ? [] : [DIFFERING_ENTRY])),
    openStages: async (run) => {
      const rows = await database.query(STAGES, keyOf(run));
      const isSame = rows[0]?.["revision"] === run["revision"];
      return isSame ? toStages(rows.filter((row) => row["stage_id"] !== null)) : null;
    },
    entry: (run) =>
      Promise.resolve({ ...run, seal: run["status"] === "complete" ? run["complete_seal"] : run["active_seal"] }),
    tombstone: (run) => one(TOMBSTONE, ...keyOf(run)),
    law: (namespaceId, identity) => one(LAW, namespaceId, identity),
    artifact: (identity) => one(ARTIFACT, identity),
    orphans: () => orphansOf(database),
    atOneMoment: (reads) => reads(),
    toError: (error) => toStoreError(error, database.name),
    close: () => database.close(),
  };
}

/** Reads runs in pages, each of which serves the calls that ask for one run after the other. */
function runReader(database: Database): (after: RunKey) => Promise<Row | null> {
  let page: Row[] = [];
  let last: RunKey = { namespace_id: -1, run_id: "" };
  return async (after) => {
    const isNext = after.namespace_id === last.namespace_id && after.run_id === last.run_id;
    if (!isNext || page.length === 0) page = await database.query(NEXT_RUNS, [after.namespace_id, after.run_id]);
    const row = page.shift();
    if (row === undefined) return null;
    last = { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") };
    return row;
  };
}

/** The counts that the figures show, where the runs are others. One statement sees both as of one moment. */
const COUNTS = `SELECT * FROM
    (SELECT coalesce(sum(runs), 0)::int8 AS counted, coalesce(sum(complete), 0)::int8 AS counted_complete FROM gate.run_counts) AS c,
    (SELECT count(*) AS runs, count(*) FILTER (WHERE status = 'complete') AS complete FROM gate.runs) AS r
  WHERE counted <> runs OR counted_complete <> complete`;

const DIFFERING_ENTRY = "its entry in the index of runs differs from its records";

function keyOf(run: Row): [number, string] {
  return [integer(run, "namespace_id"), text(run, "run_id")];
}

async function* pagesOf(database: Database, table: RowTable): AsyncGenerator<readonly Row[]> {
  const { columns, keys } = TABLES[table];
  const places = keys.map((_, index) => `$${index + 1}`).join(", ");
  const names = keys.join(", ");
  const sql = `SELECT ${columns} FROM gate.${table} WHERE (${names}) > (${places}) ORDER BY ${names} LIMIT ${PAGE}`;
  for (let after: (string | number)[] = keys.map((key) => key === "namespace_id" ? -1 : "");;) {
    const rows = await database.query(sql, after);
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) return;
    after = keys.map((key) => key === "namespace_id" ? integer(last, key) : text(last, key));
  }
}

/** Records up to the last one that the run had when its row was read. */
async function recordsOf(database: Database, run: Row, after: number): Promise<readonly Row[]> {
  const last = integer(run, "last");
  if (after >= last) return [];
  const rows = await database.query(LIST_RECORDS, [...keyOf(run), after, SLICE_RECORDS, SLICE_BYTES]);
  return rows.filter((row) => integer(row, "revision") <= last);
}

/** Both seals, since the status of a run decides which of them counts, and the columns that only filters read. */
function entryHolds(sha256: Sha256, run: Row, expected: RunEntry): boolean {
  const { parameters, correlation } = expected;
  return text(run, "status") === expected.status && integer(run, "created") === expected.created_instant &&
    text(run, "correlation") === correlationText(correlation) &&
    text(run, "parameters") === canonicalize(parameters as JsonValue) &&
    text(run, "hashes") === parameters.map((parameter) => sha256(parameterText(parameter))).join(" ") &&
    text(run, "active_seal") === sealEntry(sha256, { ...expected, status: "active" }) &&
    text(run, "complete_seal") === sealEntry(sha256, { ...expected, status: "complete" });
}

async function* orphansOf(database: Database): AsyncGenerator<readonly Orphan[]> {
  for (const [table, what] of [["records", "record"], ["snapshots", "snapshot"]] as const) {
    for (let after: [number, string] = [-1, ""];;) {
      const rows = await database.query(NAMED_RUNS(table), after);
      yield rows.filter((row) => isOrphan(row, table)).map((row) => ({
        what,
        message: row["head"] === null
          ? `${integer(row, "rows")} rows of "${table}" belong to no run`
          : "the snapshot is of a revision beyond the head",
        run_key: { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") },
      }));
      const last = rows.at(-1);
      if (last === undefined || rows.length < ORPHAN_PAGE) break;
      after = keyOf(last);
    }
  }
}

/** Records beyond the head are reported with their run. */
function isOrphan(row: Row, table: "records" | "snapshots"): boolean {
  return integer(row, "rows") > 0 && (row["head"] === null || table === "snapshots");
}
