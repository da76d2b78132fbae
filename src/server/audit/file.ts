/**
 * The file under the audit log: opened for appending, locked while a batch is written, so that several processes can
 * share it, and cut back to whole lines where a write fails half-way.
 *
 * @module
 */

import { type ChainState, newChain, nextLine, type TimedEvent, timeEvent } from "./line.ts";
import { createFileLock, type FileLock } from "./file_lock.ts";
import { readHead, writeHead } from "./head.ts";
import { type AuditTail, readTail, type TornLine } from "./tail.ts";
import type { AuditEvent } from "./types.ts";

/** An open audit file, and where its chain stands. */
export interface AuditFile {
  /** Writes events as lines, all of them or none. False: another process holds the file just now. */
  readonly append: (events: readonly TimedEvent[]) => boolean;
  /** Makes what is written survive a power failure, and the head file say so. */
  readonly sync: () => Promise<void>;
  /** Where the chain stands. */
  readonly chain: () => ChainState;
  /** Lets other processes, and others in this one, have the file. */
  readonly release: () => void;
  readonly close: () => void;
}

interface State {
  readonly file: Deno.FsFile;
  readonly lock: FileLock;
  chain: ChainState;
  /** Bytes of the file as this process knows it. */
  end: number;
}

const encoder = new TextEncoder();

/** How long an opening file is waited for while another process holds it, in milliseconds. */
const OPEN_MILLISECONDS = 200;

/**
 * Opens an audit file. A new file begins with a line that says whether a chain begins or goes on with it.
 *
 * @param path Absolute path; the file is made where there is none, for its owner alone
 * @param from Where the chain stands that goes on in the file if it is empty; null begins one
 * @param opening Said in the first line that this process writes
 * @throws {Error} When it cannot be opened or written, is no regular file, or is no audit log
 */
export function openAuditFile(path: string, from: ChainState | null, opening: AuditEvent): AuditFile {
  refuseOther(path);
  const file = Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
  try {
    const lock = createFileLock(file);
    const state = { file, lock, chain: newChain(), end: 0 };
    if (!lockSoon(lock)) throw new Error(`Cannot open audit log "${path}": another process holds it`);
    try {
      begin(state, from ?? readHead(path), opening);
    } finally {
      lock.give(true);
    }
    return {
      append: (events) => append(state, events),
      sync: async () => {
        const { chain } = state;
        await file.syncData();
        saveHead(lock, path, chain);
      },
      chain: () => state.chain,
      release: lock.release,
      close: () => {
        lock.release();
        file.close();
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

/** The file was deleted: what is written to it can never be read. */
export class AuditFileGone extends Error {
  override readonly name = "AuditFileGone";
}

/** Writes the head file while nobody else does; another process that holds the file for long writes its own. */
function saveHead(lock: FileLock, path: string, chain: ChainState): void {
  if (!lockSoon(lock)) return;
  try {
    writeHead(path, chain);
  } finally {
    lock.give(false);
  }
}

/** Opening a named pipe would wait for a reader. */
function refuseOther(path: string): void {
  try {
    if (!Deno.statSync(path).isFile) throw new Error(`Cannot open audit log "${path}": it is not a file`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Waits a little for a file that is held, where nothing else can be done meanwhile. */
function lockSoon(lock: FileLock): boolean {
  const until = performance.now() + OPEN_MILLISECONDS;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (lock.take() === null) {
    if (performance.now() > until) return false;
    Atomics.wait(sleeper, 0, 0, 1);
  }
  return true;
}

function begin(state: State, from: ChainState | null, opening: AuditEvent): void {
  const size = state.file.statSync().size;
  const tail = tailOf(state, size);
  state.end = size;
  const missing = tail.chain !== null && isBehind(tail.chain, from);
  state.chain = (missing ? from : tail.chain ?? from) ?? state.chain;
  const first = tail.chain === null
    ? { ...opening, reason: from === null ? "chain_started" : "chain_continued" }
    : opening;
  // The chain goes on from where it had come, so that what is missing shows in every later check too.
  const loss = missing ? [now(failure("lines_missing", { last_line: tail.chain?.sequence ?? 0 }))] : [];
  write(state, [...loss, now(first)], tail.torn);
}

/** Whether a file ends before a chain had come to its head: whole lines at its end are missing. */
function isBehind(tail: ChainState, head: ChainState | null): boolean {
  return head !== null && head.chain_id === tail.chain_id && head.sequence > tail.sequence;
}

function tailOf(state: State, size: number): AuditTail {
  return size === 0 ? { chain: null, torn: null } : readTail(state.file, size);
}

function append(state: State, events: readonly TimedEvent[]): boolean {
  const { file, lock } = state;
  const taken = lock.take();
  if (taken === null) return false;
  let shared = false;
  try {
    if (taken === "taken") {
      const { size, nlink } = file.statSync();
      if (nlink === 0) throw new AuditFileGone("Cannot write the audit log: its file was deleted");
      shared = size !== state.end;
      if (shared) catchUp(state, events, size);
    }
    if (!shared) write(state, events, null);
    lock.give(shared);
    return true;
  } catch (error) {
    // What stands in the file now is looked at before the next write.
    lock.give(true);
    lock.release();
    throw error;
  }
}

/** Somebody else has written to the file, or cut it. */
function catchUp(state: State, events: readonly TimedEvent[], size: number): void {
  const tail = tailOf(state, size);
  const { chain } = tail;
  const shared = chain !== null && chain.chain_id === state.chain.chain_id && chain.sequence > state.chain.sequence;
  if (shared) state.chain = chain;
  const before = { expected_bytes: state.end, found_bytes: size };
  state.end = size;
  // A chain that does not go on from the last line shows in every later check; this line says why.
  const cut = shared ? [] : [now(failure("file_changed_outside", before))];
  write(state, [...cut, ...events], tail.torn);
}

/** Writes whole lines at the end, or leaves the file as it was. */
function write(
  state: State,
  events: readonly TimedEvent[],
  torn: TornLine | null,
): void {
  const closing = torn === null ? [] : [now(failure("torn_line_closed", { ...torn }))];
  let { chain } = state;
  let text = torn === null ? "" : "\n";
  for (const event of [...closing, ...events]) {
    const line = nextLine(chain, event);
    text += `${line.text}\n`;
    chain = line.chain;
  }
  const bytes = encoder.encode(text);
  try {
    for (let at = 0; at < bytes.length;) at += state.file.writeSync(at === 0 ? bytes : bytes.subarray(at));
  } catch (error) {
    try {
      state.file.truncateSync(state.end);
    } catch {
      // What stands there now is closed as a torn line by the next write.
    }
    throw error;
  }
  state.end += bytes.length;
  state.chain = chain;
}

function now(event: AuditEvent): TimedEvent {
  return timeEvent(event, Date.now());
}

function failure(reason: string, details: Readonly<Record<string, string | number>>): AuditEvent {
  return { kind: "process", outcome: "failed", reason, subject: null, origin: null, details };
}
