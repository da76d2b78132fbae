/**
 * The compare-and-set append in SQL.
 *
 * The fast path takes two statements for each record: the first moves the head if it is the expected one and the
 * operation is new, the second inserts. Only where the first moves nothing, further statements find the reason. All
 * computation happens before the operation waits for the writer.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { OperationId, RunKey } from "../../run/types.ts";
import { type Append, type AppendResult, type Receipt, type RunHead, type StoredRecord, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import { putArtifact } from "../rows/artifacts.ts";
import { runStatement } from "./statements.ts";
import { stageChangesOf } from "../open_stages.ts";
import { completesRun } from "../run_index.ts";
import { ARCHIVED_COLUMNS, withArchived } from "../rows/tombstones.ts";
import { writeStages } from "./open_stages.ts";
import { completeEntry, prepareEntry, writeEntry } from "./run_index.ts";
import {
  corruptRecord,
  namesRun,
  OTHER_RUN,
  RECEIPT_COLUMNS,
  type RecordValues,
  toReceipt,
  toValues,
} from "../rows/records.ts";
import { integer, type Row, text } from "../rows/columns.ts";

const MOVE_HEAD = `UPDATE runs SET revision = ?, head = ?
  WHERE namespace_id = ? AND run_id = ? AND revision = ? AND head = ? AND scenario_id = ? AND law_identity = ?
  AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.run_row = runs.run_row AND r.operation = ? AND r.family = ?)
  AND NOT EXISTS (SELECT 1 FROM archives AS a WHERE a.run_row = runs.run_row)`;

/** Inserts the row of a run unless a run of its id or of its creation request exists. */
export const CREATE_RUN = `INSERT INTO runs (revision, head, namespace_id, run_id, scenario_id, law_identity, creation)
  SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 WHERE NOT EXISTS (
    SELECT 1 FROM records AS r JOIN runs AS u ON u.run_row = r.run_row
    WHERE r.family = 'create_run' AND r.operation = ?7 AND u.namespace_id = ?3) ON CONFLICT DO NOTHING`;

/** Inserts one record of an existing run. */
export const INSERT_RECORD = `INSERT INTO records
  (run_row, revision, record_id, family, operation, invocation_identity, material_names, seal, result, record, material)
  VALUES ((SELECT run_row FROM runs WHERE namespace_id = ? AND run_id = ?), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

const FIND_RECEIPT = `SELECT ${RECEIPT_COLUMNS} FROM runs JOIN records AS r ON r.run_row = runs.run_row
  WHERE runs.namespace_id = ? AND runs.run_id = ? AND r.operation = ? AND r.family = ?`;

const FIND_CREATION = `SELECT runs.run_id, runs.creation, ${RECEIPT_COLUMNS} FROM runs
  LEFT JOIN records AS r ON r.run_row = runs.run_row AND r.revision = 1
  WHERE runs.namespace_id = ?1 AND runs.creation = ?2
  UNION ALL SELECT runs.run_id, runs.creation, ${RECEIPT_COLUMNS} FROM records AS r JOIN runs ON runs.run_row = r.run_row
  WHERE r.family = 'create_run' AND r.operation = ?2 AND runs.namespace_id = ?1 AND runs.creation <> ?2`;

const FIND_RUN =
  `SELECT runs.scenario_id, runs.law_identity, runs.revision, runs.head, r.record_id, ${ARCHIVED_COLUMNS},
  ${namesRun("instr", "r.record", "runs")} AS named,
  (SELECT max(revision) FROM records WHERE run_row = runs.run_row) AS last FROM runs
  LEFT JOIN archives AS a ON a.run_row = runs.run_row
  LEFT JOIN records AS r ON r.run_row = runs.run_row AND r.revision = runs.revision
  WHERE runs.namespace_id = ? AND runs.run_id = ?`;

/** A prepared append; to be called inside a transaction. */
export type PreparedAppend = (connection: Connection) => AppendResult;

/** Computes everything that an append needs except comparing and writing. The append must have passed `assertAppend`. */
export function prepareAppend(sha256: Sha256, append: Append): PreparedAppend {
  const rows: readonly RecordValues[] = append.records.map((record) => toValues(sha256, append.run_key, record));
  const entry = prepareEntry(sha256, append);
  const isCompleted = entry === null && append.records.some(({ record }) => completesRun(record));
  const stages = stageChangesOf(append.records);
  return (connection) => {
    const isMoved = append.expected_head === null ? createRun(connection, append) : moveHead(connection, append);
    if (!isMoved) return appendRefusal(connection, sha256, append);
    if (entry !== null) writeEntry(connection, entry);
    if (isCompleted) completeEntry(connection, sha256, append.run_key);
    if (stages !== null) writeStages(connection, append.run_key, stages);
    const insert = connection.statement(INSERT_RECORD);
    for (const values of rows) insert.run(...values);
    for (const artifact of append.artifacts) runStatement(connection, putArtifact(artifact));
    return { outcome: "accepted" };
  };
}

function createRun(connection: Connection, append: Append): boolean {
  const { run_key, scenario_id, scenario_law_identity } = append;
  const { first, last } = ends(append);
  const creation = first.receipt.operation.identity;
  return connection.statement(CREATE_RUN)
    .run(
      last.revision,
      last.record_id,
      run_key.namespace_id,
      run_key.run_id,
      scenario_id,
      scenario_law_identity,
      creation,
    ).changes === 1;
}

function moveHead(connection: Connection, append: Append): boolean {
  const { run_key, expected_head, scenario_id, scenario_law_identity } = append;
  const { first, last } = ends(append);
  if (expected_head === null) return false;
  for (const { receipt } of append.records.slice(1)) {
    const { identity, family } = receipt.operation;
    const found = connection.statement(FIND_RECEIPT).get(run_key.namespace_id, run_key.run_id, identity, family);
    if (found !== undefined) return false;
  }
  const { identity, family } = first.receipt.operation;
  return connection.statement(MOVE_HEAD).run(
    last.revision,
    last.record_id,
    run_key.namespace_id,
    run_key.run_id,
    expected_head.revision,
    expected_head.record_id,
    scenario_id,
    scenario_law_identity,
    identity,
    family,
  ).changes === 1;
}

function ends(append: Append): { readonly first: StoredRecord; readonly last: StoredRecord } {
  const first = append.records[0];
  const last = append.records.at(-1);
  if (first === undefined || last === undefined) throw new StoreError("corrupt", "Cannot append: no record is given");
  return { first, last };
}

/** The reason why nothing was moved: operations are compared first, the head second. */
function appendRefusal(connection: Connection, sha256: Sha256, append: Append): AppendResult {
  const { run_key } = append;
  for (const { receipt: { operation } } of append.records) {
    const receipt = operation.family === "create_run"
      ? findCreation(connection, sha256, run_key.namespace_id, operation.identity)
      : findReceipt(connection, sha256, run_key, operation);
    if (receipt !== null) return { outcome: "operation_exists", receipt };
  }
  const run = findRun(connection, sha256, run_key);
  if (append.expected_head === null) {
    if (run !== null) return { outcome: "run_exists", head: run.head };
    throw new StoreError("io", `Cannot create run "${run_key.run_id}": the database refuses the row`);
  }
  const bound = run !== null && run.scenario_id === append.scenario_id &&
    run.scenario_law_identity === append.scenario_law_identity;
  if (!bound) return { outcome: "run_not_found" };
  const { head, archived } = run;
  const isSame = head.revision === append.expected_head.revision && head.record_id === append.expected_head.record_id;
  return archived !== undefined && isSame ? { outcome: "archived", archived } : { outcome: "stale", head };
}

/** The receipt of an operation on a run. */
export function findReceipt(
  connection: Connection,
  sha256: Sha256,
  runKey: RunKey,
  operation: OperationId,
): Receipt | null {
  const row = connection.statement(FIND_RECEIPT)
    .get(runKey.namespace_id, runKey.run_id, operation.identity, operation.family);
  return row === undefined ? null : toReceipt(sha256, runKey, row);
}

/**
 * The receipt of a creation. The run is found by the request in its row and by that of its first record, which must
 * agree.
 *
 * @throws {StoreError} `corrupt`
 */
export function findCreation(connection: Connection, sha256: Sha256, namespaceId: number, id: string): Receipt | null {
  const row: Row | undefined = connection.statement(FIND_CREATION).get(namespaceId, id);
  if (row === undefined) return null;
  const run_key = { namespace_id: namespaceId, run_id: text(row, "run_id") };
  const isWhole = row["family"] === "create_run" && row["operation"] === id && row["creation"] === id;
  if (isWhole) return toReceipt(sha256, run_key, row);
  throw new StoreError("corrupt", `Cannot read run "${run_key.run_id}" at revision 1: its creation is missing`);
}

/**
 * Head of a run. The row of the run is compared with the records, whose last one must be the head.
 *
 * @throws {StoreError} `corrupt`
 */
export function findRun(connection: Connection, sha256: Sha256, runKey: RunKey): RunHead | null {
  const row = connection.statement(FIND_RUN).get(runKey.namespace_id, runKey.run_id);
  if (row === undefined) return null;
  const head = { record_id: text(row, "head"), revision: integer(row, "revision") };
  if (row["record_id"] !== head.record_id) {
    throw corruptRecord(runKey, head.revision, "its head names another record");
  }
  if (row["last"] !== head.revision) {
    throw corruptRecord(runKey, head.revision, `its head is not its last record, which has revision ${row["last"]}`);
  }
  const scenario_law_identity = text(row, "law_identity");
  const run = withArchived(
    sha256,
    { run_key: runKey, scenario_id: text(row, "scenario_id"), scenario_law_identity, head },
    row,
  );
  // Archived records have no text; the seal of the tombstone names their run.
  if (run.archived === undefined && row["named"] !== 1) throw corruptRecord(runKey, head.revision, OTHER_RUN);
  return run;
}
