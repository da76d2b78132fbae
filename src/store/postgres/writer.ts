/**
 * The writer sends the appends of many callers in one statement.
 *
 * Appends wait in a queue until the event loop has no more ready work that adds to it, at most `batch_max_wait_ms`. One statement is on its
 * way at a time; appends that arrive meanwhile form the next one. A statement that met an unavailable database may have been
 * committed. So what it stored is looked up before it is repeated, and a caller is answered from what the database has.
 *
 * @module
 */

import { setImmediate } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";

import type { Sha256 } from "../../canonical/identity.ts";
import { appendBytes } from "../size.ts";
import { type Append, type AppendResult, type StorageOptions, StoreError, type WriterLoad } from "../types.ts";
import { appendBatch, findStored, nameOfRun, prepareAppend, type PreparedAppend, refusalOf } from "./append.ts";
import type { Database } from "./database.ts";
import { toStoreError, unavailable } from "./errors.ts";

/** The storage options of the writer. */
export type WriterOptions = Pick<
  StorageOptions,
  "batch_max_ops" | "batch_max_bytes" | "batch_max_wait_ms" | "writer_queue_capacity"
>;

/** How long appends wait for a database that is not available, in milliseconds. */
const PATIENCE_MILLIS = 8000;

/** The pause between attempts, in milliseconds. */
const PAUSE_MILLIS = 100;

/** A queue of appends. */
export interface Writer {
  /**
   * Queues an append.
   *
   * @throws {StoreError} `queue_full`, `unavailable`, `closed`
   */
  readonly submit: (append: Append) => Promise<AppendResult>;
  readonly load: () => WriterLoad;
  /** Rejects further appends; resolves once the queue is empty. */
  readonly drain: () => Promise<void>;
}

interface Waiting {
  readonly prepared: PreparedAppend;
  readonly bytes: number;
  readonly since: number;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: StoreError) => void;
}

interface State {
  readonly database: Database;
  readonly sha256: Sha256;
  readonly options: WriterOptions;
  readonly queue: Waiting[];
  isBusy: boolean;
  lastLength: number;
  batches: number;
  operations: number;
  draining: (() => void)[] | null;
}

/** Starts a writer. */
export function createWriter(database: Database, sha256: Sha256, options: WriterOptions): Writer {
  const state: State = {
    database,
    sha256,
    options,
    queue: [],
    isBusy: false,
    lastLength: 0,
    batches: 0,
    operations: 0,
    draining: null,
  };
  return {
    submit: (append) =>
      new Promise((resolve, reject) => {
        const refused = refusal(state);
        if (refused !== null) return reject(refused);
        const prepared = prepareAppend(sha256, append);
        state.queue.push({ prepared, bytes: appendBytes(append), since: performance.now(), resolve, reject });
        if (!state.isBusy) schedule(state);
      }),
    load: () => ({ queued: state.queue.length, batches: state.batches, operations: state.operations }),
    drain: () =>
      new Promise((resolve) => {
        state.draining ??= [];
        if (!state.isBusy) return resolve();
        state.draining.push(resolve);
      }),
  };
}

function refusal({ draining, queue, options, database }: State): StoreError | null {
  if (draining !== null) return new StoreError("closed", `Cannot write to ${database.name}: it is closed`);
  if (queue.length < options.writer_queue_capacity) return null;
  return new StoreError("queue_full", `Cannot write to ${database.name}: ${queue.length} operations are waiting`, {
    retryAfterMillis: options.batch_max_wait_ms,
  });
}

function schedule(state: State): void {
  state.isBusy = true;
  state.lastLength = state.queue.length;
  setImmediate(() => void visitQueue(state));
}

/** Sends a batch, unless more appends are still arriving and the batch may wait for them. */
async function visitQueue(state: State): Promise<void> {
  const { queue, options } = state;
  const [first] = queue;
  if (first !== undefined) {
    const isGrowing = queue.length > state.lastLength && queue.length < options.batch_max_ops;
    if (isGrowing && performance.now() - first.since < options.batch_max_wait_ms) return schedule(state);
    await commit(state, takeBatch(state));
    if (queue.length > 0) return schedule(state);
  }
  state.isBusy = false;
  for (const resolve of state.draining?.splice(0) ?? []) resolve();
}

/** Takes appends from the queue: at least one, within both limits, and at most one for each run and for each creation. */
function takeBatch({ queue, options }: State): Waiting[] {
  const batch: Waiting[] = [];
  const taken = new Set<string>();
  const left: Waiting[] = [];
  let bytes = 0;
  for (const waiting of queue.splice(0)) {
    const { append } = waiting.prepared;
    const { namespace_id, run_id } = append.run_key;
    const creation = append.expected_head === null ? append.records[0]?.receipt.operation.identity : undefined;
    const names = [
      nameOfRun(namespace_id, run_id),
      ...creation === undefined ? [] : [`${namespace_id} creates ${creation}`],
    ];
    const fits = batch.length === 0 ||
      (batch.length < options.batch_max_ops && bytes + waiting.bytes <= options.batch_max_bytes);
    if (!fits || names.some((name) => taken.has(name))) {
      left.push(waiting);
      // A later append of the same run stays behind this one.
      for (const name of names) taken.add(name);
      continue;
    }
    for (const name of names) taken.add(name);
    bytes += waiting.bytes;
    batch.push(waiting);
  }
  queue.push(...left);
  return batch;
}

/**
 * Commits a batch and answers its callers. After an attempt of unknown outcome, every failure is `unavailable`: other codes say that
 * nothing was changed.
 */
async function commit(state: State, batch: readonly Waiting[], wasSent = false): Promise<void> {
  const latest = performance.now() + PATIENCE_MILLIS;
  const left = new Set(batch);
  let isUncertain = wasSent;
  for (let isRepeated = wasSent; left.size > 0; isRepeated = true) {
    const fault = await faultOf(state, () => attempt(state, left, isRepeated));
    if (left.size === 0) return;
    const isFinal = fault !== null && fault.code !== "unavailable";
    if (isFinal && left.size > 1) {
      // Only the append that caused the failure fails.
      for (const waiting of left) await commit(state, [waiting], isUncertain);
      return;
    }
    if (isFinal || performance.now() >= latest) {
      const reason = failureOf(state.database, fault, isUncertain);
      for (const waiting of left) waiting.reject(reason);
      return;
    }
    isUncertain ||= fault !== null;
    await delay(PAUSE_MILLIS);
  }
}

function failureOf({ name }: Database, fault: StoreError | null, isUncertain: boolean): StoreError {
  if (fault === null) return unavailable(name, "it answers from a server that lags behind");
  if (!isUncertain || fault.code === "unavailable") return fault;
  return unavailable(name, "the outcome of a call cannot be looked up", fault);
}

async function faultOf({ database }: State, work: () => Promise<void>): Promise<StoreError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    return toStoreError(error, database.name);
  }
}

/** One attempt at the appends that are left. An append leaves the list with its answer, and is never sent again. */
async function attempt(state: State, left: Set<Waiting>, isRepeated: boolean): Promise<void> {
  const { database, sha256 } = state;
  if (isRepeated) answerAccepted(left, await findStored(database, [...left].map(({ prepared }) => prepared)));
  if (left.size === 0) return;
  const accepted = await appendBatch(database, [...left].map(({ prepared }) => prepared));
  state.batches += 1;
  state.operations += accepted.size;
  answerAccepted(left, accepted);
  for (const waiting of left) {
    const refused = await refusalOf(database, sha256, waiting.prepared.append);
    if (refused !== null) answer(left, waiting, refused);
  }
}

function answerAccepted(left: Set<Waiting>, accepted: ReadonlySet<string>): void {
  for (const waiting of left) {
    const { namespace_id, run_id } = waiting.prepared.append.run_key;
    if (accepted.has(nameOfRun(namespace_id, run_id))) answer(left, waiting, { outcome: "accepted" });
  }
}

function answer(left: Set<Waiting>, waiting: Waiting, result: AppendResult): void {
  left.delete(waiting);
  waiting.resolve(result);
}
