/**
 * The part of a check that verifies runs: the chain of each run, its receipts, its head, the objects that its records name, and its
 * snapshots.
 *
 * @module
 */

import type { Identity } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import type { Checking, FoldedRecord } from "../check_types.ts";
import { bindingProblems, member, parseObject, recordProblems } from "../record_check.ts";
import type { RunHead, StoredRecord } from "../types.ts";
import { sealEntry } from "../seal.ts";
import { rollback } from "./connection.ts";
import { formatOf, INDEX_FORMAT } from "./format_steps.ts";
import { integer, RECORD_COLUMNS, type Row, sealHolds, text, toRecord } from "./rows.ts";
import { entryOfRecords, toEntry } from "./run_index.ts";
import { snapshotProblems, toSnapshot } from "./snapshots.ts";

const RUNS = "SELECT * FROM runs WHERE (namespace_id, run_id) > (?, ?) ORDER BY namespace_id, run_id LIMIT 1";
const RECORDS =
  `SELECT ${RECORD_COLUMNS} FROM records AS r WHERE r.run_row = ? AND r.revision > ? ORDER BY r.revision LIMIT 64`;
const SNAPSHOTS = "SELECT revision, state_identity, state FROM snapshots WHERE run_row = ? ORDER BY revision";
const LAW = "SELECT law FROM laws WHERE namespace_id = ? AND identity = ?";
const ENTRY = "SELECT * FROM run_index WHERE run_row = ?";
const OLDEST_ENTRY = "SELECT coalesce(min(run_row), 9007199254740991) AS oldest FROM run_index";
const HAS_ARTIFACT = "SELECT 1 FROM artifacts WHERE identity = ?";

/** The check of one run. */
interface RunCheck {
  readonly checking: Checking;
  readonly run: RunHead;
  readonly runRow: number;
  readonly creation: string;
  readonly law: string | null;
  /** All records so far; empty where states are not rebuilt. */
  readonly folded: FoldedRecord[];
  /** Whether the chain has a problem; a broken chain is not folded. */
  broken: boolean;
}

/** Checks every run of the store. */
export async function checkRuns(checking: Checking): Promise<void> {
  const { connection } = checking;
  let after: RunKey = { namespace_id: 0, run_id: "" };
  for (;;) {
    // One transaction for each run: all of its rows are of one moment, although others append.
    connection.statement("BEGIN").run();
    try {
      const row: Row | undefined = connection.statement(RUNS).get(after.namespace_id, after.run_id);
      if (row === undefined) return;
      after = { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") };
      await checkRun(startRun(checking, after, row));
    } finally {
      rollback(connection);
    }
  }
}

function startRun(checking: Checking, run_key: RunKey, row: Row): RunCheck {
  const scenario_law_identity = text(row, "law_identity");
  const head = { record_id: text(row, "head"), revision: integer(row, "revision") };
  const run = { run_key, scenario_id: text(row, "scenario_id"), scenario_law_identity, head };
  const law = checking.connection.statement(LAW).get(run_key.namespace_id, scenario_law_identity);
  return {
    checking,
    run,
    runRow: integer(row, "run_row"),
    creation: text(row, "creation"),
    law: law === undefined ? null : text(law, "law"),
    folded: [],
    broken: false,
  };
}

async function checkRun(check: RunCheck): Promise<void> {
  const { checking, run } = check;
  checking.counts.runs += 1;
  if (check.law === null) problem(check, "run", `its law "${run.scenario_law_identity}" is missing`);
  let revision = 0;
  let previous: Identity | null = null;
  for (;;) {
    const rows = checking.connection.statement(RECORDS).all(check.runRow, revision);
    for (const row of rows) {
      const found = integer(row, "revision");
      if (found !== revision + 1) missing(check, revision + 1, found - 1);
      checkRecord(check, row, found, found === revision + 1 ? previous : undefined);
      revision = found;
      previous = text(row, "record_id");
    }
    await checking.turn();
    if (rows.length === 0) break;
  }
  const { head } = run;
  if (revision < head.revision) missing(check, revision + 1, head.revision);
  if (revision === head.revision && previous !== head.record_id) {
    problem(check, "run", "its head names another record", head.revision);
  }
  checkEntry(check);
  checkSnapshots(check, revision);
}

/** Compares the entry in the index of runs with the records. Older runs may have no entry: `gate store migrate` adds them. */
function checkEntry(check: RunCheck): void {
  const { checking: { connection, options }, runRow, run } = check;
  if (check.broken || formatOf(connection) < INDEX_FORMAT) return;
  const row = connection.statement(ENTRY).get(runRow);
  if (row === undefined) {
    const oldest = connection.statement(OLDEST_ENTRY).get();
    if (oldest !== undefined && runRow > integer(oldest, "oldest")) {
      problem(check, "run", "it is not in the index of runs");
    }
    return;
  }
  try {
    const { run_key, scenario_id, scenario_law_identity } = run;
    const names = { run_row: runRow, ...run_key, scenario_id, law_identity: scenario_law_identity };
    const expected = entryOfRecords(connection, names);
    const found = toEntry(options.sha256, row);
    if (sealEntry(options.sha256, found) === sealEntry(options.sha256, expected)) return;
    problem(check, "run", "its entry in the index of runs differs from its records");
  } catch (error) {
    problem(check, "run", error instanceof Error ? error.message : String(error));
  }
}

function checkRecord(check: RunCheck, row: Row, revision: number, previous: Identity | null | undefined): void {
  const { checking, run } = check;
  const { sha256 } = checking.options;
  checking.counts.records += 1;
  if (revision > run.head.revision) problem(check, "record", "it is beyond the head", revision);
  let record: StoredRecord;
  try {
    record = toRecord(run.run_key, row);
  } catch (error) {
    return problem(check, "record", error instanceof Error ? error.message : String(error), revision);
  }
  checking.counts.material += record.material.length;
  const problems = recordProblems(sha256, { run_key: run.run_key, revision, previous }, record);
  if (!sealHolds(sha256, run.run_key, row)) problems.push("its receipt differs from the written one");
  if (revision === 1) problems.push(...bindingProblems(run, record), ...creationProblems(check, record));
  problems.push(...namedProblems(check, record));
  for (const message of problems) problem(check, "record", message, revision);
  if (checking.options.fold === undefined) return;
  check.folded.push({ revision, record_id: record.record_id, record: record.record });
}

/** The first record must be the creation with the request of the run's row. */
function creationProblems(check: RunCheck, record: StoredRecord): string[] {
  const { family, identity } = record.receipt.operation;
  if (family === "create_run" && identity === check.creation) return [];
  return ["it is not the creation of the run"];
}

/** The objects that a record names must exist: payloads and retained values beside it; profiles, contracts and schemas as artifacts. */
function namedProblems(check: RunCheck, record: StoredRecord): string[] {
  const members = parseObject(record.record);
  const body = member(members, "body");
  const beside = [member(body, "payload_identity"), member(member(body, "genesis"), "payload_identity")];
  for (const item of items(member(body, "evidence"))) {
    if (member(item, "retention") === "RetainCanonicalValue") beside.push(member(item, "value_identity"));
  }
  const shared = [
    member(members, "operator_profile"),
    ...items(member(body, "contracts")).map((item) => member(item, "contract_identity")),
    ...items(member(body, "schemas")).map((item) => member(item, "schema_identity")),
  ];
  const kept = new Set<unknown>(record.material.map((item) => item.identity));
  const hasArtifact = check.checking.connection.statement(HAS_ARTIFACT);
  return [
    ...beside.filter((name) => typeof name === "string" && !kept.has(name))
      .map((name) => `material "${String(name)}" that it names is missing`),
    ...shared.filter((name) => typeof name === "string" && hasArtifact.get(name) === undefined)
      .map((name) => `artifact "${String(name)}" that it names is missing`),
  ];
}

function items(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

function checkSnapshots(check: RunCheck, last: number): void {
  const { checking, run } = check;
  const { sha256 } = checking.options;
  let newest = 0;
  for (const row of checking.connection.statement(SNAPSHOTS).all(check.runRow)) {
    checking.counts.snapshots += 1;
    const snapshot = toSnapshot(row);
    newest = snapshot.revision;
    const problems = snapshotProblems(sha256, snapshot);
    if (snapshot.revision > run.head.revision) problems.push("the snapshot is of a revision beyond the head");
    const state = rebuild(check, snapshot.revision);
    if (state !== null && state !== snapshot.state) {
      problems.push("the snapshot is not the state that its records fold to");
    }
    for (const message of problems) problem(check, "snapshot", message, snapshot.revision);
  }
  if (newest !== last) rebuild(check, last);
}

/** The state that the records up to a revision fold to; null without a fold, or where the chain is broken. */
function rebuild(check: RunCheck, revision: number): string | null {
  const { checking, law, folded } = check;
  const { fold } = checking.options;
  if (fold === undefined || law === null || check.broken || revision === 0 || folded.length < revision) return null;
  try {
    return fold(law, folded.slice(0, revision));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    problem(check, "run", `its records do not fold: ${why}`, revision);
    return null;
  }
}

function missing(check: RunCheck, from: number, to: number): void {
  const which = from === to ? `record ${from} is` : `records ${from} to ${to} are`;
  problem(check, "run", `${which} missing`, from);
}

function problem(check: RunCheck, what: "run" | "record" | "snapshot", message: string, revision?: number): void {
  if (what !== "snapshot") check.broken = true;
  const at = revision === undefined ? {} : { revision };
  check.checking.report(what, message, { ...check.run.run_key, ...at });
}
