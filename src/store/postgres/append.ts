/**
 * The compare-and-set append of many runs in one statement.
 *
 * A statement creates runs, moves heads that are the expected ones, and inserts the records of what was created or
 * moved. Its rows are in the order of the runs, so that two servers lock them in one order.
 *
 * The cost of a statement must not depend on what the tables hold, and the planner knows nothing about fresh tables. So
 * operations are looked up one by one, by all columns of their index: `NOT EXISTS` becomes a join over all records. The
 * row of a run is found in the order of the primary key. Scenario and law are compared with an operator that no index
 * has. Otherwise the database reads an index of the lists, through all runs of the namespace.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Sha256 } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { OperationId, RunKey } from "../../run/types.ts";
import { stageChangesOf } from "../open_stages.ts";
import { completesRun, entryOfCreation, parameterText } from "../run_index.ts";
import {
  type Append,
  type AppendResult,
  type Receipt,
  type RunEntry,
  type RunHead,
  type StoredRecord,
  StoreError,
} from "../types.ts";
import { sealEntry } from "../seal.ts";
import {
  corruptRecord,
  namesRun,
  OTHER_RUN,
  RECEIPT_COLUMNS,
  type RecordValues,
  toReceipt,
  toValues,
} from "../rows/records.ts";
import { integer, text } from "../rows/columns.ts";
import { correlationText } from "../rows/entries.ts";
import { withArchived } from "../rows/tombstones.ts";
import { runOf } from "../rows/store_rows.ts";
import { tables, tableValues } from "./columns.ts";
import type { Database, Row, Value } from "./database.ts";

/** Columns that name a run. */
const RUN_COLUMNS = [["namespace_id", "int8"], ["run_id", "text"]] as const;

/** Columns of a run and of what it is bound to. */
const BOUND_COLUMNS = [...RUN_COLUMNS, ["scenario_id", "text"], ["law_identity", "text"]] as const;

/** Columns of the runs that a batch moves. */
const MOVED_COLUMNS = [
  ...BOUND_COLUMNS,
  ["expected_revision", "int8"],
  ["expected_head", "text"],
  ["revision", "int8"],
  ["head", "text"],
  ["completes", "int8"],
] as const;

/** Columns of the runs that a batch creates. */
const CREATED_COLUMNS = [
  ...BOUND_COLUMNS,
  ["creation", "text"],
  ["revision", "int8"],
  ["head", "text"],
  ["completes", "int8"],
  ["created", "int8"],
  ["correlation", "text"],
  ["parameters", "text"],
  ["parameter_hashes", "text"],
  ["active_seal", "text"],
  ["complete_seal", "text"],
] as const;

const RECORD_COLUMNS = [
  ...RUN_COLUMNS,
  ["revision", "int8"],
  ["record_id", "text"],
  ["family", "text"],
  ["operation", "text"],
  ["invocation_identity", "text"],
  ["material_names", "text"],
  ["seal", "text"],
  ["result", "text"],
  ["record", "text"],
  ["material", "text"],
] as const;

const ARTIFACT_COLUMNS = [...RUN_COLUMNS, ["identity", "text"], ["kind", "text"], ["body", "text"]] as const;

/**
 * Changes of open stages: an empty `stage_id` stands for every stage of the run, and `opened` is -1 for one that is not
 * open any more.
 */
const STAGE_COLUMNS = [...RUN_COLUMNS, ["stage_id", "text"], ["opened", "int8"]] as const;

const RECORD_NAMES = RECORD_COLUMNS.map(([column]) => column).join(", ");

/** Inserts records of existing runs; the parameters are those of {@link recordValues}. */
export const INSERT_RECORDS = `INSERT INTO gate.records (${RECORD_NAMES})
  SELECT ${RECORD_NAMES} FROM ${tables(RECORD_COLUMNS).join("")}`;

/** The parameters of {@link INSERT_RECORDS}. */
export function recordValues(records: readonly RecordValues[]): Value[] {
  return tableValues([RECORD_COLUMNS, records]);
}

/** The runs of records `r` whose operation is stored. */
const KNOWN = `known AS MATERIALIZED (
    SELECT r.namespace_id, r.run_id FROM r
    WHERE (SELECT x.revision FROM gate.records AS x WHERE x.namespace_id = r.namespace_id AND x.run_id = r.run_id
      AND x.operation = r.operation AND x.family = r.family) IS NOT NULL)`;

/**
 * Moves the heads of runs `m`. Only the primary key has the order. The head is compared on the row that was found and
 * locked.
 */
const MOVED = `moved AS (
    UPDATE gate.runs AS u SET revision = m.revision, head = m.head,
      status = CASE WHEN m.completes = 1 THEN 'complete' ELSE u.status END
    FROM m CROSS JOIN LATERAL (
      SELECT x.ctid AS place FROM gate.runs AS x WHERE x.namespace_id = m.namespace_id AND x.run_id >= m.run_id
      ORDER BY x.run_id LIMIT 1) AS found
    WHERE u.ctid = found.place AND u.namespace_id = m.namespace_id AND u.run_id = m.run_id
      AND u.revision = m.expected_revision AND u.head = m.expected_head
      AND u.scenario_id IS NOT DISTINCT FROM m.scenario_id AND u.law_identity IS NOT DISTINCT FROM m.law_identity
      AND u.archived IS NULL
      AND (SELECT count(*) FROM known WHERE known.namespace_id = m.namespace_id AND known.run_id = m.run_id) = 0
    RETURNING u.namespace_id, u.run_id, m.completes)`;

/** Puts the records of the runs `accepted` into the outbox of each target that a server registered lately. */
const ANNOUNCED = `announced AS (
    INSERT INTO gate.outbox (target, namespace_id, run_id, revision)
    SELECT o.target, r.namespace_id, r.run_id, r.revision
    FROM gate.outbox_targets AS o CROSS JOIN (r JOIN accepted USING (namespace_id, run_id))
    WHERE o.seen > now() - interval '7 days' ORDER BY r.namespace_id, r.run_id, r.revision)`;

/** The row of counts of a connection, of 1,024: the numbers of processes of a server are without end. */
const COUNT_ROW = "1 + pg_backend_pid() % 1024";

/** Adds the counts `runs` and `complete` of a row to those of the connection. */
export function addCounts(row: string): string {
  return `INSERT INTO gate.run_counts AS t (backend, runs, complete)
    SELECT ${COUNT_ROW}, n.runs, n.complete FROM (${row}) AS n WHERE n.runs > 0 OR n.complete > 0
    ON CONFLICT (backend) DO UPDATE SET runs = t.runs + excluded.runs, complete = t.complete + excluded.complete`;
}

/** Counts the runs that a statement created or completed. A run becomes complete once: then it takes submissions only. */
function countedOf(created: string): string {
  return `counted AS (
    ${addCounts(`SELECT (${created}) AS runs, coalesce(sum(completes), 0) AS complete FROM accepted`)})`;
}

/** Changes the open stages of the runs `accepted`. */
function stagesOf(changes: string): string {
  return `s AS (SELECT * FROM ${changes} JOIN accepted USING (namespace_id, run_id)),
  closed AS (
    DELETE FROM gate.open_stages AS o USING s
    WHERE s.opened = -1 AND o.namespace_id = s.namespace_id AND o.run_id = s.run_id
      AND (s.stage_id = '' OR o.stage_id = s.stage_id)),
  opened AS (
    INSERT INTO gate.open_stages (namespace_id, run_id, stage_id, opened)
    SELECT namespace_id, run_id, stage_id, opened FROM s WHERE opened <> -1 ON CONFLICT DO NOTHING)`;
}

const STORED = `stored AS (
    INSERT INTO gate.records (${RECORD_NAMES})
    SELECT ${RECORD_NAMES} FROM r JOIN accepted USING (namespace_id, run_id))`;

/** How long an append waits for a row that another session holds. A statement of many appends waits for one of them. */
const LOCK_MILLIS = 500;

/** A table of values, whose first row is read after the wait for locks was limited for this statement. */
function limited(values: string): string {
  return `(SELECT t.* FROM (SELECT set_config('lock_timeout', '${LOCK_MILLIS}', true)) AS l CROSS JOIN ${values})`;
}

/** Appends to existing runs, at most once to each; returns the runs that accepted it. */
function moveText([runs, records, stages]: readonly string[]): string {
  return `WITH
  m AS MATERIALIZED ${limited(runs ?? "")},
  r AS (SELECT * FROM ${records}),
  ${KNOWN},
  ${MOVED},
  accepted AS (SELECT * FROM moved),
  ${STORED},
  ${ANNOUNCED}${stages === undefined ? "" : `,\n  ${stagesOf(stages)},\n  ${countedOf("SELECT 0")}`}
  SELECT namespace_id, run_id FROM accepted`;
}

/**
 * Appends to existing and new runs, and stores artifacts. {@link moveText} is for a batch without both, and takes less
 * to start.
 */
function appendText([moved, created, records, artifacts, stages]: readonly string[]): string {
  return `WITH
  m AS MATERIALIZED ${limited(moved ?? "")},
  c AS MATERIALIZED ${limited(created ?? "")},
  r AS (SELECT * FROM ${records}),
  ${KNOWN},
  created AS (
    INSERT INTO gate.runs (namespace_id, run_id, scenario_id, law_identity, creation, revision, head, created, status,
      correlation, parameters, parameter_hashes, active_seal, complete_seal)
    SELECT namespace_id, run_id, scenario_id, law_identity, creation, revision, head, created,
      CASE WHEN completes = 1 THEN 'complete' ELSE 'active' END,
      correlation, parameters, string_to_array(parameter_hashes, ' '), active_seal, complete_seal
    FROM c ON CONFLICT DO NOTHING
    RETURNING namespace_id, run_id, CASE WHEN status = 'complete' THEN 1 ELSE 0 END::int8 AS completes),
  ${MOVED},
  accepted AS (SELECT * FROM created UNION ALL SELECT * FROM moved),
  ${STORED},
  ${ANNOUNCED},
  shared AS (
    INSERT INTO gate.artifacts (identity, kind, body)
    SELECT DISTINCT ON (identity) identity, kind, body
    FROM ${artifacts} JOIN accepted USING (namespace_id, run_id) ORDER BY identity
    ON CONFLICT DO NOTHING),
  ${countedOf("SELECT count(*) FROM created")}${stages === undefined ? "" : `,\n  ${stagesOf(stages)}`}
  SELECT namespace_id, run_id FROM accepted`;
}

/** The tables of both statements. Most batches change no stage, so the longer forms are sent only for those that do. */
const MOVE_TABLES = [MOVED_COLUMNS, RECORD_COLUMNS] as const;
const APPEND_TABLES = [MOVED_COLUMNS, CREATED_COLUMNS, RECORD_COLUMNS, ARTIFACT_COLUMNS] as const;

const MOVE = moveText(tables(...MOVE_TABLES));
const MOVE_WITH_STAGES = moveText(tables(...MOVE_TABLES, STAGE_COLUMNS));
const APPEND = appendText(tables(...APPEND_TABLES));
const APPEND_WITH_STAGES = appendText(tables(...APPEND_TABLES, STAGE_COLUMNS));

/**
 * The record of a run with the least revision at or above one. Without statistics the planner finds every index as good
 * that begins with the run; the order leaves the primary key alone.
 */
function recordAt(columns: string, run: string, revision: string): string {
  return `SELECT ${columns} FROM gate.records AS r WHERE r.namespace_id = ${run}.namespace_id AND r.run_id = ${run}.run_id
    AND r.revision >= ${revision} ORDER BY r.revision LIMIT 1`;
}

/** The runs whose record at a revision is the given one. */
const FIND_RECORDS = `SELECT t.namespace_id, t.run_id
  FROM unnest($1::int8[], $2::text[], $3::int8[], $4::text[]) AS t (namespace_id, run_id, revision, record_id)
  WHERE (${recordAt("r.record_id", "t", "t.revision")}) = t.record_id`;

const FIND_RECEIPTS = `SELECT ${RECEIPT_COLUMNS}
  FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS t (operation, family, place)
  CROSS JOIN LATERAL (
    SELECT * FROM gate.records AS x
    WHERE x.namespace_id = $1 AND x.run_id = $2 AND x.operation = t.operation AND x.family = t.family OFFSET 0) AS r
  ORDER BY t.place LIMIT 1`;

const FIND_CREATION = `SELECT u.run_id, ${RECEIPT_COLUMNS} FROM (
    SELECT * FROM gate.runs WHERE namespace_id = $1 AND creation >= $2 ORDER BY creation LIMIT 1) AS u
  LEFT JOIN LATERAL (${recordAt("*", "u", "1")}) AS r ON true
  WHERE u.creation = $2`;

const FIND_HEADS = `SELECT u.namespace_id, u.run_id, u.scenario_id, u.law_identity, u.revision, u.head,
    u.runpack_identity, u.archived, u.state_identity, u.archive_seal,
    (${recordAt("r.record_id", "u", "u.revision")}) AS record_id,
    (${recordAt(namesRun("strpos", "r.record", "r"), "u", "u.revision")}) AS named,
    (SELECT max(revision) FROM gate.records AS m WHERE m.namespace_id = u.namespace_id AND m.run_id = u.run_id) AS last
  FROM unnest($1::int8[], $2::text[]) AS t (namespace_id, run_id)
  CROSS JOIN LATERAL (
    SELECT * FROM gate.runs AS x WHERE x.namespace_id = t.namespace_id AND x.run_id >= t.run_id
    ORDER BY x.run_id LIMIT 1) AS u
  WHERE u.run_id = t.run_id`;

/** An append whose values were computed before it waits for the writer. */
export interface PreparedAppend {
  readonly append: Append;
  /** The row of the run: of {@link CREATED_COLUMNS} for a creation, else of {@link MOVED_COLUMNS}. */
  readonly run: readonly (string | number)[];
  readonly records: readonly RecordValues[];
  /** Rows of {@link STAGE_COLUMNS}. */
  readonly stages: readonly (readonly (string | number)[])[];
}

/** Computes everything that an append needs except comparing and writing. The append must have passed `assertAppend`. */
export function prepareAppend(sha256: Sha256, append: Append): PreparedAppend {
  const { run_key, expected_head, records } = append;
  const [first] = records;
  const last = records.at(-1);
  const names = [run_key.namespace_id, run_key.run_id, append.scenario_id, append.scenario_law_identity];
  const completes = records.some(({ record }) => completesRun(record)) ? 1 : 0;
  const moved = [last?.revision ?? 0, last?.record_id ?? "", completes];
  const run = expected_head === null
    ? [
      ...[...names, first?.receipt.operation.identity ?? "", ...moved],
      ...columnsOfEntry(sha256, entryOfCreation(append, first?.record ?? "")),
    ]
    : [...names, expected_head.revision, expected_head.record_id, ...moved];
  const stages = stageRows(run_key, records);
  return { append, run, records: records.map((record) => toValues(sha256, run_key, record)), stages };
}

function stageRows({ namespace_id, run_id }: RunKey, records: readonly StoredRecord[]): PreparedAppend["stages"] {
  const changes = stageChangesOf(records);
  if (changes === null) return [];
  const closed = changes.isRunComplete ? [""] : changes.completed;
  return [
    ...closed.map((stage) => [namespace_id, run_id, stage, -1]),
    ...changes.opened.map(({ stage_id, instant }) => [namespace_id, run_id, stage_id, instant]),
  ];
}

/** The columns of an entry: instant, correlation, parameters with their hashes, and both seals. */
export function columnsOfEntry(sha256: Sha256, entry: RunEntry): readonly (string | number)[] {
  const { correlation, parameters } = entry;
  return [
    entry.created_instant,
    correlationText(correlation),
    canonicalize(parameters as JsonValue),
    parameters.map((one) => sha256(parameterText(one))).join(" "),
    sealEntry(sha256, { ...entry, status: "active" }),
    sealEntry(sha256, { ...entry, status: "complete" }),
  ];
}

/** Identifies the run of an append or row. */
export function nameOfRun(namespaceId: number, runId: string): string {
  return `${namespaceId} ${runId}`;
}

/** Appends a batch with at most one append for each run; returns the names of the runs that accepted it. */
export async function appendBatch(database: Database, batch: readonly PreparedAppend[]): Promise<ReadonlySet<string>> {
  const sorted = batch.toSorted((a, b) => compare(a.append, b.append));
  const created = sorted.filter(({ append }) => append.expected_head === null).map(({ run }) => run);
  const moved = sorted.filter(({ append }) => append.expected_head !== null).map(({ run }) => run);
  const records = sorted.flatMap(({ records }) => records);
  const artifacts = sorted.flatMap(({ append: { run_key, artifacts } }) =>
    artifacts.map(({ identity, kind, body }) => [run_key.namespace_id, run_key.run_id, identity, kind, body])
  );
  const stages = sorted.flatMap(({ stages }) => stages);
  const isPlain = stages.length === 0;
  const changes = isPlain ? [] : [[STAGE_COLUMNS, stages] as const];
  if (created.length === 0 && artifacts.length === 0) {
    const values = tableValues([MOVED_COLUMNS, moved], [RECORD_COLUMNS, records], ...changes);
    return runNames(await database.query(isPlain ? MOVE : MOVE_WITH_STAGES, values));
  }
  const values = tableValues(
    [MOVED_COLUMNS, moved],
    [CREATED_COLUMNS, created],
    [RECORD_COLUMNS, records],
    [ARTIFACT_COLUMNS, artifacts],
    ...changes,
  );
  return runNames(await database.query(isPlain ? APPEND : APPEND_WITH_STAGES, values));
}

/** Creations are ordered by the request that they answer, the only key for which two of them can compete. */
function compare(a: Append, b: Append): number {
  return a.run_key.namespace_id - b.run_key.namespace_id || (keyOf(a) < keyOf(b) ? -1 : 1);
}

function keyOf({ expected_head, records, run_key }: Append): string {
  return expected_head === null ? records[0]?.receipt.operation.identity ?? "" : run_key.run_id;
}

function columnsOf(rows: readonly (readonly (string | number | null)[])[], count: number): Value[] {
  return Array.from({ length: count }, (_, column) => rows.map((row) => row[column] ?? null));
}

function runNames(rows: readonly Row[]): ReadonlySet<string> {
  return new Set(rows.map((row) => nameOfRun(integer(row, "namespace_id"), text(row, "run_id"))));
}

/** The names of the runs that have the last record of their append: an earlier statement of unknown outcome stored it. */
export async function findStored(database: Database, batch: readonly PreparedAppend[]): Promise<ReadonlySet<string>> {
  const rows = batch.map(({ append: { run_key, records } }) => {
    const last = records.at(-1) as StoredRecord;
    return [run_key.namespace_id, run_key.run_id, last.revision, last.record_id];
  });
  return runNames(await database.query(FIND_RECORDS, columnsOf(rows, 4)));
}

/**
 * The reason why an append was not accepted: operations are compared first, the head second. The head is read first: a
 * receipt that is there by then is found, so no answer says `stale` of an operation that the named head includes.
 */
export async function refusalOf(database: Database, sha256: Sha256, append: Append): Promise<AppendResult | null> {
  const { run_key, expected_head } = append;
  const run = await findHead(database, sha256, run_key);
  const [first] = append.records;
  const receipt = expected_head === null && first !== undefined
    ? await findCreation(database, sha256, run_key.namespace_id, first.receipt.operation.identity)
    : await findReceipt(database, sha256, run_key, append.records.map((record) => record.receipt.operation));
  if (receipt !== null) return { outcome: "operation_exists", receipt };
  if (expected_head === null) return run === null ? null : { outcome: "run_exists", head: run.head };
  const isBound = run?.scenario_id === append.scenario_id && run.scenario_law_identity === append.scenario_law_identity;
  if (run === null || !isBound) return { outcome: "run_not_found" };
  const { head, archived } = run;
  const isSame = head.revision === expected_head.revision && head.record_id === expected_head.record_id;
  if (isSame && archived !== undefined) return { outcome: "archived", archived };
  // The run was moved and is read from a server that does not have it yet: the caller repeats the append.
  return isSame ? null : { outcome: "stale", head };
}

/** The receipt of the first of some operations that the run has. */
export async function findReceipt(
  database: Database,
  sha256: Sha256,
  runKey: RunKey,
  operations: readonly OperationId[],
): Promise<Receipt | null> {
  const values = [operations.map(({ identity }) => identity), operations.map(({ family }) => family)];
  const [row] = await database.query(FIND_RECEIPTS, [runKey.namespace_id, runKey.run_id, ...values]);
  return row === undefined ? null : toReceipt(sha256, runKey, row);
}

/** The receipt of a creation. */
export async function findCreation(
  database: Database,
  sha256: Sha256,
  namespaceId: number,
  id: string,
): Promise<Receipt | null> {
  const [row] = await database.query(FIND_CREATION, [namespaceId, id]);
  if (row === undefined) return null;
  const run_key = { namespace_id: namespaceId, run_id: text(row, "run_id") };
  if (row["family"] === "create_run" && row["operation"] === id) return toReceipt(sha256, run_key, row);
  throw new StoreError("corrupt", `Cannot read run "${run_key.run_id}" at revision 1: its creation is missing`);
}

/** The head of one run. */
export async function findHead(database: Database, sha256: Sha256, runKey: RunKey): Promise<RunHead | null> {
  return (await findHeads(database, sha256, [runKey])).get(nameOfRun(runKey.namespace_id, runKey.run_id)) ?? null;
}

/**
 * The heads of runs, by the names of the runs. The row of a run is compared with its records, whose last one must be
 * the head.
 *
 * @throws {StoreError} `corrupt`
 */
export async function findHeads(
  database: Database,
  sha256: Sha256,
  runKeys: readonly RunKey[],
): Promise<ReadonlyMap<string, RunHead>> {
  const keys = runKeys.map(({ namespace_id, run_id }) => [namespace_id, run_id]);
  const rows = await database.query(FIND_HEADS, columnsOf(keys, 2));
  return new Map(rows.map((row) => {
    const head = toHead(sha256, row);
    return [nameOfRun(head.run_key.namespace_id, head.run_key.run_id), head];
  }));
}

function toHead(sha256: Sha256, row: Row): RunHead {
  const run = runOf(row);
  const { run_key, head } = run;
  if (row["record_id"] !== head.record_id) {
    throw corruptRecord(run_key, head.revision, "its head names another record");
  }
  if (row["last"] !== head.revision) {
    throw corruptRecord(run_key, head.revision, `its head is not its last record, which has revision ${row["last"]}`);
  }
  const whole = withArchived(sha256, run, row);
  // Archived records have no text; the seal of the tombstone names their run.
  if (whole.archived === undefined && row["named"] !== true) throw corruptRecord(run_key, head.revision, OTHER_RUN);
  return whole;
}
