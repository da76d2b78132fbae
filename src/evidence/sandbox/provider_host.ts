/**
 * The host side of one provider worker: started with the first question under exactly the permissions it is given, kept
 * warm, terminated when a question outlives its time limit, started again after a crash, later each time.
 *
 * @module
 */

import type { ProviderOrder, ProviderReport } from "./provider_protocol.ts";

/** Permissions of a worker. What is left out is not granted. */
export interface WorkerPermissions {
  /** Names of environment variables. */
  readonly env?: readonly string[];
  /** `address:port`, IPv6 in brackets. */
  readonly net?: readonly string[];
  /** Real paths. */
  readonly read?: readonly string[];
}

/** What a worker is. */
export interface WorkerPlan {
  /** For people: shown in the runtime's own messages. */
  readonly name: string;
  readonly module: URL;
  readonly permissions: WorkerPermissions;
  /** Sent to it first; a structured clone of it. */
  readonly setup: unknown;
  /** Questions that it works on at a time; 1 where it answers without waiting for anything. */
  readonly concurrency: number;
}

/** Bounds of a worker. */
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

/** Why a question has no answer. */
export type WorkerFailureCode = "timeout" | "worker_died" | "provider_unreachable" | "cancelled";

/** What came of a question. */
export type WorkerAnswer<Answer> =
  | { readonly ok: true; readonly answer: Answer }
  | { readonly ok: false; readonly code: WorkerFailureCode; readonly message: string };

/** How long a question may take, and who may call it off. */
export interface AskOptions {
  /** Milliseconds to wait for a free worker once it has started, and again milliseconds to answer. */
  readonly limitMillis: number;
  readonly signal: AbortSignal;
  /** Buffers that are handed over, not copied. */
  readonly transfer?: readonly Transferable[];
}

/** One worker. */
export interface WorkerHost {
  /** Never rejects. */
  readonly ask: <Answer>(question: unknown, options: AskOptions) => Promise<WorkerAnswer<Answer>>;
  /** Starts the worker; resolves when it is ready, or when it cannot start or is closed. Never rejects. */
  readonly start: () => Promise<void>;
  /** Questions that wait or are worked on. */
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
  /** When its time is up, in milliseconds of `performance.now()`. */
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
  /** Rings no later than the time of any open question is up. */
  alarm: ReturnType<typeof setTimeout> | undefined;
  /** When it rings, in milliseconds of `performance.now()`. */
  alarmAt: number;
  lastId: number;
  /** Crashes since the last answer. */
  crashes: number;
  /** Not to be started before, in milliseconds of `performance.now()`. */
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
 * A worker that is started with its first question.
 *
 * @param onIdle Called whenever it has nothing more to do
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
  if (state.closed || options.signal.aborted) {
    return Promise.resolve(failure(state, "cancelled", "nobody waits for it"));
  }
  if (state.waiting.size >= state.limits.waitingMaximum) {
    return Promise.resolve(failure(state, "provider_unreachable", "too many questions wait"));
  }
  return new Promise((resolve) => {
    const entry: Entry = { id: ++state.lastId, question, options, settle: resolve, settled: false, until: Infinity };
    const abort = (): void => cancel(state, entry);
    entry.settle = (answer) => {
      entry.settled = true;
      options.signal.removeEventListener("abort", abort);
      resolve(answer);
    };
    options.signal.addEventListener("abort", abort, { once: true });
    state.waiting.add(entry);
    pump(state);
    // The time that a worker needs to start does not count: the limit begins when it is ready.
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
 * Starts a question's time limit. All questions share one timer, because setting one for each, and taking it back, costs
 * as much as a small answer: it is left to ring when its question was answered, and then set for the earliest that is open.
 */
function limitTime(state: HostState, entry: Entry): void {
  entry.until = performance.now() + entry.options.limitMillis;
  setAlarm(state, entry.until);
}

function setAlarm(state: HostState, until: number): void {
  if (until >= state.alarmAt) return;
  clearTimeout(state.alarm);
  state.alarmAt = until;
  state.alarm = setTimeout(() => ring(state), Math.ceil(until - performance.now()));
}

/** Ends what took too long, and sets the alarm for what is left. */
function ring(state: HostState): void {
  state.alarmAt = Infinity;
  const now = performance.now();
  // The clock of what waits stands while the worker starts.
  const waiting = state.ready ? [...state.waiting] : [];
  for (const entry of waiting) {
    if (entry.until > now) continue;
    fail(state, entry, "timeout", `no worker was free within ${entry.options.limitMillis} ms`);
  }
  const late = [...state.running.values()].filter((entry) => entry.until <= now);
  for (const entry of late) fail(state, entry, "timeout", `it took longer than ${entry.options.limitMillis} ms`);
  // It may never answer: nothing less than its end frees the thread.
  if (late.length > 0) stop(state, "worker_died", "its worker was ended, because another question took too long");
  if (state.ready) { for (const entry of state.waiting) setAlarm(state, entry.until); }
  for (const entry of state.running.values()) setAlarm(state, entry.until);
  if (late.length > 0) pump(state);
}

/** Hands over as many questions as the worker takes; starts it where there is none. */
function pump(state: HostState): void {
  if (state.closed) return;
  if (state.waiting.size === 0 && state.starting.size === 0) {
    if (state.running.size === 0) state.onIdle();
    return;
  }
  if (state.worker === null) return start(state);
  if (!state.ready) return;
  for (const entry of state.waiting) {
    if (state.running.size >= state.plan.concurrency) return;
    post(state, state.worker, entry);
  }
}

function post(state: HostState, worker: Worker, entry: Entry): void {
  const { transfer = [] } = entry.options;
  state.waiting.delete(entry);
  state.running.set(entry.id, entry);
  limitTime(state, entry);
  const order: ProviderOrder = { kind: "ask", id: entry.id, question: entry.question };
  // The runtime has a shorter way for a message alone.
  if (transfer.length === 0) worker.postMessage(order);
  else worker.postMessage(order, [...transfer]);
}

/** Starts a worker, after the pause that earlier crashes impose. */
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
    // The process itself lacks what the worker is to be granted: no pause will change that.
    const reason = error instanceof Error ? error.message : String(error);
    endStarting(state);
    for (const entry of state.waiting) fail(state, entry, "provider_unreachable", `it cannot be started: ${reason}`);
    return;
  }
  state.worker = worker;
  state.startedAt = performance.now();
  state.startTimer = setTimeout(() => crash(state, worker, "it did not start in time"), state.limits.startMillis);
  worker.onmessage = ({ data }: MessageEvent<ProviderReport>) => receive(state, worker, data);
  worker.onerror = (event) => {
    // Without this the error would end the whole process.
    event.preventDefault();
    crash(state, worker, "its worker died");
  };
  worker.onmessageerror = () => crash(state, worker, "its worker sent what cannot be read");
  const order: ProviderOrder = { kind: "setup", setup: state.plan.setup };
  worker.postMessage(order);
}

function spawn(plan: WorkerPlan): Worker {
  const { env = [], net = [], read = [] } = plan.permissions;
  // An empty list is not given: everything that is not granted is spelled out as refused.
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

function receive(state: HostState, worker: Worker, report: ProviderReport): void {
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

/** Nobody waits for an answer any more. A question that is being worked on keeps its time limit. */
function cancel(state: HostState, entry: Entry): void {
  if (state.running.has(entry.id)) {
    const order: ProviderOrder = { kind: "cancel", id: entry.id };
    state.worker?.postMessage(order);
  }
  fail(state, entry, "cancelled", "nobody waits for it");
}

/** Answers a question with a failure. One that runs stays with the worker until it answers or is ended. */
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
  // What waits for a worker that cannot even start is told so; it would only wait for the same again.
  if (!state.ready) {
    endStarting(state);
    for (const entry of state.waiting) fail(state, entry, "worker_died", message);
  }
  stop(state, "worker_died", message);
  pump(state);
}

/** Ends the worker and every question that it works on. */
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
