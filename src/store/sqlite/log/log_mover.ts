/**
 * Moves the pages of the write-ahead log into the database on a thread of its own.
 *
 * SQLite moves them in the commit that fills the log, and every caller of its batch waits. So a worker moves them once
 * the log is long, while further batches commit, and then the pages that these added, until few are left. The next
 * transaction begins the log anew once none is left. A worker that fails or cannot keep up leaves the rest to SQLite,
 * which moves them in a commit.
 */

import { setImmediate } from "node:timers";

import { pageSize, type WriterConnection } from "../connection.ts";
import { StoreError } from "../../types.ts";
import type { FileGuard, LogState } from "../file_guard.ts";
import type { MoveOrder, MoveReply } from "./log_worker.ts";

/** Moves the log of one open store. */
export interface LogMover {
  /** Reports a commit, after which the files were compared. */
  readonly committed: () => void;
  /**
   * Ends the worker. To be called before the other connections are closed: the last one would move the log into a file
   * that was lost.
   */
  readonly close: () => Promise<void>;
}

/** Bytes in the log before the worker moves them. */
const MOVE_BYTES = 4 * 1024 * 1024;

/** Bytes that the thread of the commits moves itself: to wake the worker takes about as long. */
const OWN_BYTES = 256 * 1024;

interface MoverState {
  readonly connection: WriterConnection;
  readonly guard: FileGuard;
  readonly notice: (message: string) => void;
  /** Pages of the two limits. */
  readonly movePages: number;
  readonly ownPages: number;
  worker: Worker | null;
  /** Messages that the worker has not answered. */
  unanswered: number;
  /** Whether a move was begun and has not ended. */
  isMoving: boolean;
  /** The log when the last move was begun. */
  begun: LogState;
  isEnded: boolean;
  /** Called once the worker has answered every message, or died. */
  onAnswered: () => void;
}

/**
 * A mover without a worker, which starts when the log is long.
 *
 * @param notice Receives a sentence once the worker has failed
 */
export function createLogMover(
  connection: WriterConnection,
  guard: FileGuard,
  notice: (message: string) => void,
): LogMover {
  const bytes = pageSize(connection);
  const state: MoverState = {
    connection,
    guard,
    notice,
    movePages: Math.floor(MOVE_BYTES / bytes),
    ownPages: Math.floor(OWN_BYTES / bytes),
    worker: null,
    unanswered: 0,
    isMoving: false,
    begun: { pages: 0, moved: 0 },
    isEnded: false,
    onAnswered: () => {},
  };
  return {
    committed: () => {
      if (!state.isMoving && isLong(state)) begin(state);
    },
    close: () => close(state),
  };
}

function isLong({ guard, movePages, ownPages, begun, isEnded }: MoverState): boolean {
  const { pages, moved } = guard.log();
  // A long reader keeps what it reads in the log, and each attempt would be in vain.
  const isKept = moved === begun.moved && pages - begun.pages < ownPages;
  return !isEnded && pages >= movePages && moved < pages && !isKept;
}

/** Moves the pages after the callers of the batch were answered. */
function begin(state: MoverState): void {
  state.isMoving = true;
  state.begun = state.guard.log();
  setImmediate(() => {
    try {
      state.guard.verify();
      move(state);
    } catch (error) {
      // The next call reports a lost file.
      if (error instanceof StoreError) end(state, null);
      else end(state, error);
    }
  });
}

function move(state: MoverState): void {
  const { connection, guard } = state;
  const { pages, moved } = guard.log();
  if (state.isEnded || pages - moved <= state.ownPages) {
    state.isMoving = false;
    if (!state.isEnded) connection.statement("PRAGMA wal_checkpoint(PASSIVE)").get();
    return;
  }
  state.worker ??= startWorker(state);
  send(state, state.worker, { order: "move", path: connection.path, identity: connection.identity });
}

function startWorker(state: MoverState): Worker {
  const worker = new Worker(new URL("./log_worker.ts", import.meta.url), { type: "module", name: "gate-log" });
  worker.onmessage = ({ data }: MessageEvent<MoveReply>) => {
    state.unanswered -= 1;
    state.isMoving = false;
    if (data.why !== null) end(state, data.why);
    if (state.unanswered === 0) state.onAnswered();
  };
  worker.onerror = (event) => {
    // Without this call the error would end the whole process.
    event.preventDefault();
    state.unanswered = 0;
    end(state, event.message);
    state.onAnswered();
  };
  return worker;
}

function send(state: MoverState, worker: Worker, order: MoveOrder): void {
  state.unanswered += 1;
  worker.postMessage(order);
}

/** Leaves the log to SQLite, as long as the worker would have let it become. */
function end(state: MoverState, why: unknown): void {
  if (state.isEnded) return;
  state.isEnded = true;
  state.worker?.terminate();
  state.worker = null;
  state.connection.database.exec(`PRAGMA wal_autocheckpoint = ${state.movePages}`);
  if (why === null) return;
  const reason = why instanceof Error ? why.message : String(why);
  state.notice(`A worker cannot move the log of store "${state.connection.path}", so commits move it: ${reason}`);
}

async function close(state: MoverState): Promise<void> {
  const { worker } = state;
  state.isEnded = true;
  state.worker = null;
  if (worker === null) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  state.onAnswered = resolve;
  send(state, worker, { order: "close" });
  await promise;
  worker.terminate();
}
