/**
 * The file of the audit log. It is opened for appending and locked during each batch, so that several processes can
 * share it. A failed write is cut back to whole lines.
 */

import { type ChainState, newChain, nextLine, type TimedEvent, timeEvent } from "./line.ts";
import { createFileLock, type FileLock } from "./file_lock.ts";
import { readHead, writeHead } from "./head.ts";
import { type AuditTail, readTail, type TornLine } from "./tail.ts";
import type { AuditEvent } from "./types.ts";

/** An open audit file, and the state of its chain. */
export interface AuditFile {
  /**
   * Writes events as lines, all or none. Returns false while another process has locked the file.
   *
   * @param anyway Whether to write although the path names another file now
   * @throws {AuditFileGone} When the file was deleted, or another file has replaced it
   */
  readonly append: (events: readonly TimedEvent[], anyway?: boolean) => boolean;
  /** Synchronizes the file to disk, then writes the head file; returns the state of the chain that is on disk. */
  readonly sync: () => Promise<ChainState>;
  /** The state of the chain. */
  readonly chain: () => ChainState;
  /**
   * Opens the file that the path names now. If this file was moved, it stays locked meanwhile, and the chain continues
   * from its last line, of any process.
   */
  readonly successor: (open: (from: ChainState) => AuditFile) => AuditFile;
  /** Unlocks the file for other users. */
  readonly release: () => void;
  readonly close: () => void;
}

/** Damage to the file by others or by a crash. The log records it too, where it can. */
export type AuditDamage = "file_deleted" | "file_changed_outside" | "lines_missing";

/** Receives damage to the file, with its extent in numbers. */
export type OnDamage = (damage: AuditDamage, details: Readonly<Record<string, number>>) => void;

interface State {
  readonly path: string;
  readonly file: Deno.FsFile;
  readonly lock: FileLock;
  chain: ChainState;
  /** The file's size after this process last wrote or read it. */
  end: number;
  readonly damaged: OnDamage;
}

const encoder = new TextEncoder();

/** How long opening waits for a file that another process has locked, in milliseconds. */
const OPEN_MILLISECONDS = 200;

/**
 * Opens an audit file. The first line of a new file shows whether a chain starts or continues there.
 *
 * @param path Absolute path; a missing file is created, for its owner alone
 * @param from The chain that an empty file continues; null starts one
 * @param opening The event of the first line of this process
 * @param damaged Receives damage to the file by others
 * @throws {Error} When it cannot be opened or written, is no regular file, or is no audit log
 */
export function openAuditFile(
  path: string,
  from: ChainState | null,
  opening: AuditEvent,
  damaged: OnDamage = () => undefined,
): AuditFile {
  rejectOther(path);
  const file = openPlain(path);
  try {
    const lock = createFileLock(file);
    const state: State = { path, file, lock, chain: newChain(), end: 0, damaged };
    if (!lockSoon(lock)) throw new Error(`Cannot open audit log "${path}": another process holds it`);
    try {
      begin(state, from ?? readHead(path), opening);
    } finally {
      lock.finish(true);
    }
    return {
      append: (events, anyway = false) => append(state, events, anyway),
      sync: async () => {
        const { chain } = state;
        await file.syncData();
        saveHead(state, chain);
        return chain;
      },
      chain: () => state.chain,
      successor: (open) => successor(state, open),
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

/** The file was deleted, so that its new lines could not be read; or another file has replaced it. */
export class AuditFileGone extends Error {
  override readonly name = "AuditFileGone";
}

/** Writes the head file under the lock. A process that holds the lock for long writes its own head. */
function saveHead(state: State, chain: ChainState): void {
  const { path, lock } = state;
  if (!lockSoon(lock)) return;
  try {
    // The writers of a replaced file write its head.
    if (placeOf(state) !== "written_elsewhere") writeHead(path, chain);
  } finally {
    lock.finish(false);
  }
}

function successor(state: State, open: (from: ChainState) => AuditFile): AuditFile {
  const { file, lock } = state;
  lock.release();
  // A second lock of the same file would block on the first.
  if (placeOf(state) === "here") return open(state.chain);
  if (!lockSoon(lock)) throw new Error(`Cannot leave audit log "${state.path}": another process holds it`);
  try {
    const { size, nlink } = file.statSync();
    if (size !== state.end) catchUp(state, [], size);
    // This is the last synchronization of this file, and the next head file asserts that its lines are safe.
    if (nlink !== 0) file.syncDataSync();
    const next = open(state.chain);
    if (nlink === 0) state.damaged("file_deleted", { last_line: state.chain.sequence });
    return next;
  } finally {
    lock.finish(true);
    lock.release();
  }
}

/** What the path of an open file names now. A system without inode numbers always reports "here". */
function placeOf(
  { path, file }: State,
  here: Deno.FileInfo = file.statSync(),
): "here" | "nowhere" | "elsewhere" | "written_elsewhere" {
  try {
    const there = Deno.statSync(path);
    if (here.ino === null || (there.ino === here.ino && there.dev === here.dev)) return "here";
    return there.size === 0 ? "elsewhere" : "written_elsewhere";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "nowhere";
    throw error;
  }
}

/** Rejects a path that is not a regular file: opening a named pipe would block. */
function rejectOther(path: string): void {
  const other = otherAt(path);
  if (other !== null) throw new Error(`Cannot open audit log "${path}": ${other}`);
}

/** Why a path cannot be an audit log; null for a file, a missing path, and a path that cannot be inspected. */
export function otherAt(path: string): string | null {
  try {
    return Deno.statSync(path).isFile ? null : "it is not a file";
  } catch {
    return isLink(path) ? "it is a link to a missing file" : null;
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

function openPlain(path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true, append: true, create: true, mode: 0o600 });
  } catch (error) {
    throw new Error(`Cannot open audit log "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

/** Replaces the runtime's advice about its own flags where it denies a path. */
function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "gate may not write there";
  return error instanceof Error ? error.message : String(error);
}

/** Blocks shortly for the lock of a file. */
function lockSoon(lock: FileLock): boolean {
  const until = performance.now() + OPEN_MILLISECONDS;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  while (lock.acquire() === null) {
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
  // The chain continues after the missing lines, so that every later check shows the gap.
  const details = { last_line: tail.chain?.sequence ?? 0 };
  const loss = missing ? [now(failure("lines_missing", details))] : [];
  write(state, [...loss, now(first)], tail.torn);
  if (missing) state.damaged("lines_missing", details);
}

/** Whether a file ends before the head of its chain: whole lines at its end are missing. */
function isBehind(tail: ChainState, head: ChainState | null): boolean {
  return head !== null && head.chain_id === tail.chain_id && head.sequence > tail.sequence;
}

function tailOf({ file, path }: State, size: number): AuditTail {
  return size === 0 ? { chain: null, torn: null } : readTail(file, size, path);
}

function append(state: State, events: readonly TimedEvent[], anyway: boolean): boolean {
  const { file, lock } = state;
  const acquired = lock.acquire();
  if (acquired === null) return false;
  let shared = false;
  try {
    if (acquired === "acquired") {
      const here = file.statSync();
      const { size, nlink } = here;
      if (nlink === 0) throw new AuditFileGone("Cannot write the audit log: its file was deleted");
      if (!anyway && placeOf(state, here).endsWith("elsewhere")) {
        throw new AuditFileGone("Cannot write the audit log: another file stands in its place");
      }
      shared = size !== state.end;
      if (shared) catchUp(state, events, size);
    }
    if (!shared) write(state, events, null);
    lock.finish(shared);
    return true;
  } catch (error) {
    // The next write reads the end of the file again.
    lock.finish(true);
    lock.release();
    throw error;
  }
}

/** Continues after another process has written to the file or cut it. */
function catchUp(state: State, events: readonly TimedEvent[], size: number): void {
  const tail = tailOf(state, size);
  const { chain } = tail;
  const shared = chain !== null && chain.chain_id === state.chain.chain_id && chain.sequence > state.chain.sequence;
  if (shared) state.chain = chain;
  const before = { expected_bytes: state.end, found_bytes: size };
  state.end = size;
  // A chain that does not continue the last line fails every later check; this line has the reason.
  const cut = shared ? [] : [now(failure("file_changed_outside", before))];
  write(state, [...cut, ...events], tail.torn);
  if (!shared) state.damaged("file_changed_outside", before);
}

/** Appends whole lines, or restores the file. */
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
      // The next write closes these bytes as a torn line.
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
