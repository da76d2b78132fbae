/**
 * The writer commits the operations of many callers together.
 *
 * `node:sqlite` is synchronous, and each commit costs a flush of the disk, however small it is. So operations wait in a
 * queue until the event loop has no more ready work that adds to it, at most `batch_max_wait_ms`. The writer then
 * applies them in one transaction. A single caller waits for one turn of the loop, not for the clock.
 *
 * Each operation makes its own comparisons inside the transaction, and writes nothing where they fail. An unexpected
 * failure rolls back the whole transaction. The batch is then repeated with one transaction for each operation, so that
 * only the failing caller sees the failure. Callers are answered after the commit, and only if the files of the store
 * are still those at the path.
 */

import { setImmediate } from "node:timers";

import { type StorageOptions, StoreError, type WriterLoad } from "../types.ts";
import { type Connection, rollback } from "./connection.ts";
import { isBusy, toStoreError } from "./errors.ts";

/** The storage options of the writer. */
export type WriterOptions = Pick<
  StorageOptions,
  "busy_timeout_ms" | "batch_max_ops" | "batch_max_bytes" | "batch_max_wait_ms" | "writer_queue_capacity"
>;

/** A queue of operations for one connection. */
export interface Writer {
  /**
   * Queues an operation. `apply` runs inside a transaction, possibly more than once, and writes either all of the
   * operation or nothing.
   *
   * @param bytes The size of the operation for `batch_max_bytes`
   * @returns The result of `apply`, after the commit
   * @throws {StoreError} `queue_full`, `busy`, `closed`, or the failure of the transaction
   */
  readonly submit: <Result>(bytes: number, apply: (connection: Connection) => Result) => Promise<Result>;
  /** The load of the writer. */
  readonly load: () => WriterLoad;
  /** Rejects further operations; resolves once the queue is empty. */
  readonly drain: () => Promise<void>;
}

/** Calls around each transaction. */
export interface CommitHooks {
  /** Called before a transaction begins; throws where the opened files were removed or replaced. */
  readonly verifyBefore: () => void;
  /** Called after a commit, before callers are answered; throws likewise. */
  readonly verify: () => void;
  /** Called after a commit. */
  readonly committed: () => void;
}

interface Operation {
  readonly bytes: number;
  readonly apply: (connection: Connection) => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: StoreError) => void;
  readonly since: number;
}

interface WriterState {
  readonly connection: Connection;
  readonly options: WriterOptions;
  readonly hooks: CommitHooks;
  readonly queue: Operation[];
  /** Whether the next visit of the queue is scheduled. */
  scheduled: boolean;
  /** Length of the queue at the last visit. */
  lastLength: number;
  /** Operations at the front whose batch failed; they are committed one by one. */
  alone: number;
  batches: number;
  operations: number;
  draining: (() => void)[] | null;
}

/** The pause before a retry on a busy database, in milliseconds. */
const BUSY_PAUSE_MILLIS = 5;

/** Starts a writer, which uses its connection exclusively. */
export function createWriter(connection: Connection, options: WriterOptions, hooks: CommitHooks): Writer {
  const state: WriterState = {
    connection,
    options,
    hooks,
    queue: [],
    scheduled: false,
    lastLength: 0,
    alone: 0,
    batches: 0,
    operations: 0,
    draining: null,
  };
  return {
    submit: <Result>(bytes: number, apply: (connection: Connection) => Result): Promise<Result> =>
      new Promise<Result>((resolve, reject) => {
        const refused = writerRefusal(state);
        if (refused !== null) return reject(refused);
        const since = performance.now();
        state.queue.push({ bytes, apply, resolve: resolve as (result: unknown) => void, reject, since });
        if (!state.scheduled) schedule(state);
      }),
    load: () => ({ queued: state.queue.length, batches: state.batches, operations: state.operations }),
    drain: () =>
      new Promise((resolve) => {
        state.draining ??= [];
        if (state.queue.length === 0) return resolve();
        state.draining.push(resolve);
      }),
  };
}

function writerRefusal(state: WriterState): StoreError | null {
  const { connection, options, queue } = state;
  if (state.draining !== null) return new StoreError("closed", `Cannot write to "${connection.path}": it is closed`);
  if (queue.length < options.writer_queue_capacity) return null;
  return new StoreError("queue_full", `Cannot write to "${connection.path}": ${queue.length} operations are waiting`, {
    retryAfterMillis: options.batch_max_wait_ms,
  });
}

function schedule(state: WriterState): void {
  state.scheduled = true;
  state.lastLength = state.queue.length;
  setImmediate(visitQueue, state);
}

/** Commits a batch, unless more operations are still arriving and the batch may wait for them. */
function visitQueue(state: WriterState): void {
  const { queue, options } = state;
  const first = queue[0];
  if (first === undefined) {
    state.scheduled = false;
    return;
  }
  const growing = queue.length > state.lastLength && queue.length < options.batch_max_ops;
  if (growing && performance.now() - first.since < options.batch_max_wait_ms) return schedule(state);
  const pause = flush(state);
  if (queue.length === 0) finish(state);
  else if (pause) setTimeout(visitQueue, BUSY_PAUSE_MILLIS, state);
  else schedule(state);
}

function finish(state: WriterState): void {
  state.scheduled = false;
  for (const resolve of state.draining?.splice(0) ?? []) resolve();
}

/**
 * Commits the operations at the front of the queue.
 *
 * @returns Whether the database is busy and the operations stay in the queue for a retry
 */
function flush(state: WriterState): boolean {
  const { connection, hooks, queue } = state;
  const batch = queue.slice(0, batchLength(state));
  const results: unknown[] = [];
  try {
    hooks.verifyBefore();
    connection.statement("BEGIN IMMEDIATE").run();
    for (const operation of batch) results.push(operation.apply(connection));
    connection.statement("COMMIT").run();
  } catch (error) {
    return handleFailure(state, batch, error);
  }
  dequeue(state, batch.length);
  state.batches++;
  state.operations += batch.length;
  const fault = faultAfterCommit(state);
  for (const [index, operation] of batch.entries()) {
    if (fault === null) operation.resolve(results[index]);
    else operation.reject(fault);
  }
  return false;
}

/** The reason to reject all callers although the transaction was committed; null where they may be answered. */
function faultAfterCommit({ connection, hooks }: WriterState): StoreError | null {
  try {
    hooks.verify();
    hooks.committed();
    return null;
  } catch (error) {
    return toStoreError(error, connection.path, "write to");
  }
}

function handleFailure(state: WriterState, batch: readonly Operation[], error: unknown): boolean {
  const { connection } = state;
  let cause = error;
  try {
    rollback(connection);
  } catch (rollbackError) {
    cause = rollbackError;
  }
  if (isBusy(cause)) return rejectOverdue(state, cause);
  if (batch.length > 1) {
    state.alone = batch.length;
    return false;
  }
  dequeue(state, 1);
  batch[0]?.reject(toStoreError(cause, connection.path, "write to"));
  return false;
}

/** Rejects the operations that have waited for `busy_timeout_ms`; the queue is in order of arrival. */
function rejectOverdue(state: WriterState, error: unknown): boolean {
  const { connection, options, queue } = state;
  const latest = performance.now() - options.busy_timeout_ms;
  const overdue = queue.filter((operation) => operation.since <= latest);
  dequeue(state, overdue.length);
  for (const operation of overdue) operation.reject(toStoreError(error, connection.path, "write to"));
  return true;
}

function dequeue(state: WriterState, count: number): void {
  state.queue.splice(0, count);
  state.alone = Math.max(0, state.alone - count);
}

/** The number of operations in the next transaction: at least one, and otherwise within both limits. */
function batchLength(state: WriterState): number {
  const { queue, options } = state;
  if (state.alone > 0) return 1;
  const most = Math.min(queue.length, options.batch_max_ops);
  let bytes = 0;
  for (let length = 0; length < most; length++) {
    bytes += queue[length]?.bytes ?? 0;
    if (bytes > options.batch_max_bytes && length > 0) return length;
  }
  return most;
}
