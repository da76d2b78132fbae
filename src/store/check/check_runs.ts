/**
 * The part of a check that verifies runs: the chain of each run, its receipts, its head, the objects that its records
 * name, and its snapshots.
 */

import type { Identity } from "../../canonical/identity.ts";
import type { RunKey } from "../../run/types.ts";
import { BoundedMap } from "../bounded_map.ts";
import { checkArchivedRun } from "./check_archived.ts";
import type { Checking, FoldedRecord } from "./check_types.ts";
import { bindingProblems, member, parseObject, recordProblems } from "../record_check.ts";
import { stageChangesOf } from "../open_stages.ts";
import { completesRun, entryOfCreation } from "../run_index.ts";
import { recordBytes } from "../size.ts";
import { integer, type Row, text } from "../rows/columns.ts";
import { sealHolds, toRecord } from "../rows/records.ts";
import { snapshotProblems, toSnapshot } from "../rows/snapshots.ts";
import { runOf } from "../rows/store_rows.ts";
import { type RunHead, type Snapshot, type StoredRecord, StoreError } from "../types.ts";

/** Laws that are read once for many runs. */
const LAWS_KEPT = 64;

/** Names of artifacts that are looked up once for many records. */
const ARTIFACTS_KEPT = 4096;

/** What the checks of runs share. */
interface Shared {
  readonly checking: Checking;
  readonly laws: BoundedMap<string, string>;
  readonly artifacts: BoundedMap<string, true>;
}

/** The check of one run. */
interface RunCheck {
  readonly shared: Shared;
  readonly checking: Checking;
  readonly row: Row;
  readonly run: RunHead;
  readonly law: string | null;
  /** All records so far; empty where states are not rebuilt. */
  readonly folded: FoldedRecord[];
  /** The text of the first record. */
  first: string;
  isComplete: boolean;
  /** The stages that are open after the records so far, with their instants. */
  readonly openStages: Map<string, number>;
  isArchived: boolean;
  /** Whether the chain has a problem; a broken chain is not folded. */
  broken: boolean;
  readonly keepBytes: number;
  /** The records so far; null once their texts have more than `keepBytes`. */
  kept: StoredRecord[] | null;
  keptBytes: number;
  readonly snapshots: Snapshot[];
  /** Identities of the artifacts that the records name. */
  readonly artifacts: Set<string>;
}

/** A run without problems. */
export interface CheckedRun {
  readonly run: RunHead;
  readonly row: Row;
  /** All records; null where their texts have more bytes than were to be kept. */
  readonly records: readonly StoredRecord[] | null;
  /** UTF-8 bytes of the texts of {@link CheckedRun.records}. */
  readonly bytes: number;
  readonly snapshots: readonly Snapshot[];
  /** Identities of the artifacts that the records name. */
  readonly artifacts: ReadonlySet<string>;
}

/** Uses the runs without problems. */
export interface RunUse {
  /** UTF-8 bytes of the records of one run that are kept for it. */
  readonly keepBytes: number;
  readonly use: (run: CheckedRun) => Promise<void>;
  /** Uses an archived run, which has receipts only. */
  readonly useArchived: (run: RunHead, row: Row) => Promise<void>;
}

/** Checks every run of the store. */
export async function checkRuns(checking: Checking, runUse?: RunUse): Promise<void> {
  const { rows } = checking;
  const shared: Shared = { checking, laws: new BoundedMap(LAWS_KEPT), artifacts: new BoundedMap(ARTIFACTS_KEPT) };
  let after: RunKey = { namespace_id: 0, run_id: "" };
  for (;;) {
    const check: RunCheck | null = await rows.atOneMoment(async () => {
      const row = await rows.nextRun(after);
      if (row === null) return null;
      const started = await startRun(shared, row, runUse?.keepBytes ?? 0);
      await checkRun(started);
      return started;
    });
    if (check === null) return;
    after = check.run.run_key;
    const { run, row, kept, keptBytes, snapshots, artifacts } = check;
    if (check.broken) continue;
    if (check.isArchived) await runUse?.useArchived(run, row);
    else await runUse?.use({ run, row, records: kept, bytes: keptBytes, snapshots, artifacts });
  }
}

async function startRun(shared: Shared, row: Row, keepBytes: number): Promise<RunCheck> {
  const { checking } = shared;
  const run = runOf(row);
  return {
    shared,
    checking,
    row,
    run,
    law: await lawOf(shared, run.run_key.namespace_id, run.scenario_law_identity),
    folded: [],
    first: "",
    isComplete: false,
    openStages: new Map(),
    isArchived: false,
    broken: false,
    keepBytes,
    kept: keepBytes === 0 ? null : [],
    keptBytes: 0,
    snapshots: [],
    artifacts: new Set(),
  };
}

async function lawOf({ checking, laws }: Shared, namespaceId: number, identity: string): Promise<string | null> {
  const name = `${namespaceId} ${identity}`;
  const known = laws.get(name);
  if (known !== undefined) return known;
  const row = await checking.rows.law(namespaceId, identity);
  if (row === null) return null;
  const law = text(row, "law");
  laws.set(name, law);
  return law;
}

async function checkRun(check: RunCheck): Promise<void> {
  const { checking, run } = check;
  checking.counts.runs += 1;
  if (check.law === null) problem(check, "run", `its law "${run.scenario_law_identity}" is missing`);
  if (await checkTombstone(check)) return;
  let revision = 0;
  let previous: Identity | null = null;
  for (;;) {
    const rows = await checking.rows.records(check.row, revision);
    for (const row of rows) {
      // Another process archived the run after its row was read.
      if (row["record"] === "" && await checkTombstone(check)) return;
      const found = integer(row, "revision");
      if (found !== revision + 1) missing(check, revision + 1, found - 1);
      await checkRecord(check, row, found, found === revision + 1 ? previous : undefined);
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
  await checkEntry(check);
  await checkStages(check);
  await checkSnapshots(check, revision);
}

/** Checks an archived run. Returns false for any other run. */
async function checkTombstone(check: RunCheck): Promise<boolean> {
  const tombstone = await check.checking.rows.tombstone(check.row);
  if (tombstone === null) return false;
  check.isArchived = true;
  if (!await checkArchivedRun(check.checking, check, tombstone)) check.broken = true;
  return true;
}

/** Compares the entry in the index of runs with the records. */
async function checkEntry(check: RunCheck): Promise<void> {
  const { checking: { rows, options }, run, row, first, isComplete } = check;
  if (check.broken) return;
  try {
    const entry = entryOfCreation(run, first);
    const expected = isComplete ? { ...entry, status: "complete" as const } : entry;
    for (const message of await rows.entryProblems(options.sha256, row, expected)) problem(check, "run", message);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
    problem(check, "run", error.message);
  }
}

/** Compares the open stages, which metrics read, with the records. */
async function checkStages(check: RunCheck): Promise<void> {
  if (check.broken) return;
  const stored = await check.checking.rows.openStages(check.row);
  if (stored === null) return;
  const { openStages } = check;
  const isSame = stored.size === openStages.size &&
    [...openStages].every(([stage, instant]) => stored.get(stage) === instant);
  if (!isSame) problem(check, "run", "its open stages differ from its records");
}

async function checkRecord(
  check: RunCheck,
  row: Row,
  revision: number,
  previous: Identity | null | undefined,
): Promise<void> {
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
  problems.push(...await namedProblems(check, record));
  for (const message of problems) problem(check, "record", message, revision);
  keepRecord(check, record);
}

function keepRecord(check: RunCheck, record: StoredRecord): void {
  if (record.revision === 1) check.first = record.record;
  check.isComplete ||= completesRun(record.record);
  keepStages(check, record);
  if (check.checking.options.fold !== undefined) {
    check.folded.push({ revision: record.revision, record_id: record.record_id, record: record.record });
  }
  if (check.kept === null) return;
  check.keptBytes += recordBytes(record);
  if (check.keptBytes <= check.keepBytes) check.kept.push(record);
  else check.kept = null;
}

function keepStages({ openStages }: RunCheck, record: StoredRecord): void {
  const changes = stageChangesOf([record]);
  if (changes === null) return;
  if (changes.isRunComplete) openStages.clear();
  for (const stage of changes.completed) openStages.delete(stage);
  for (const { stage_id, instant } of changes.opened) openStages.set(stage_id, instant);
}

/** The first record must be the creation with the request of the run's row. */
function creationProblems(check: RunCheck, record: StoredRecord): string[] {
  const { family, identity } = record.receipt.operation;
  if (family === "create_run" && identity === text(check.row, "creation")) return [];
  return ["it is not the creation of the run"];
}

/**
 * The objects that a record names must exist: payloads and retained values beside it; profiles, contracts and schemas
 * as artifacts.
 */
async function namedProblems(check: RunCheck, record: StoredRecord): Promise<string[]> {
  const members = parseObject(record.record);
  const body = member(members, "body");
  const beside = [member(body, "payload_identity"), member(member(body, "genesis"), "payload_identity")];
  for (const item of items(member(body, "evidence"))) {
    if (member(item, "retention") === "RetainCanonicalValue") beside.push(member(item, "value_identity"));
  }
  const shared = [
    member(members, "operator_profile"),
    ...items(member(body, "contracts")).flatMap((item) => [
      member(item, "contract_identity"),
      member(item, "provider_version_identity"),
    ]),
    ...items(member(body, "schemas")).map((item) => member(item, "schema_identity")),
  ];
  const kept = new Set<unknown>(record.material.map((item) => item.identity));
  const problems = beside.filter((name) => typeof name === "string" && !kept.has(name))
    .map((name) => `material "${String(name)}" that it names is missing`);
  for (const name of shared) {
    if (typeof name !== "string") continue;
    check.artifacts.add(name);
    if (await hasArtifact(check.shared, name)) continue;
    problems.push(`artifact "${name}" that it names is missing`);
  }
  return problems;
}

async function hasArtifact({ checking, artifacts }: Shared, identity: string): Promise<boolean> {
  if (artifacts.get(identity) !== undefined) return true;
  if (await checking.rows.artifact(identity) === null) return false;
  artifacts.set(identity, true);
  return true;
}

function items(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

async function checkSnapshots(check: RunCheck, last: number): Promise<void> {
  const { checking, run } = check;
  const { sha256 } = checking.options;
  let newest = 0;
  for (const row of await checking.rows.snapshots(check.row)) {
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
    if (problems.length === 0 && check.keepBytes > 0) check.snapshots.push(snapshot);
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
