/**
 * The audit log in a file. Whoever waits for an event is told whether it was written; events of one turn are written
 * together, and made to survive a power failure at bounded intervals.
 *
 * @module
 */

import { type AuditFile, AuditFileGone, type OnDamage, openAuditFile } from "./file.ts";
import { type TimedEvent, timeEvent } from "./line.ts";
import type { Audit, AuditEvent } from "./types.ts";

/** The longest that a written line may wait to survive a power failure, in milliseconds. */
const SYNC_MILLISECONDS = 1000;

/** Events that may wait to be written; what comes beyond them is refused. */
export const QUEUE_EVENTS = 8192;

/** How long a file that another process holds is waited for, in milliseconds. */
export const LOCK_MILLISECONDS = 2000;

/** Events of one batch, about: with so many waiting no turn is waited for. */
const BATCH_EVENTS = 512;

/** Between two looks at a held file. */
const LOCK_RETRY_MILLISECONDS = 2;

/** What a file sink needs. */
export interface FileSinkOptions {
  /** Absolute path. */
  readonly path: string;
  /** Said in the opening line. */
  readonly opening: AuditEvent;
  /** Takes a change of {@link Audit.fault}, for the log of the process. */
  readonly onFault?: (fault: string | null) => void;
  /** Takes what others did to the file, for the log of the process. */
  readonly onDamage?: OnDamage;
  /** Opens the file; for tests. */
  readonly open?: typeof openAuditFile;
}

interface Waiting {
  readonly timed: TimedEvent;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

interface State {
  readonly options: FileSinkOptions;
  file: AuditFile;
  queue: Waiting[];
  scheduled: "soon" | "after_turn" | null;
  /** When the file was first found held; null where it is not. */
  heldSince: number | null;
  /** Events that could not be written since the last one that could. */
  lost: number;
  fault: string | null;
  syncTimer: ReturnType<typeof setTimeout> | null;
  /** The next look at a file that another process holds. */
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
    queue: [],
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

function enqueue(state: State, event: AuditEvent): Promise<void> {
  if (state.closed) return Promise.reject(new AuditUnavailable("Cannot write the audit log: it is closed"));
  if (state.queue.length >= QUEUE_EVENTS) {
    state.lost++;
    return Promise.reject(new AuditUnavailable("Cannot write the audit log: too many events wait"));
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  state.queue.push({ timed: timeEvent(event, Date.now()), resolve, reject });
  if (state.queue.length >= BATCH_EVENTS && state.heldSince === null) drain(state);
  else if (isWaitedFor(event)) schedule(state, "soon");
  else schedule(state, "after_turn");
  return promise;
}

/** Whether a caller stands still until an event is written. */
function isWaitedFor({ kind, outcome }: AuditEvent): boolean {
  return outcome === "begun" || kind === "mutation" || kind === "acquisition" || kind === "process";
}

/** Events of one turn go out together; those that somebody waits for take the others along. */
function schedule(state: State, when: "soon" | "after_turn"): void {
  if (state.heldSince !== null || state.scheduled === "soon" || state.scheduled === when) return;
  state.scheduled = when;
  if (when === "soon") queueMicrotask(() => drain(state));
  else setImmediate(() => drain(state));
}

function drain(state: State): void {
  state.scheduled = null;
  if (state.retryTimer !== null) clearTimeout(state.retryTimer);
  state.retryTimer = null;
  const batch = state.queue;
  if (batch.length === 0) return;
  try {
    if (!writeBatch(state, batch)) return waitForFile(state);
    state.queue = [];
    state.heldSince = null;
    setFault(state, null);
    for (const { resolve } of batch) resolve();
    scheduleSync(state);
  } catch (error) {
    refuseAll(state, error instanceof Error ? error.message : String(error));
  }
}

/** Writes a batch, after what was lost before it; false where another process holds the file. */
function writeBatch(state: State, batch: readonly Waiting[]): boolean {
  if (state.syncFailed) throw new Error("Cannot make the audit log survive a power failure");
  const events = batch.map(({ timed }) => timed);
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
  const batch = state.queue;
  state.queue = [];
  state.heldSince = null;
  state.lost += batch.length;
  setFault(state, why);
  for (const { reject } of batch) reject(new AuditUnavailable(why));
}

function setFault(state: State, fault: string | null): void {
  if (state.fault === fault) return;
  const wasWhole = state.fault === null;
  state.fault = fault;
  if (wasWhole || fault === null) state.options.onFault?.(fault);
}

/** Writes to what the path leads to now; where that cannot be opened, to a file that was moved away and is still open. */
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

/** Opens the path anew. The chain goes on in an empty file, and from the last line of any other. */
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
    await file.sync();
    state.syncTimer = null;
    if (state.syncFailed) setFault(state, null);
    state.syncFailed = false;
  } catch (error) {
    state.syncTimer = null;
    // A file that was let go of meanwhile was synchronised as it was.
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
    await state.file.sync();
  } finally {
    closeQuietly(state.file);
  }
}

function closeQuietly(file: AuditFile): void {
  try {
    file.close();
  } catch {
    // Already closed: nothing is held.
  }
}

/** Said when events can be written again. */
export function lostEvents(count: number): AuditEvent {
  return { kind: "process", outcome: "failed", reason: "events_lost", subject: null, origin: null, details: { count } };
}
