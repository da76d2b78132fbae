/**
 * Sends the events of accepted records to one receiver: at least once, in the order of acceptance where the receiver
 * accepts them.
 *
 * One process at a time sends: the holder of the lease in the store. What it has sent is settled in the store
 * afterwards, so that an end at any moment causes repetitions and no loss. While the receiver does not answer, no
 * record is read and one event at a time is tried.
 */

import type { Outbox, OutboxEntry, OutboxProgress } from "../../store/outbox.ts";
import { StoreError } from "../../store/types.ts";
import { counter, gauge } from "../framework/measure.ts";
import type { Measure } from "../framework/types.ts";
import type { WebhookEvent } from "./events.ts";

/** How an attempt to send an event ended. */
export type Sent =
  | { readonly kind: "delivered" }
  /** The receiver wants no further event (status 410). */
  | { readonly kind: "gone" }
  /** The receiver answered, and refuses this event. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The receiver cannot take events now. */
  | { readonly kind: "failed"; readonly reason: string; readonly retryAfterMillis: number | null };

/** The options of a notifier. */
export interface NotifierOptions {
  readonly outbox: Outbox;
  /** The name of the target in the outbox. */
  readonly target: string;
  /** Identifies this process. */
  readonly holder: string;
  readonly eventsOf: (entry: OutboxEntry) => Promise<readonly WebhookEvent[]>;
  /** Never rejects. */
  readonly send: (event: WebhookEvent, signal: AbortSignal) => Promise<Sent>;
  readonly log: (level: "info" | "warn", message: string, fields?: Readonly<Record<string, unknown>>) => void;
  /** Unix milliseconds, for the age of events alone. */
  readonly now: () => number;
  /** Milliseconds of the monotonic clock, for pauses and leases. */
  readonly elapsed: () => number;
  /** Resolves after some milliseconds, or when the signal aborts. */
  readonly delay: (millis: number, signal: AbortSignal) => Promise<void>;
  /** A number from 0 to 1. */
  readonly random: () => number;
}

/** A running notifier. */
export interface Notifier {
  /** Says that records may have been accepted. */
  readonly wake: () => void;
  readonly measures: () => readonly Measure[];
  /** Ends what is being sent, settles what was sent, and ends the lease. */
  readonly close: () => Promise<void>;
}

/** How long an event is kept, in milliseconds. */
export const KEPT_MILLIS = 7 * 24 * 3_600_000;
/** Events that were read and are not settled. */
export const OPEN_MAXIMUM = 1_024;
/** Requests in flight. */
export const CONCURRENCY = 8;
/** Records of one read. */
const READ = 64;
const LEASE_MILLIS = 10_000;
const RENEW_MILLIS = 3_000;
/** Milliseconds between two looks into the store, for records of other processes. */
const LOOK_MILLIS = 1_000;
/** Places that are settled in one transaction at the latest; fewer ones wait for {@link LOOK_MILLIS}. */
const SETTLE_AT = 256;
/** Milliseconds between two registrations. */
const REGISTER_MILLIS = 3_600_000;
const REPORT_MILLIS = 60_000;
const FIRST_PAUSE_MILLIS = 500;
/** The longest pause, also where a receiver asks for a longer one. */
export const PAUSE_MAXIMUM_MILLIS = 300_000;

/** A record that was read, with the events that are still to be sent. */
interface OpenEntry {
  readonly place: number;
  readonly events: Set<OpenEvent>;
}

interface OpenEvent {
  readonly event: WebhookEvent;
  readonly entry: OpenEntry;
  attempts: number;
  dueAt: number;
  isInFlight: boolean;
}

/** What a notifier knows, with the values that it starts with. */
class State {
  readonly options: NotifierOptions;
  readonly entries: Map<number, OpenEntry> = new Map();
  readonly done: Set<number> = new Set();
  readonly events: Set<OpenEvent> = new Set();
  readonly flights: Set<Promise<void>> = new Set();
  readonly stopping: AbortController = new AbortController();
  after: number | null = null;
  leasedAt = -Infinity;
  isHolder = false;
  registeredAt = -Infinity;
  settledAt = -Infinity;
  /** Failures of the receiver since it last accepted an event. */
  failures = 0;
  /** When the last of them was counted: those of requests that were in flight then are no further ones. */
  failedAt = -Infinity;
  pausedUntil = -Infinity;
  isGone = false;
  mayHaveMore = true;
  reportedAt = -Infinity;
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  nudge: AbortController = new AbortController();

  constructor(options: NotifierOptions) {
    this.options = options;
  }
}

/** Starts to send. */
export function startNotifier(options: NotifierOptions): Notifier {
  const state = new State(options);
  const running = run(state);
  return {
    wake: () => {
      if (state.mayHaveMore) return;
      state.mayHaveMore = true;
      // While the receiver does not answer, a new record changes nothing.
      if (state.failures === 0) state.nudge.abort();
    },
    measures: () => measuresOf(state),
    close: async () => {
      state.stopping.abort();
      state.nudge.abort();
      await running;
    },
  };
}

async function run(state: State): Promise<void> {
  const { options, stopping } = state;
  while (!stopping.signal.aborted) {
    state.nudge = new AbortController();
    let wait = LOOK_MILLIS;
    try {
      wait = await step(state);
    } catch (error) {
      report(state, "Cannot read the outbox", error instanceof Error ? error.message : String(error));
    }
    if (!stopping.signal.aborted) await options.delay(wait, state.nudge.signal);
  }
  await Promise.all(state.flights);
  if (!state.isHolder) return;
  // A failure of the store only causes repetitions.
  await settle(state).catch(() => {});
  await options.outbox.release(options.target, options.holder).catch(() => {});
}

/** One look at what is to do; returns the milliseconds until the next one. */
async function step(state: State): Promise<number> {
  const { options } = state;
  const { outbox, target } = options;
  if (options.elapsed() - state.registeredAt >= REGISTER_MILLIS) {
    await outbox.register(target);
    state.registeredAt = options.elapsed();
  }
  if (state.isGone) return LOOK_MILLIS;
  if (!await hasWork(state) || !await holdLease(state)) return LOOK_MILLIS;
  await fill(state);
  dropOld(state);
  sendDue(state);
  const isDue = options.elapsed() - state.settledAt >= LOOK_MILLIS || state.done.size >= SETTLE_AT;
  if (state.done.size > 0 && isDue) await settle(state);
  return pauseOf(state);
}

/** Whether anything waits to be sent or settled. Without the lease, only the store knows. */
async function hasWork(state: State): Promise<boolean> {
  if (state.entries.size > 0 || state.done.size > 0) return true;
  const { outbox, target } = state.options;
  const found = await outbox.pending(target, progressOf(state), 1);
  state.mayHaveMore = found.length > 0;
  return found.length > 0;
}

async function holdLease(state: State): Promise<boolean> {
  const { outbox, target, holder, elapsed } = state.options;
  if (state.isHolder && elapsed() - state.leasedAt < RENEW_MILLIS) return true;
  const asked = elapsed();
  const isHeld = await outbox.lease(target, holder, LEASE_MILLIS);
  // A new holder begins where the store says: another process may have sent meanwhile.
  if (!isHeld || !state.isHolder || asked - state.leasedAt >= LEASE_MILLIS) forget(state);
  state.isHolder = isHeld;
  state.leasedAt = asked;
  return isHeld;
}

/** Forgets what was read. Events in flight end by themselves. */
function forget(state: State): void {
  state.entries.clear();
  state.events.clear();
  state.done.clear();
  state.after = null;
  state.mayHaveMore = true;
}

function progressOf({ after, entries, done }: State): OutboxProgress {
  // Settled places stay open until the store has them.
  return { after, open: [...entries.keys(), ...done] };
}

/** Reads records while few of the events that were read are new. */
async function fill(state: State): Promise<void> {
  const { options, entries, events } = state;
  const { outbox, target, elapsed } = options;
  if (elapsed() < state.pausedUntil) return;
  const fresh = [...events].filter(({ attempts }) => attempts === 0).length;
  if (fresh >= READ || entries.size >= OPEN_MAXIMUM) return;
  const found = await outbox.pending(target, progressOf(state), READ);
  state.mayHaveMore = found.length === READ;
  for (const entry of found) {
    const open: OpenEntry = { place: entry.place, events: new Set() };
    for (const event of await readEvents(state, entry)) {
      const one: OpenEvent = { event, entry: open, attempts: 0, dueAt: -Infinity, isInFlight: false };
      open.events.add(one);
      events.add(one);
    }
    entries.set(entry.place, open);
    state.after = Math.max(state.after ?? 0, entry.place);
    if (open.events.size === 0) finish(state, open);
  }
}

/** The events of a record; none of one that cannot be read, so that it does not hold up the others. */
async function readEvents(state: State, entry: OutboxEntry): Promise<readonly WebhookEvent[]> {
  const { eventsOf, log } = state.options;
  try {
    if (entry.fault !== undefined) throw new StoreError("corrupt", entry.fault);
    return await eventsOf(entry);
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "corrupt") throw error;
    state.counts.dropped += 1;
    log("warn", "A record cannot be read: its events are dropped", { reason: error.message });
    return [];
  }
}

function finish({ entries, done }: State, entry: OpenEntry): void {
  if (entries.delete(entry.place)) done.add(entry.place);
}

function close(state: State, one: OpenEvent): void {
  state.events.delete(one);
  one.entry.events.delete(one);
  if (one.entry.events.size === 0) finish(state, one.entry);
}

/** Gives up events that were kept for too long. */
function dropOld(state: State): void {
  const { now } = state.options;
  let dropped = 0;
  for (const one of state.events) {
    if (one.isInFlight || now() - one.event.instant < KEPT_MILLIS) continue;
    close(state, one);
    dropped += 1;
  }
  if (dropped === 0) return;
  state.counts.dropped += dropped;
  state.options.log("warn", "Events were not delivered within 7 days and are dropped", { count: dropped });
}

/** Starts to send events that are due: several at a time to a receiver that answers, else one. */
function sendDue(state: State): void {
  const now = state.options.elapsed();
  if (now < state.pausedUntil) return;
  const most = state.failures === 0 ? CONCURRENCY : 1;
  for (const one of state.events) {
    if (state.flights.size >= most) return;
    if (one.isInFlight || one.dueAt > now) continue;
    one.isInFlight = true;
    const flight: Promise<void> = sendOne(state, one).finally(() => {
      state.flights.delete(flight);
      state.nudge.abort();
    });
    state.flights.add(flight);
  }
}

async function sendOne(state: State, one: OpenEvent): Promise<void> {
  const { elapsed, send } = state.options;
  const began = elapsed();
  const sent = await send(one.event, state.stopping.signal);
  one.isInFlight = false;
  // The lease was lost meanwhile, or the process ends: the event is sent again.
  if (!state.events.has(one) || sent.kind !== "delivered" && state.stopping.signal.aborted) return;
  if (sent.kind === "delivered") return delivered(state, one);
  one.attempts += 1;
  state.counts.failed += 1;
  one.dueAt = elapsed() + backOff(state, one.attempts);
  if (sent.kind === "gone") {
    state.isGone = true;
    return state.options.log("warn", "The receiver of events answered 410: nothing is sent until the next start");
  }
  report(state, "Cannot send an event", sent.reason, one.event.type);
  if (sent.kind === "refused") return;
  const asked = elapsed() + Math.min(sent.retryAfterMillis ?? 0, PAUSE_MAXIMUM_MILLIS);
  if (began <= state.failedAt) {
    state.pausedUntil = Math.max(state.pausedUntil, asked);
    return;
  }
  state.failures += 1;
  state.failedAt = elapsed();
  state.pausedUntil = Math.max(asked, elapsed() + backOff(state, state.failures));
}

function delivered(state: State, one: OpenEvent): void {
  state.counts.sent += 1;
  close(state, one);
  if (state.failures === 0) return;
  state.failures = 0;
  state.pausedUntil = -Infinity;
  for (const other of state.events) other.dueAt = -Infinity;
}

/** The pause after a number of failures: doubled by each, and up to half of it left out by chance. */
function backOff({ options }: State, failures: number): number {
  const pause = Math.min(PAUSE_MAXIMUM_MILLIS, FIRST_PAUSE_MILLIS * 2 ** Math.min(failures - 1, 20));
  return pause * (0.5 + options.random() / 2);
}

async function settle(state: State): Promise<void> {
  const { outbox, target, holder } = state.options;
  const done = [...state.done];
  const progress = { after: state.after, open: [...state.entries.keys()] };
  if (!await outbox.settle(target, holder, done, progress)) {
    state.isHolder = false;
    return forget(state);
  }
  for (const place of done) state.done.delete(place);
  state.settledAt = state.options.elapsed();
}

/** Milliseconds until something is due. */
function pauseOf(state: State): number {
  const now = state.options.elapsed();
  if (state.mayHaveMore && state.failures === 0 && state.flights.size === 0 && state.entries.size === 0) return 0;
  const due = [...state.events].filter(({ isInFlight }) => !isInFlight).map(({ dueAt }) => dueAt);
  const next = Math.max(state.pausedUntil, Math.min(...due, now + LOOK_MILLIS));
  // With requests in flight, one of them wakes the loop, and the lease is renewed in between.
  const isFull = state.flights.size >= (state.failures === 0 ? CONCURRENCY : 1);
  return isFull ? LOOK_MILLIS : Math.min(Math.max(next - now, 1), LOOK_MILLIS);
}

function report(state: State, message: string, reason: string, event?: string): void {
  const now = state.options.elapsed();
  if (now - state.reportedAt < REPORT_MILLIS) return;
  state.reportedAt = now;
  state.options.log("warn", message, { reason, failed: state.counts.failed, ...event === undefined ? {} : { event } });
}

function measuresOf({ counts, events, options }: State): readonly Measure[] {
  let oldest = Infinity;
  for (const { event } of events) oldest = Math.min(oldest, event.instant);
  const age = oldest === Infinity ? 0 : Math.max(0, options.now() - oldest) / 1000;
  const given = "Events given up: not delivered for 7 days, or of an unreadable record.";
  return [
    counter("gate_notify_sent_total", "Events that the receiver accepted.", {}, counts.sent),
    counter("gate_notify_failed_total", "Attempts that failed.", {}, counts.failed),
    counter("gate_notify_dropped_total", given, {}, counts.dropped),
    gauge("gate_notify_oldest_seconds", "Age of the oldest event that is not delivered; 0 without one.", {}, age),
  ];
}
