/**
 * A run store in memory: the same results as the store on disk, without durability.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import type { Head, OperationId, RunKey } from "../../run/types.ts";
import {
  admits,
  completesRun,
  entryOfCreation,
  isAfter,
  type ListedRun,
  type RunEntry,
  type RunPage,
  type RunPosition,
  type RunQuery,
} from "../run_index.ts";
import { type RunFigures, stageChangesOf } from "../open_stages.ts";
import { assertAppend, assertLaw } from "../shape.ts";
import { recordBytes } from "../size.ts";
import { SNAPSHOTS_KEPT } from "../snapshots.ts";
import {
  type Append,
  type AppendResult,
  type ArchivedRun,
  type ArchiveResult,
  type Artifact,
  type Receipt,
  type RunHead,
  type RunStore,
  type Snapshot,
  type StoredLaw,
  type StoredReceipt,
  type StoredRecord,
  StoreError,
  type Tombstone,
} from "../types.ts";
import { createMemoryOutbox } from "./outbox.ts";
import { archivedError, archivedOf, tombstoneProblem } from "../tombstone.ts";

interface MemoryRun {
  head: RunHead;
  /** The entry in the index of runs, and the number of the run in the order of creation. */
  entry: RunEntry;
  readonly row: number;
  /** Without texts and material once the run is archived. */
  records: StoredRecord[];
  readonly receipts: Map<string, Receipt>;
  snapshots: Snapshot[];
  /** Instants of the openings of stages that are open, by stage. */
  readonly open: Map<string, number>;
  tombstone: Tombstone | null;
}

interface Memory {
  readonly laws: Map<string, StoredLaw>;
  readonly runs: Map<string, MemoryRun>;
  /** All runs in the ascending order of (creation instant, run id). */
  readonly listed: MemoryRun[];
  /** Receipts of creations by namespace and request. */
  readonly creations: Map<string, Receipt>;
  readonly artifacts: Map<string, Artifact>;
  readonly snapshotsKept: number;
  /** Runs with an open stage. */
  readonly waiting: Set<MemoryRun>;
  active: number;
}

/** Opens an empty run store in memory. */
export function openMemoryRunStore(options: { readonly max_versions: number | null }, sha256: Sha256): RunStore {
  const memory: Memory = {
    laws: new Map(),
    runs: new Map(),
    listed: [],
    creations: new Map(),
    artifacts: new Map(),
    snapshotsKept: options.max_versions ?? SNAPSHOTS_KEPT,
    waiting: new Set(),
    active: 0,
  };
  const outbox = createMemoryOutbox();
  let open = true;
  // Runs at the call and resolves later, so that calls take effect in their order.
  const answer = <Result>(work: () => Result): Promise<Result> => {
    if (!open) return Promise.reject(new StoreError("closed", "Cannot use the run store: it is closed"));
    return new Promise((resolve) => resolve(work()));
  };
  return {
    putLaw: (law) => answer(() => putLaw(memory, law)),
    getLaw: (namespaceId, identity) => answer(() => memory.laws.get(`${namespaceId} ${identity}`) ?? null),
    hasScenario: (namespaceId, scenarioId) => answer(() => lawsOf(memory, namespaceId).some(isOf(scenarioId))),
    listLaws: (namespaceId, after, limit) => answer(() => listLaws(memory, namespaceId, after, limit)),
    listNamespaces: (after, limit) => answer(() => listNamespaces(memory, after, limit)),
    append: (append) =>
      answer(() => {
        const result = applyAppend(memory, append);
        if (result.outcome === "accepted") outbox.accepted(append);
        return result;
      }),
    outbox,
    getHead: (runKey) => answer(() => memory.runs.get(keyOf(runKey))?.head ?? null),
    getReceipt: (runKey, operation) => answer(() => receiptOf(memory, runKey, operation)),
    getCreationReceipt: (namespaceId, id) => answer(() => memory.creations.get(`${namespaceId} ${id}`) ?? null),
    listRecords: (runKey, after, limit, maximumBytes) =>
      answer(() => listRecords(memory, runKey, after, limit, maximumBytes ?? Infinity)),
    listReceipts: (runKey, after, limit) => answer(() => listReceipts(memory, runKey, after, limit)),
    archive: (runKey, head, tombstone) => answer(() => archive(memory, sha256, { runKey, head, tombstone })),
    putArchived: (archived) => answer(() => putArchived(memory, sha256, archived)),
    getTombstone: (runKey) => answer(() => memory.runs.get(keyOf(runKey))?.tombstone ?? null),
    getArtifact: (identity) => answer(() => memory.artifacts.get(identity) ?? null),
    putArtifact: (artifact) => answer(() => putArtifact(memory, artifact)),
    putSnapshot: (runKey, snapshot) => answer(() => putSnapshot(memory, runKey, snapshot)),
    getSnapshot: (runKey, atMost) => answer(() => getSnapshot(memory, runKey, atMost)),
    findRuns: (query, after, limit) => answer(() => findRuns(memory, query, after, limit)),
    figures: () => answer(() => figuresOf(memory)),
    listRuns: (after, limit) => answer(() => listRuns(memory, after, limit)),
    ready: () => answer(() => undefined),
    close: () => {
      open = false;
      return Promise.resolve();
    },
  };
}

function putLaw(memory: Memory, law: StoredLaw): "stored" | "exists" {
  assertLaw(law);
  const key = `${law.namespace_id} ${law.scenario_law_identity}`;
  if (memory.laws.has(key)) return "exists";
  memory.laws.set(key, { ...law });
  return "stored";
}

function lawsOf(memory: Memory, namespaceId: number): StoredLaw[] {
  return [...memory.laws.values()].filter((law) => law.namespace_id === namespaceId);
}

function isOf(scenarioId: string): (law: StoredLaw) => boolean {
  return (law) => law.scenario_id === scenarioId;
}

type LawKey = Pick<StoredLaw, "scenario_id" | "scenario_law_identity">;

function compareLaws(a: LawKey, b: LawKey): number {
  return compareCodePoints(a.scenario_id, b.scenario_id) ||
    compareCodePoints(a.scenario_law_identity, b.scenario_law_identity);
}

function listLaws(
  memory: Memory,
  namespaceId: number,
  after: LawKey | null,
  limit: number,
): Awaited<ReturnType<RunStore["listLaws"]>> {
  return lawsOf(memory, namespaceId)
    .filter((law) => after === null || compareLaws(law, after) > 0)
    .sort(compareLaws)
    .slice(0, limit)
    .map(({ namespace_id, scenario_id, scenario_law_identity }) => ({
      namespace_id,
      scenario_id,
      scenario_law_identity,
    }));
}

function listNamespaces(memory: Memory, after: number, limit: number): number[] {
  const all = new Set([...memory.laws.values()].map(({ namespace_id }) => namespace_id));
  return [...all].filter((id) => id > after).sort((a, b) => a - b).slice(0, limit);
}

function applyAppend(memory: Memory, append: Append): AppendResult {
  assertAppend(append);
  const run = memory.runs.get(keyOf(append.run_key));
  const refused = refusal(memory, append, run);
  if (refused !== null) return refused;
  const last = append.records.at(-1) as StoredRecord;
  const { run_key, scenario_id, scenario_law_identity } = append;
  const head = {
    run_key,
    scenario_id,
    scenario_law_identity,
    head: { record_id: last.record_id, revision: last.revision },
  };
  const target: MemoryRun = run ?? createRun(memory, entryOfCreation(append, append.records[0]?.record ?? ""), head);
  target.head = head;
  if (run === undefined) memory.active += 1;
  changeStages(memory, target, append.records);
  for (const record of append.records) {
    if (completesRun(record.record)) target.entry = { ...target.entry, status: "complete" };
    target.records.push(record);
    putReceipt(memory, target, record);
  }
  memory.runs.set(keyOf(run_key), target);
  for (const artifact of append.artifacts) putArtifact(memory, artifact);
  return { outcome: "accepted" };
}

function changeStages(memory: Memory, run: MemoryRun, records: readonly StoredRecord[]): void {
  const changes = stageChangesOf(records);
  if (changes === null) return;
  const { opened, completed, isRunComplete } = changes;
  if (isRunComplete) {
    run.open.clear();
    memory.active -= 1;
  }
  for (const stage of completed) run.open.delete(stage);
  for (const { stage_id, instant } of opened) run.open.set(stage_id, instant);
  if (run.open.size > 0) memory.waiting.add(run);
  else memory.waiting.delete(run);
}

function figuresOf({ active, listed, waiting }: Memory): RunFigures {
  let oldestOpened: number | null = null;
  for (const { open } of waiting) {
    for (const instant of open.values()) oldestOpened = Math.min(oldestOpened ?? instant, instant);
  }
  return { active, complete: listed.length - active, oldestOpened };
}

function putReceipt(memory: Memory, run: MemoryRun, { revision, receipt: stored }: StoredReceipt): void {
  const { run_key } = run.head;
  const receipt: Receipt = { ...stored, run_key, revision };
  run.receipts.set(operationKey(receipt.operation), receipt);
  if (receipt.operation.family !== "create_run") return;
  memory.creations.set(`${run_key.namespace_id} ${receipt.operation.identity}`, receipt);
}

function putArtifact({ artifacts }: Memory, artifact: Artifact): void {
  if (!artifacts.has(artifact.identity)) artifacts.set(artifact.identity, artifact);
}

function createRun(memory: Memory, entry: RunEntry, head: RunHead): MemoryRun {
  const lists = { records: [], receipts: new Map(), snapshots: [], open: new Map() };
  const run: MemoryRun = { head, entry, row: memory.listed.length + 1, ...lists, tombstone: null };
  const position = memory.listed.findLastIndex((other) => compareListed(other.entry, entry) < 0) + 1;
  memory.listed.splice(position, 0, run);
  return run;
}

function compareListed(a: RunEntry, b: RunEntry): number {
  return a.created_instant - b.created_instant || compareCodePoints(a.run_key.run_id, b.run_key.run_id);
}

function findRuns(memory: Memory, query: RunQuery, after: RunPosition | null, limit: number): RunPage {
  const newest = after?.newest ?? memory.listed.length;
  const found: ListedRun[] = [];
  for (const { entry, head, row } of memory.listed.toReversed()) {
    if (row > newest || after !== null && !isAfter(after, entry, row) || !admits(query, entry)) continue;
    found.push({ ...entry, ...archivedOf(head.archived), head: head.head });
    if (found.length > limit) break;
  }
  const runs = found.slice(0, limit);
  const last = found.length > limit ? runs.at(-1) : undefined;
  const next = last && { created_instant: last.created_instant, run_id: last.run_key.run_id, newest };
  return { runs, next: next ?? null, newest };
}

/** The reason why an append is not accepted: operations are compared first, the head second. */
function refusal(memory: Memory, append: Append, run: MemoryRun | undefined): AppendResult | null {
  for (const record of append.records) {
    const receipt = findReceipt(memory, append.run_key, record.receipt.operation);
    if (receipt !== null) return { outcome: "operation_exists", receipt };
  }
  if (append.expected_head === null) return run === undefined ? null : { outcome: "run_exists", head: run.head.head };
  if (
    run === undefined || run.head.scenario_id !== append.scenario_id ||
    run.head.scenario_law_identity !== append.scenario_law_identity
  ) return { outcome: "run_not_found" };
  const { head, archived } = run.head;
  const same = head.revision === append.expected_head.revision && head.record_id === append.expected_head.record_id;
  if (!same) return { outcome: "stale", head };
  return archived === undefined ? null : { outcome: "archived", archived };
}

function findReceipt(memory: Memory, runKey: RunKey, operation: OperationId): Receipt | null {
  if (operation.family === "create_run") {
    return memory.creations.get(`${runKey.namespace_id} ${operation.identity}`) ?? null;
  }
  return receiptOf(memory, runKey, operation);
}

function receiptOf(memory: Memory, runKey: RunKey, operation: OperationId): Receipt | null {
  return memory.runs.get(keyOf(runKey))?.receipts.get(operationKey(operation)) ?? null;
}

function listRecords(
  memory: Memory,
  runKey: RunKey,
  after: number,
  limit: number,
  maximumBytes: number,
): StoredRecord[] {
  const page: StoredRecord[] = [];
  const run = memory.runs.get(keyOf(runKey));
  if (run !== undefined && run.tombstone !== null) throw archivedError(runKey);
  let bytes = 0;
  for (const record of run?.records.slice(after, after + limit) ?? []) {
    bytes += recordBytes(record);
    if (bytes > maximumBytes && page.length > 0) break;
    page.push(record);
  }
  return page;
}

function listReceipts(memory: Memory, runKey: RunKey, after: number, limit: number): StoredReceipt[] {
  const records = memory.runs.get(keyOf(runKey))?.records.slice(after, after + limit) ?? [];
  return records.map(({ revision, record_id, receipt }) => ({ revision, record_id, receipt }));
}

/** A complete run with the tombstone that replaces its records. */
interface Archiving {
  readonly runKey: RunKey;
  readonly head: Head;
  readonly tombstone: Tombstone;
}

function archive(memory: Memory, sha256: Sha256, { runKey, head, tombstone }: Archiving): ArchiveResult {
  const problem = tombstoneProblem(sha256, runKey, head, tombstone);
  if (problem !== null) throw problem;
  const run = memory.runs.get(keyOf(runKey));
  if (run === undefined) return { outcome: "run_not_found" };
  const { archived, head: now } = run.head;
  if (archived !== undefined) return { outcome: "already_archived", archived };
  if (now.revision !== head.revision || now.record_id !== head.record_id) return { outcome: "stale", head: now };
  if (run.entry.status !== "complete") return { outcome: "run_active" };
  const { runpack_identity, archived_instant } = tombstone;
  run.head = { ...run.head, archived: { runpack_identity, archived_instant } };
  run.tombstone = { ...tombstone };
  run.records = run.records.map((record) => ({ ...record, record: "", material: [] }));
  run.snapshots = [];
  return { outcome: "archived" };
}

function putArchived(memory: Memory, sha256: Sha256, archived: ArchivedRun): "stored" | "exists" {
  const { run, entry, receipts, tombstone } = archived;
  const problem = tombstoneProblem(sha256, run.run_key, run.head, tombstone);
  if (problem !== null) throw problem;
  const creation = `${run.run_key.namespace_id} ${receipts[0]?.receipt.operation.identity ?? ""}`;
  if (memory.runs.has(keyOf(run.run_key)) || memory.creations.has(creation)) return "exists";
  const { runpack_identity, archived_instant } = tombstone;
  const target = createRun(memory, entry, { ...run, archived: { runpack_identity, archived_instant } });
  target.tombstone = { ...tombstone };
  for (const receipt of receipts) {
    const { revision, record_id } = receipt;
    target.records.push({ revision, record_id, receipt: receipt.receipt, record: "", material: [] });
    putReceipt(memory, target, receipt);
  }
  memory.runs.set(keyOf(run.run_key), target);
  return "stored";
}

function putSnapshot(memory: Memory, runKey: RunKey, snapshot: Snapshot): void {
  const run = memory.runs.get(keyOf(runKey));
  if (run === undefined || run.tombstone !== null || snapshot.revision > run.head.head.revision) return;
  run.snapshots = [...run.snapshots.filter((kept) => kept.revision !== snapshot.revision), { ...snapshot }]
    .sort((a, b) => b.revision - a.revision)
    .slice(0, memory.snapshotsKept);
}

function getSnapshot(memory: Memory, runKey: RunKey, atMost: number): Snapshot | null {
  return memory.runs.get(keyOf(runKey))?.snapshots.find((snapshot) => snapshot.revision <= atMost) ?? null;
}

function listRuns(memory: Memory, after: RunKey | null, limit: number): RunHead[] {
  return [...memory.runs.values()].map((run) => run.head)
    .filter((run) => after === null || compareRuns(run.run_key, after) > 0)
    .sort((a, b) => compareRuns(a.run_key, b.run_key))
    .slice(0, limit);
}

function compareRuns(a: RunKey, b: RunKey): number {
  return a.namespace_id - b.namespace_id || compareCodePoints(a.run_id, b.run_id);
}

function keyOf(runKey: RunKey): string {
  return `${runKey.namespace_id} ${runKey.run_id}`;
}

function operationKey(operation: OperationId): string {
  return `${operation.family} ${operation.identity}`;
}
