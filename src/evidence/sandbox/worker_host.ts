/**
 * The host side of one worker. The first question starts it, with exactly the permissions of its plan, and it stays.
 * The host terminates it when a question exceeds its time limit, and restarts it after a crash with backoff.
 */

import type { WorkerOrder, WorkerReport } from "./worker_protocol.ts";

/** Permissions of a worker; a missing member grants nothing. */
export interface WorkerPermissions {
  /** Names of environment variables. */
  readonly env?: readonly string[];
  /** `address:port`, IPv6 in brackets. */
  readonly net?: readonly string[];
  /** Real paths. */
  readonly read?: readonly string[];
}

/** How to start a worker. */
export interface WorkerPlan {
  /** Shown in messages of gate and of the runtime. */
  readonly name: string;
  readonly module: URL;
  readonly permissions: WorkerPermissions;
  /** Sent to it first, as a structured clone. */
  readonly setup?: unknown;
  /** Questions that it works on at a time, 1 by default; more only where it answers asynchronously. */
  readonly concurrency?: number;
}

/** Limits of a worker. */
export interface WorkerLimits {
  /** Milliseconds to start, 15000 by default. */
  readonly startMillis?: number;
  /** Questions that may wait, 4096 by default. */
  readonly waitingMaximum?: number;
  /** Milliseconds between a first crash and the next start, doubled by each further one; 100 by default. */
  readonly backOffMillis?: number;
  /** The longest such pause, 5000 by default. */
  readonly backOffMaximumMillis?: number;
}

/** Why a question got no answer. */
export type WorkerFailureCode = "timeout" | "worker_died" | "provider_unreachable" | "cancelled";

/** The outcome of a question. */
export type WorkerAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly code: WorkerFailureCode; readonly message: string };

/** Time limit and cancellation of a question. */
export interface AskOptions {
  /** Milliseconds to wait for a worker that has started to become free, and again milliseconds to answer. */
  readonly limitMillis: number;
  readonly signal?: AbortSignal;
  /** Buffers to transfer instead of copying. */
  readonly transfer?: readonly Transferable[];
}

/** One worker. */
export interface WorkerHost {
  /** Never rejects. */
  readonly ask: <Answer>(question: unknown, options: AskOptions) => Promise<WorkerAnswer<Answer>>;
  /** Starts the worker. Resolves when it is ready, cannot start or is closed; never rejects. */
  readonly start: () => Promise<void>;
  /** Questions that wait or run. */
  readonly load: () => number;
  /** Ends the worker; every open question fails as `cancelled`. */
  readonly close: () => void;
}

interface Entry {
  readonly id: number;
  readonly question: unknown;
  readonly options: AskOptions;
  settle: (answer: WorkerAnswer<unknown>) => void;
  settled: boolean;
  /** When its time limit ends, in milliseconds of `performance.now()`. */
  until: number;
}

interface HostState {
  readonly plan: WorkerPlan;
  readonly limits: Required<WorkerLimits>;
  readonly onIdle: () => void;
  readonly waiting: Set<Entry>;
  readonly running: Map<number, Entry>;
  /** Callers of `start`, until the worker is ready or failed to start. */
  readonly starting: Set<() => void>;
  worker: Worker | null;
  ready: boolean;
  /** When the worker was started, in milliseconds of `performance.now()`. */
  startedAt: number;
  startTimer: ReturnType<typeof setTimeout> | undefined;
  /** Fires no later than the first time limit of an open question ends. */
  alarm: ReturnType<typeof setTimeout> | undefined;
  /** When `alarm` fires, in milliseconds of `performance.now()`. */
  alarmAt: number;
  lastId: number;
  /** Crashes since the last answer. */
  crashes: number;
  /** Earliest next start, in milliseconds of `performance.now()`. */
  startAt: number;
  closed: boolean;
}

const DEFAULTS: Required<WorkerLimits> = {
  startMillis: 15_000,
  waitingMaximum: 4096,
  backOffMillis: 100,
  backOffMaximumMillis: 5000,
};

/**
 * Creates the host of a worker; the first question starts the worker.
 *
 * @param onIdle Called whenever no question is left
 */
export function createWorkerHost(
  plan: WorkerPlan,
  limits: WorkerLimits = {},
  onIdle: () => void = () => {},
): WorkerHost {
  const state: HostState = {
    plan,
    limits: { ...DEFAULTS, ...limits },
    onIdle,
    waiting: new Set(),
    running: new Map(),
    starting: new Set(),
    worker: null,
    ready: false,
    startedAt: 0,
    startTimer: undefined,
    alarm: undefined,
    alarmAt: Infinity,
    lastId: 0,
    crashes: 0,
    startAt: 0,
    closed: false,
  };
  return {
    ask<Answer>(question: unknown, options: AskOptions): Promise<WorkerAnswer<Answer>> {
      return enqueue(state, question, options) as Promise<WorkerAnswer<Answer>>;
    },
    start: () => whenStarted(state),
    load: () => state.waiting.size + state.running.size + state.starting.size,
    close(): void {
      state.closed = true;
      endStarting(state);
      for (const entry of state.waiting) fail(state, entry, "cancelled", "it was closed");
      stop(state, "cancelled", "it was closed");
    },
  };
}

function enqueue(state: HostState, question: unknown, options: AskOptions): Promise<WorkerAnswer<unknown>> {
  if (state.closed || options.signal?.aborted === true) {
    return Promise.resolve(failure(state, "cancelled", "the question was cancelled"));
  }
  if (state.waiting.size >= state.limits.waitingMaximum) {
    return Promise.resolve(failure(state, "provider_unreachable", "too many questions are waiting"));
  }
  return new Promise((resolve) => {
    const entry: Entry = { id: ++state.lastId, question, options, settle: resolve, settled: false, until: Infinity };
    const abort = (): void => cancel(state, entry);
    entry.settle = (answer) => {
      entry.settled = true;
      options.signal?.removeEventListener("abort", abort);
      resolve(answer);
    };
    options.signal?.addEventListener("abort", abort, { once: true });
    state.waiting.add(entry);
    pump(state);
    // The start of a worker does not count towards the limit, which begins when the worker is ready.
    if (state.ready && state.waiting.has(entry)) limitTime(state, entry);
  });
}

function whenStarted(state: HostState): Promise<void> {
  if (state.ready || state.closed) return Promise.resolve();
  return new Promise((resolve) => {
    state.starting.add(resolve);
    if (state.worker === null) start(state);
  });
}

function endStarting(state: HostState): void {
  for (const resolve of state.starting) resolve();
  state.starting.clear();
}

/**
 * Starts a question's time limit. All questions share one timer, because setting and clearing one for each costs as
 * much as a small answer. The timer is not cleared when its question is answered; when it fires it is set for the next
 * open question.
 */
function limitTime(state: HostState, entry: Entry): void {
  entry.until = performance.now() + entry.options.limitMillis;
  setAlarm(state, entry.until);
}

function setAlarm(state: HostState, until: number): void {
  if (until >= state.alarmAt) return;
  clearTimeout(state.alarm);
  state.alarmAt = until;
  state.alarm = setTimeout(() => expire(state), Math.ceil(until - performance.now()));
}

/** Fails the questions that exceeded their limit, and sets the alarm for the others. */
function expire(state: HostState): void {
  state.alarmAt = Infinity;
  const now = performance.now();
  // The limits of waiting questions are suspended while the worker starts.
  const waiting = state.ready ? [...state.waiting] : [];
  for (const entry of waiting) {
    if (entry.until > now) continue;
    fail(state, entry, "timeout", `no worker was free within ${entry.options.limitMillis} ms`);
  }
  const late = [...state.running.values()].filter((entry) => entry.until <= now);
  for (const entry of late) fail(state, entry, "timeout", `it took longer than ${entry.options.limitMillis} ms`);
  // The worker may never answer; only its termination frees the thread.
  if (late.length > 0) stop(state, "worker_died", "its worker was ended because another question took too long");
  if (state.ready) { for (const entry of state.waiting) setAlarm(state, entry.until); }
  for (const entry of state.running.values()) setAlarm(state, entry.until);
  if (late.length > 0) pump(state);
}

/** Sends waiting questions up to the concurrency of the worker; starts the worker if necessary. */
function pump(state: HostState): void {
  if (state.closed) return;
  if (state.waiting.size === 0 && state.starting.size === 0) {
    if (state.running.size === 0) state.onIdle();
    return;
  }
  if (state.worker === null) return start(state);
  if (!state.ready) return;
  for (const entry of state.waiting) {
    if (state.running.size >= (state.plan.concurrency ?? 1)) return;
    post(state, state.worker, entry);
  }
}

function post(state: HostState, worker: Worker, entry: Entry): void {
  const { transfer = [] } = entry.options;
  state.waiting.delete(entry);
  state.running.set(entry.id, entry);
  limitTime(state, entry);
  const order: WorkerOrder = { kind: "ask", id: entry.id, question: entry.question };
  // The runtime posts faster without a transfer list.
  if (transfer.length === 0) worker.postMessage(order);
  else worker.postMessage(order, [...transfer]);
}

/** Starts a worker, after the backoff of earlier crashes. */
function start(state: HostState): void {
  if (state.startTimer !== undefined) return;
  const pause = state.startAt - performance.now();
  if (pause > 0) {
    state.startTimer = setTimeout(() => {
      state.startTimer = undefined;
      pump(state);
    }, pause);
    return;
  }
  let worker: Worker;
  try {
    worker = spawn(state.plan);
  } catch (error) {
    // The process itself lacks a permission of the worker; waiting would not change that.
    const reason = error instanceof Error ? error.message : String(error);
    endStarting(state);
    for (const entry of state.waiting) fail(state, entry, "provider_unreachable", `it cannot be started: ${reason}`);
    return;
  }
  state.worker = worker;
  state.startedAt = performance.now();
  state.startTimer = setTimeout(() => crash(state, worker, "it did not start in time"), state.limits.startMillis);
  worker.onmessage = ({ data }: MessageEvent<WorkerReport>) => receive(state, worker, data);
  worker.onerror = (event) => {
    // An unhandled error event would end the whole process.
    event.preventDefault();
    crash(state, worker, "its worker died");
  };
  worker.onmessageerror = () => crash(state, worker, "its worker sent an unreadable message");
  const order: WorkerOrder = { kind: "setup", setup: state.plan.setup };
  worker.postMessage(order);
}

function spawn(plan: WorkerPlan): Worker {
  const { env = [], net = [], read = [] } = plan.permissions;
  // The runtime needs `false` for a permission that is not granted, not an empty list.
  const granted = (list: readonly string[]): string[] | false => list.length === 0 ? false : [...list];
  return new Worker(plan.module, {
    type: "module",
    name: plan.name,
    deno: {
      permissions: {
        env: granted(env),
        net: granted(net),
        read: granted(read),
        write: false,
        run: false,
        ffi: false,
        sys: false,
        import: false,
      },
    },
  });
}

function receive(state: HostState, worker: Worker, report: WorkerReport): void {
  if (state.worker !== worker) return;
  if (report.kind === "ready") {
    clearTimeout(state.startTimer);
    state.startTimer = undefined;
    state.ready = true;
    endStarting(state);
    pump(state);
    const took = performance.now() - state.startedAt;
    for (const entry of state.waiting) {
      if (entry.until === Infinity) limitTime(state, entry);
      else setAlarm(state, entry.until += took);
    }
    return;
  }
  const entry = state.running.get(report.id);
  if (entry === undefined) return;
  state.running.delete(entry.id);
  state.crashes = 0;
  if (!entry.settled) {
    entry.settle(
      report.kind === "answer"
        ? { ok: true, answer: report.answer }
        : failure(state, "worker_died", `its worker failed: ${report.message}`),
    );
  }
  pump(state);
}

/** Cancels a question. If it already runs, its time limit still applies to the worker. */
function cancel(state: HostState, entry: Entry): void {
  if (state.running.has(entry.id)) {
    const order: WorkerOrder = { kind: "cancel", id: entry.id };
    state.worker?.postMessage(order);
  }
  fail(state, entry, "cancelled", "the question was cancelled");
}

/** Settles a question with a failure. If it runs, it stays with the worker until the worker answers or is ended. */
function fail(state: HostState, entry: Entry, code: WorkerFailureCode, message: string): void {
  if (!entry.settled) entry.settle(failure(state, code, message));
  if (!state.waiting.delete(entry)) return;
  if (state.waiting.size === 0 && state.running.size === 0) state.onIdle();
}

function crash(state: HostState, worker: Worker, message: string): void {
  if (state.worker !== worker) return;
  const { backOffMillis, backOffMaximumMillis } = state.limits;
  state.startAt = performance.now() + Math.min(backOffMillis * 2 ** state.crashes, backOffMaximumMillis);
  state.crashes += 1;
  // Questions that wait for a worker that fails to start would only wait for the next failure.
  if (!state.ready) {
    endStarting(state);
    for (const entry of state.waiting) fail(state, entry, "worker_died", message);
  }
  stop(state, "worker_died", message);
  pump(state);
}

/** Terminates the worker and fails the questions that it works on. */
function stop(state: HostState, code: WorkerFailureCode, message: string): void {
  clearTimeout(state.startTimer);
  state.startTimer = undefined;
  state.worker?.terminate();
  state.worker = null;
  state.ready = false;
  const running = [...state.running.values()];
  state.running.clear();
  for (const entry of running) fail(state, entry, code, message);
  if (state.waiting.size > 0) return;
  clearTimeout(state.alarm);
  state.alarmAt = Infinity;
}

function failure(state: HostState, code: WorkerFailureCode, message: string): WorkerAnswer<never> {
  return { ok: false, code, message: `Cannot run ${state.plan.name}: ${message}` };
}
