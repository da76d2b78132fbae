/**
 * The connections that read.
 *
 * With a synchronous API a connection is busy only while a call is on the stack, so a pool cannot make one read overtake another within a
 * turn of the event loop. What the pool bounds is what goes on across turns: a page of many or long records is read and verified in
 * slices, the loop turning between them, and `read_pool_size` is how many such pages are under way at once; a further one waits. Point
 * reads never wait: they share the first connection, which long reads take only when there is no other, so that these do not sweep its
 * page cache. No transaction stays open across a turn: what was accepted never changes, so slices need none, and an open read would hold
 * up checkpoints, and without a write-ahead log every commit of this very process. Connections are opened when first needed.
 *
 * @module
 */

import { setImmediate } from "node:timers";

import { type StorageOptions, StoreError } from "../types.ts";
import { type Connection, openReaderConnection } from "./connection.ts";
import { isBusy, toStoreError } from "./errors.ts";
import type { FileGuard } from "./file_guard.ts";

/** Reading connections to one file. */
export interface ReaderPool {
  /** A short read of one or a few rows. Sees what any process has committed. */
  readonly point: <Result>(read: (connection: Connection) => Result) => Promise<Result>;
  /**
   * A read in slices. `slice` is called, a turn of the loop apart, until it returns false.
   *
   * @param slice Reads a part; returns whether there is more to do
   */
  readonly long: (slice: (connection: Connection) => boolean) => Promise<void>;
  /** Lets what is being read end with an error, and gives the connections to the caller, who closes them. */
  readonly end: () => Promise<readonly Connection[]>;
}

/** What of the storage options the readers need. */
export type ReaderOptions = Pick<StorageOptions, "busy_timeout_ms" | "read_pool_size">;

interface PoolState {
  readonly path: string;
  readonly options: ReaderOptions;
  readonly guard: FileGuard;
  readonly connections: (Connection | undefined)[];
  /** Places of connections that no long read has; the last is taken first. */
  readonly free: number[];
  readonly waiting: (() => void)[];
  closed: boolean;
}

/** How long a read that met a busy database stays away, milliseconds. */
const BUSY_PAUSE_MILLIS = 5;

/** Makes a pool; opens nothing yet. Nothing is read from a file that is no longer the one that the path names. */
export function createReaderPool(path: string, options: ReaderOptions, guard: FileGuard): ReaderPool {
  const places = Array.from({ length: options.read_pool_size }, (_, place) => place);
  const state: PoolState = { path, options, guard, connections: [], free: places, waiting: [], closed: false };
  return {
    point: (read) => retrying(state, () => read(connectionAt(state, 0))),
    long: (slice) => readLong(state, slice),
    end: async () => {
      state.closed = true;
      while (state.free.length < options.read_pool_size) await turn();
      return state.connections.splice(0).filter((connection) => connection !== undefined);
    },
  };
}

function connectionAt(state: PoolState, place: number): Connection {
  if (state.closed) throw new StoreError("closed", `Cannot read "${state.path}": it is closed`);
  state.guard.verifyThisTurn();
  const known = state.connections[place];
  if (known !== undefined) return known;
  const opened = state.connections[place] = openReaderConnection(state.path, state.options);
  // The path may have named another file by then.
  state.guard.verify();
  return opened;
}

async function readLong(state: PoolState, slice: (connection: Connection) => boolean): Promise<void> {
  while (state.free.length === 0) await new Promise<void>((resolve) => state.waiting.push(resolve));
  const place = state.free.pop() ?? 0;
  try {
    while (await retrying(state, () => slice(connectionAt(state, place)))) await turn();
  } finally {
    state.free.push(place);
    state.waiting.shift()?.();
  }
}

/** Reads, and comes back while another process holds the database, for at most `busy_timeout_ms`. */
async function retrying<Result>(state: PoolState, read: () => Result): Promise<Result> {
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
