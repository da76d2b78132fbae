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
  /**
   * Writes events as lines, all of them or none. False: another process holds the file just now.
   *
   * @param anyway Whether to write although the path leads elsewhere by now
   * @throws {AuditFileGone} Where another file is to be written in its place
   */
  readonly append: (events: readonly TimedEvent[], anyway?: boolean) => boolean;
  /** Makes what is written survive a power failure, and the head file say so. */
  readonly sync: () => Promise<void>;
  /** Where the chain stands. */
  readonly chain: () => ChainState;
  /**
   * Opens what the path leads to now. Where this file was moved away, no other process can write to it meanwhile: the
   * chain goes on from its last line, whoever wrote that.
   */
  readonly successor: (open: (from: ChainState) => AuditFile) => AuditFile;
  /** Lets other processes, and others in this one, have the file. */
  readonly release: () => void;
  readonly close: () => void;
}

/** What was done to the file by others, or lost with a crash: the log says so itself, where it still can. */
export type AuditDamage = "file_deleted" | "file_changed_outside" | "lines_missing";

/** Takes what was done to the file, with numbers that tell how much. */
export type OnDamage = (damage: AuditDamage, details: Readonly<Record<string, number>>) => void;

interface State {
  readonly path: string;
  readonly file: Deno.FsFile;
  readonly lock: FileLock;
  chain: ChainState;
  /** Bytes of the file as this process knows it. */
  end: number;
  readonly damaged: OnDamage;
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
 * @param damaged Told of what others did to the file
 * @throws {Error} When it cannot be opened or written, is no regular file, or is no audit log
 */
export function openAuditFile(
  path: string,
  from: ChainState | null,
  opening: AuditEvent,
  damaged: OnDamage = () => undefined,
): AuditFile {
  refuseOther(path);
  const file = openPlain(path);
  try {
    const lock = createFileLock(file);
    const state: State = { path, file, lock, chain: newChain(), end: 0, damaged };
    if (!lockSoon(lock)) throw new Error(`Cannot open audit log "${path}": another process holds it`);
    try {
      begin(state, from ?? readHead(path), opening);
    } finally {
      lock.give(true);
    }
    return {
      append: (events, anyway = false) => append(state, events, anyway),
      sync: async () => {
        const { chain } = state;
        await file.syncData();
        saveHead(state, chain);
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

/** The file was deleted, so that what is written to it can never be read; or it was moved away, and another stands in its place. */
export class AuditFileGone extends Error {
  override readonly name = "AuditFileGone";
}

/** Writes the head file while nobody else does; another process that holds the file for long writes its own. */
function saveHead(state: State, chain: ChainState): void {
  const { path, lock } = state;
  if (!lockSoon(lock)) return;
  try {
    // The head of lines that others have written in the place of this file is theirs to write.
    if (placeOf(state) !== "written_elsewhere") writeHead(path, chain);
  } finally {
    lock.give(false);
  }
}

function successor(state: State, open: (from: ChainState) => AuditFile): AuditFile {
  const { file, lock } = state;
  lock.release();
  // A second lock of the same file would wait for the first.
  if (placeOf(state) === "here") return open(state.chain);
  if (!lockSoon(lock)) throw new Error(`Cannot leave audit log "${state.path}": another process holds it`);
  try {
    const { size, nlink } = file.statSync();
    if (size !== state.end) catchUp(state, [], size);
    // Nobody synchronises this file any more, and the head of the next one says that the lines in it are safe.
    if (nlink !== 0) file.syncDataSync();
    const next = open(state.chain);
    if (nlink === 0) state.damaged("file_deleted", { last_line: state.chain.sequence });
    return next;
  } finally {
    lock.give(true);
    lock.release();
  }
}

/** Where the path of an open file leads by now; a system that does not tell files apart says that nothing was moved. */
function placeOf({ path, file }: State): "here" | "nowhere" | "elsewhere" | "written_elsewhere" {
  try {
    const [there, here] = [Deno.statSync(path), file.statSync()];
    if (here.ino === null || (there.ino === here.ino && there.dev === here.dev)) return "here";
    return there.size === 0 ? "elsewhere" : "written_elsewhere";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "nowhere";
    throw error;
  }
}

/** Opening a named pipe would wait for a reader. */
function refuseOther(path: string): void {
  const other = otherAt(path);
  if (other !== null) throw new Error(`Cannot open audit log "${path}": ${other}`);
}

/** What stands at a path that no audit log can be; null for a file, for nothing, and for what cannot be looked at. */
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

/** What the runtime advises where it refuses a path is for its own command line. */
function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) return "gate may not write there";
  return error instanceof Error ? error.message : String(error);
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
  const details = { last_line: tail.chain?.sequence ?? 0 };
  const loss = missing ? [now(failure("lines_missing", details))] : [];
  write(state, [...loss, now(first)], tail.torn);
  if (missing) state.damaged("lines_missing", details);
}

/** Whether a file ends before a chain had come to its head: whole lines at its end are missing. */
function isBehind(tail: ChainState, head: ChainState | null): boolean {
  return head !== null && head.chain_id === tail.chain_id && head.sequence > tail.sequence;
}

function tailOf({ file, path }: State, size: number): AuditTail {
  return size === 0 ? { chain: null, torn: null } : readTail(file, size, path);
}

function append(state: State, events: readonly TimedEvent[], anyway: boolean): boolean {
  const { file, lock } = state;
  const taken = lock.take();
  if (taken === null) return false;
  let shared = false;
  try {
    if (taken === "taken") {
      const { size, nlink } = file.statSync();
      if (nlink === 0) throw new AuditFileGone("Cannot write the audit log: its file was deleted");
      if (!anyway && placeOf(state).endsWith("elsewhere")) {
        throw new AuditFileGone("Cannot write the audit log: another file stands in its place");
      }
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
  if (!shared) state.damaged("file_changed_outside", before);
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
