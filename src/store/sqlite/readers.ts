/**
 * The connections that read.
 *
 * The API is synchronous, so within one turn of the event loop reads cannot overtake each other. The pool bounds reads
 * across turns: a page of many or long records is read and verified in slices, with a turn between them. At most
 * `read_pool_size` such pages are read at one time; further ones wait.
 *
 * Point reads never wait. They share the first connection, which long reads use last, so that long reads do not evict
 * its page cache.
 *
 * No transaction stays open across a turn. Accepted records never change, so slices need none; and an open read would
 * delay checkpoints, and without a write-ahead log every commit of this process. Connections are opened on first use.
 */

import { setImmediate } from "node:timers";

import { type StorageOptions, StoreError } from "../types.ts";
import type { Connection } from "./connection.ts";
import { isBusy, toStoreError } from "./errors.ts";
import type { PathGuard } from "./file_guard.ts";

/** Reading connections to one file. */
export interface ReaderPool {
  /** A short read of a few rows. It sees the commits of every process. */
  readonly point: <Result>(read: (connection: Connection) => Result) => Promise<Result>;
  /**
   * A read in slices. `slice` is called once in a turn of the event loop, until it returns false.
   *
   * @param slice Reads a part; returns whether more parts follow
   */
  readonly long: (slice: (connection: Connection) => boolean) => Promise<void>;
  /** Lets running reads fail, and returns the connections, which the caller closes. */
  readonly end: () => Promise<readonly Connection[]>;
}

/** What the readers read. */
export interface ReaderSource {
  readonly path: string;
  readonly options: Pick<StorageOptions, "busy_timeout_ms" | "read_pool_size">;
  readonly guard: PathGuard;
  /** Opens a connection; for a store in memory it gives the only one. */
  readonly open: () => Connection;
}

interface PoolState extends ReaderSource {
  readonly connections: (Connection | undefined)[];
  /** Indexes of connections without a long read; the last one is used first. */
  readonly free: number[];
  readonly waiting: (() => void)[];
  closed: boolean;
}

/** The pause before a retry on a busy database, in milliseconds. */
const BUSY_PAUSE_MILLIS = 5;

/** Creates a pool without open connections. It never reads from a file that was removed or replaced. */
export function createReaderPool(source: ReaderSource): ReaderPool {
  const { options } = source;
  const indexes = Array.from({ length: options.read_pool_size }, (_, index) => index);
  const state: PoolState = { ...source, connections: [], free: indexes, waiting: [], closed: false };
  return {
    point: (read) => withRetries(state, () => read(connectionAt(state, 0))),
    long: (slice) => readLong(state, slice),
    end: async () => {
      state.closed = true;
      while (state.free.length < options.read_pool_size) await turn();
      return state.connections.splice(0).filter((connection) => connection !== undefined);
    },
  };
}

function connectionAt(state: PoolState, index: number): Connection {
  if (state.closed) throw new StoreError("closed", `Cannot read "${state.path}": it is closed`);
  state.guard.verifyThisTurn();
  const known = state.connections[index];
  if (known !== undefined) return known;
  const opened = state.open();
  state.connections[index] = opened;
  // The path may name another file by now.
  state.guard.verify();
  return opened;
}

async function readLong(state: PoolState, slice: (connection: Connection) => boolean): Promise<void> {
  while (state.free.length === 0) await new Promise<void>((resolve) => state.waiting.push(resolve));
  const index = state.free.pop() ?? 0;
  try {
    while (await withRetries(state, () => slice(connectionAt(state, index)))) await turn();
  } finally {
    state.free.push(index);
    state.waiting.shift()?.();
  }
}

/** Reads, with retries while another process holds the database, for at most `busy_timeout_ms`. */
async function withRetries<Result>(state: PoolState, read: () => Result): Promise<Result> {
  const since = performance.now();
  for (;;) {
    try {
      return read();
    } catch (error) {
      const waited = performance.now() - since;
      if (!isBusy(error) || waited >= state.options.busy_timeout_ms) throw toStoreError(error, state.path, "read");
    }
    await new Promise((resolve) => setTimeout(resolve, BUSY_PAUSE_MILLIS));
  }
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
