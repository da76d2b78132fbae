/**
 * The audit log in a file. Each event resolves once it was written. Events of one turn are written together, and
 * synchronized to disk at bounded intervals.
 */

import { nextTick } from "node:process";

import { type AuditFile, AuditFileGone, type OnDamage, openAuditFile } from "./file.ts";
import { type ChainState, type TimedEvent, timeEvent } from "./line.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** The longest time between writing a line and synchronizing it to disk, in milliseconds. */
const SYNC_MILLISECONDS = 1000;

/** The most events in the queue; further ones are rejected. */
export const QUEUE_EVENTS = 8192;

/** How long the sink waits for a file that another process has locked, in milliseconds. */
export const LOCK_MILLISECONDS = 2000;

/** The queue length from which on a batch is written at once. */
const BATCH_EVENTS = 512;

/** The interval of attempts to lock a file, in milliseconds. */
const LOCK_RETRY_MILLISECONDS = 2;

/** The options of a file sink. */
export interface FileSinkOptions {
  /** Absolute path. */
  readonly path: string;
  /** The event of the opening line. */
  readonly opening: AuditEvent;
  /** Receives changes of {@link Audit.fault}, for the log of the process. */
  readonly onFault?: (fault: string | null) => void;
  /** Receives damage to the file by others, for the log of the process. */
  readonly onDamage?: OnDamage;
  /** Receives the state of the chain whenever it was synchronized to disk. */
  readonly onSynced?: (chain: ChainState) => void;
  /** Opens the file; for tests. */
  readonly open?: typeof openAuditFile;
}

/** Events that are written, or refused, together. */
interface Queue {
  readonly events: TimedEvent[];
  readonly written: PromiseWithResolvers<void>;
}

interface State {
  readonly options: FileSinkOptions;
  file: AuditFile;
  queue: Queue;
  scheduled: "soon" | "after_turn" | null;
  /** When the file was first found locked; null while it is not locked. */
  heldSince: number | null;
  /** Events that were lost since the last written one. */
  lost: number;
  fault: string | null;
  syncTimer: ReturnType<typeof setTimeout> | null;
  /** The next attempt to lock the file. */
  retryTimer: ReturnType<typeof setTimeout> | null;
  syncFailed: boolean;
  closed: boolean;
}

/** An event could not be written. */
export class AuditUnavailable extends Error {
  override readonly name = "AuditUnavailable";
}

/**
 * Opens the audit log in a file.
 *
 * @throws {Error} When the file cannot be opened or written, or is no audit log
 */
export function openFileSink(options: FileSinkOptions): Audit {
  const open = options.open ?? openAuditFile;
  const state: State = {
    options: { ...options, open },
    file: open(options.path, null, options.opening, options.onDamage),
    queue: newQueue(),
    scheduled: null,
    heldSince: null,
    lost: 0,
    fault: null,
    syncTimer: null,
    retryTimer: null,
    syncFailed: false,
    closed: false,
  };
  scheduleSync(state);
  return {
    record: (event) => enqueue(state, event),
    fault: () => state.fault,
    reopen: () => Promise.try(() => reopen(state)),
    close: () => close(state),
  };
}

function newQueue(): Queue {
  const written = Promise.withResolvers<void>();
  // A caller that only reads does not wait for its line.
  written.promise.catch(() => undefined);
  return { events: [], written };
}

function enqueue(state: State, event: AuditEvent): Promise<void> {
  if (state.closed) return Promise.reject(new AuditUnavailable("Cannot write the audit log: it is closed"));
  const { events, written } = state.queue;
  if (events.length >= QUEUE_EVENTS) {
    state.lost++;
    return Promise.reject(new AuditUnavailable("Cannot write the audit log: too many events wait"));
  }
  events.push(timeEvent(event, Date.now()));
  if (events.length >= BATCH_EVENTS && state.heldSince === null) drain(state);
  else if (isAwaited(event)) schedule(state, "soon");
  else schedule(state, "after_turn");
  return written.promise;
}

/** Whether a caller awaits the write of an event. */
function isAwaited({ kind, outcome }: AuditEvent): boolean {
  return outcome === "begun" || kind === "mutation" || kind === "acquisition" || kind === "process";
}

/**
 * Schedules a batch, which has all queued events. Awaited ones are written at the end of the turn of the event loop,
 * once no promise of the turn is left that records another; other events are written in the next turn.
 */
function schedule(state: State, when: "soon" | "after_turn"): void {
  if (state.heldSince !== null || state.scheduled === "soon" || state.scheduled === when) return;
  state.scheduled = when;
  // A tick runs once no microtask is left, but before them where code outside of any promise schedules it.
  if (when === "soon") queueMicrotask(() => nextTick(() => drain(state)));
  else setImmediate(() => drain(state));
}

function drain(state: State): void {
  state.scheduled = null;
  if (state.retryTimer !== null) clearTimeout(state.retryTimer);
  state.retryTimer = null;
  const { events, written } = state.queue;
  if (events.length === 0) return;
  try {
    if (!writeBatch(state, events)) return waitForFile(state);
    state.queue = newQueue();
    state.heldSince = null;
    setFault(state, null);
    written.resolve();
    scheduleSync(state);
  } catch (error) {
    refuseAll(state, error instanceof Error ? error.message : String(error));
  }
}

/** Writes a batch, after a line about lost events; false while another process has locked the file. */
function writeBatch(state: State, events: readonly TimedEvent[]): boolean {
  if (state.syncFailed) throw new Error("Cannot synchronize the audit log to disk");
  const { lost } = state;
  const gap = lost === 0 ? [] : [timeEvent(lostEvents(lost), Date.now())];
  try {
    if (!state.file.append([...gap, ...events])) return false;
  } catch (error) {
    if (!(error instanceof AuditFileGone)) throw error;
    if (!appendElsewhere(state, [...gap, ...events])) return false;
  }
  state.lost = 0;
  return true;
}

function waitForFile(state: State): void {
  state.heldSince ??= performance.now();
  if (performance.now() - state.heldSince > LOCK_MILLISECONDS) {
    return refuseAll(state, "Another process holds the file");
  }
  state.retryTimer = setTimeout(() => drain(state), LOCK_RETRY_MILLISECONDS);
}

function refuseAll(state: State, why: string): void {
  const { events, written } = state.queue;
  state.queue = newQueue();
  state.heldSince = null;
  state.lost += events.length;
  setFault(state, why);
  written.reject(new AuditUnavailable(why));
}

function setFault(state: State, fault: string | null): void {
  if (state.fault === fault) return;
  const wasWhole = state.fault === null;
  state.fault = fault;
  if (wasWhole || fault === null) state.options.onFault?.(fault);
}

/** Writes to the file that the path names now; if that cannot be opened, to the moved file that is still open. */
function appendElsewhere(state: State, events: readonly TimedEvent[]): boolean {
  try {
    openAgain(state);
  } catch (error) {
    try {
      return state.file.append(events, true);
    } catch {
      throw error;
    }
  }
  return state.file.append(events);
}

/** Opens the path again. An empty file continues the chain; any other file is continued from its last line. */
function openAgain(state: State): void {
  const { path, opening, onDamage, open = openAuditFile } = state.options;
  const fresh = state.file.successor((from) => open(path, from, { ...opening, reason: "log_reopened" }, onDamage));
  closeQuietly(state.file);
  state.file = fresh;
}

function reopen(state: State): void {
  if (state.closed) return;
  try {
    drain(state);
    openAgain(state);
    setFault(state, null);
    scheduleSync(state);
  } catch (error) {
    setFault(state, error instanceof Error ? error.message : String(error));
    throw error;
  }
}

function scheduleSync(state: State): void {
  if (state.syncTimer !== null || state.closed) return;
  const timer = setTimeout(() => sync(state), SYNC_MILLISECONDS);
  Deno.unrefTimer(timer);
  state.syncTimer = timer;
}

async function sync(state: State): Promise<void> {
  const { file } = state;
  try {
    const chain = await file.sync();
    state.options.onSynced?.(chain);
    state.syncTimer = null;
    if (state.syncFailed) setFault(state, null);
    state.syncFailed = false;
  } catch (error) {
    state.syncTimer = null;
    // A file that was closed meanwhile was synchronized before.
    if (state.closed || file !== state.file) return;
    state.syncFailed = true;
    setFault(state, error instanceof Error ? error.message : String(error));
    scheduleSync(state);
  }
}

async function close(state: State): Promise<void> {
  if (state.closed) return;
  const { opening } = state.options;
  const last = enqueue(state, { ...opening, outcome: "done", reason: "process_stopped" });
  state.closed = true;
  if (state.syncTimer !== null) clearTimeout(state.syncTimer);
  try {
    await last;
    const chain = await state.file.sync();
    state.options.onSynced?.(chain);
  } finally {
    closeQuietly(state.file);
  }
}

function closeQuietly(file: AuditFile): void {
  try {
    file.close();
  } catch {
    // The file is closed already.
  }
}

/** The event about lost events, written once events can be written again. */
export function lostEvents(count: number): AuditEvent {
  return { kind: "process", outcome: "failed", reason: "events_lost", subject: null, origin: null, details: { count } };
}
