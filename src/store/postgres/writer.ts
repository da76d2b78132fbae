/**
 * The writer sends the appends of many callers in one statement.
 *
 * Appends wait in a queue until the event loop has no more ready work that adds to it, at most `batch_max_wait_ms`. Two
 * statements are on their way at a time, to different runs, so the store prepares one while the database executes the
 * other. Appends that arrive meanwhile form the next one. A statement that met an unavailable database may have been
 * committed. So what it stored is looked up before it is repeated, and a caller is answered from what the database has.
 *
 * A statement waits a moment for the rows of its runs. Where another session holds one longer, each of its appends is
 * sent in a statement of its own, so the others are accepted, and the queue does not wait for the one that is left.
 */

import { setImmediate } from "node:timers";
import { setTimeout as delay } from "node:timers/promises";

import type { Sha256 } from "../../canonical/identity.ts";
import { appendBytes } from "../size.ts";
import { type Append, type AppendResult, type StorageOptions, StoreError, type WriterLoad } from "../types.ts";
import { appendBatch, findStored, nameOfRun, prepareAppend, type PreparedAppend, refusalOf } from "./append.ts";
import type { Database } from "./database.ts";
import { isLockedRow, toStoreError, unavailable } from "./errors.ts";

/** The storage options of the writer. */
export type WriterOptions = Pick<
  StorageOptions,
  "batch_max_ops" | "batch_max_bytes" | "batch_max_wait_ms" | "writer_queue_capacity"
>;

/** How long appends wait for a database that is not available, in milliseconds. */
const PATIENCE_MILLIS = 8000;

/** The pause between attempts, in milliseconds. */
const PAUSE_MILLIS = 100;

/** Statements that are on their way at a time. */
const STATEMENTS = 2;

/** Appends up to which one statement takes all that wait: a second one costs more than it saves. */
const UNSHARED = 8;

/** A queue of appends. */
export interface Writer {
  /**
   * Queues appends to different runs, which one statement sends together.
   *
   * @throws {StoreError} `queue_full`, `unavailable`, `closed`
   */
  readonly submit: (appends: readonly Append[]) => Promise<readonly AppendResult[]>;
  readonly load: () => WriterLoad;
  /** Rejects further appends; resolves once the queue is empty. */
  readonly drain: () => Promise<void>;
}

interface Waiting {
  readonly prepared: readonly PreparedAppend[];
  /** The results that are known, by the place of their append. */
  readonly results: AppendResult[];
  readonly bytes: number;
  /** The runs; of a creation also its request. Appends on their way have no name in common. */
  readonly names: readonly string[];
  readonly since: number;
  readonly resolve: (results: readonly AppendResult[]) => void;
  readonly reject: (error: StoreError) => void;
}

interface State {
  readonly database: Database;
  readonly sha256: Sha256;
  readonly options: WriterOptions;
  readonly queue: Waiting[];
  /** The batches that are on their way. */
  readonly sent: Set<readonly Waiting[]>;
  /** Appends of batches that met a locked row, each in a statement of its own. */
  readonly alone: Set<Waiting>;
  isScheduled: boolean;
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
    sent: new Set(),
    alone: new Set(),
    isScheduled: false,
    lastLength: 0,
    batches: 0,
    operations: 0,
    draining: null,
  };
  return {
    submit: (appends) =>
      new Promise((resolve, reject) => {
        const refused = writerRefusal(state);
        if (refused !== null) return reject(refused);
        const prepared = appends.map((append) => prepareAppend(sha256, append));
        const bytes = appends.reduce((sum, append) => sum + appendBytes(append), 0);
        const names = appends.flatMap(namesTaken);
        state.queue.push({ prepared, results: [], bytes, names, since: performance.now(), resolve, reject });
        schedule(state);
      }),
    load: () => ({ queued: state.queue.length, batches: state.batches, operations: state.operations }),
    drain: () =>
      new Promise((resolve) => {
        state.draining ??= [];
        state.draining.push(resolve);
        endDrained(state);
      }),
  };
}

function writerRefusal({ draining, queue, options, database }: State): StoreError | null {
  if (draining !== null) return new StoreError("closed", `Cannot write to ${database.name}: it is closed`);
  if (queue.length < options.writer_queue_capacity) return null;
  return new StoreError("queue_full", `Cannot write to ${database.name}: ${queue.length} operations are waiting`, {
    retryAfterMillis: options.batch_max_wait_ms,
  });
}

function namesTaken({ run_key: { namespace_id, run_id }, expected_head, records }: Append): string[] {
  const run = nameOfRun(namespace_id, run_id);
  return expected_head === null ? [run, `${namespace_id} creates ${records[0]?.receipt.operation.identity}`] : [run];
}

/** Visits the queue in the next turn, unless a statement has to end first. */
function schedule(state: State): void {
  if (state.isScheduled || state.queue.length === 0 || state.sent.size === STATEMENTS) return;
  state.isScheduled = true;
  state.lastLength = state.queue.length;
  setImmediate(() => visitQueue(state));
}

/** Sends a batch, unless more appends are still arriving and the batch may wait for them. */
function visitQueue(state: State): void {
  const { queue, sent, options } = state;
  state.isScheduled = false;
  const isGrowing = queue.length > state.lastLength && queue.length < options.batch_max_ops;
  if (isGrowing && performance.now() - (queue[0]?.since ?? 0) < options.batch_max_wait_ms) return schedule(state);
  const batch = takeBatch(state);
  // The appends that are left wait for those on their way.
  if (batch.length === 0) return;
  sent.add(batch);
  void commit(state, batch).finally(() => {
    sent.delete(batch);
    schedule(state);
    endDrained(state);
  });
  // The other statement takes what is left.
  schedule(state);
}

function endDrained({ queue, sent, alone, draining }: State): void {
  if (queue.length > 0 || sent.size > 0 || alone.size > 0) return;
  for (const resolve of draining?.splice(0) ?? []) resolve();
}

/**
 * Takes appends from the queue: within both limits, at most one for each run and for each creation, and none for those
 * on their way. The statements share all appends evenly. One that took them all would end before any caller sends
 * another.
 */
function takeBatch({ queue, sent, alone, options }: State): Waiting[] {
  const appends = [...sent].flat();
  const taken = new Set([...appends, ...alone].flatMap(({ names }) => names));
  const share = Math.max(UNSHARED, Math.ceil((queue.length + appends.length) / STATEMENTS));
  const most = Math.min(share, options.batch_max_ops);
  const batch: Waiting[] = [];
  const left: Waiting[] = [];
  let bytes = 0;
  for (const waiting of queue.splice(0)) {
    const { names } = waiting;
    const fits = batch.length === 0 || (batch.length < most && bytes + waiting.bytes <= options.batch_max_bytes);
    if (!fits || names.some((name) => taken.has(name))) left.push(waiting);
    else {
      bytes += waiting.bytes;
      batch.push(waiting);
    }
    // A later append of the same run stays behind this one.
    for (const name of names) taken.add(name);
  }
  queue.push(...left);
  return batch;
}

/**
 * Commits a batch and answers its callers. After an attempt of unknown outcome, every failure is `unavailable`: other
 * codes say that nothing was changed.
 */
async function commit(state: State, batch: readonly Waiting[], wasSent = false): Promise<void> {
  const latest = performance.now() + PATIENCE_MILLIS;
  const left = new Set(batch);
  let isUncertain = wasSent;
  for (let isRepeated = wasSent; left.size > 0; isRepeated = true) {
    const fault = await faultOf(state, () => attempt(state, left, isRepeated));
    if (left.size === 0) return;
    const isLocked = isLockedRow(fault);
    const isFinal = fault !== null && fault.code !== "unavailable";
    if ((isFinal || isLocked) && left.size > 1) {
      // Only the append that caused the failure fails, or waits.
      for (const waiting of left) sendAlone(state, waiting, isUncertain);
      return;
    }
    if (isFinal || performance.now() >= latest) {
      const reason = failureOf(state.database, fault, isUncertain);
      for (const waiting of left) waiting.reject(reason);
      return;
    }
    isUncertain ||= fault !== null && !isLocked;
    await delay(PAUSE_MILLIS);
  }
}

function sendAlone(state: State, waiting: Waiting, wasSent: boolean): void {
  state.alone.add(waiting);
  void commit(state, [waiting], wasSent).finally(() => {
    state.alone.delete(waiting);
    schedule(state);
    endDrained(state);
  });
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
  if (isRepeated) await answer(left, await findStored(database, unanswered(left)));
  if (left.size === 0) return;
  const accepted = await appendBatch(database, unanswered(left));
  state.batches += 1;
  state.operations += accepted.size;
  await answer(left, accepted, ({ append }) => refusalOf(database, sha256, append));
}

function unanswered(left: ReadonlySet<Waiting>): PreparedAppend[] {
  return [...left].flatMap(({ prepared, results }) => prepared.filter((_, place) => results[place] === undefined));
}

/** Takes the results of appends; a caller is answered once it has those of all of its appends. */
async function answer(
  left: Set<Waiting>,
  accepted: ReadonlySet<string>,
  refuse: (prepared: PreparedAppend) => Promise<AppendResult | null> = () => Promise.resolve(null),
): Promise<void> {
  for (const waiting of left) {
    const { prepared, results } = waiting;
    let isWhole = true;
    for (const [place, one] of prepared.entries()) {
      if (results[place] !== undefined) continue;
      const { namespace_id, run_id } = one.append.run_key;
      const result = accepted.has(nameOfRun(namespace_id, run_id))
        ? { outcome: "accepted" } as const
        : await refuse(one);
      if (result === null) isWhole = false;
      else results[place] = result;
    }
    if (!isWhole) continue;
    left.delete(waiting);
    waiting.resolve(results);
  }
}
