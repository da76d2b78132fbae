/**
 * The workers of one provider, one for each grant. Where permissions follow from the question (an address, a variable),
 * every distinct grant has a worker of its own. The pool evicts the least recently used idle worker.
 */

import {
  type AskOptions,
  createWorkerHost,
  type WorkerAnswer,
  type WorkerHost,
  type WorkerLimits,
  type WorkerPermissions,
  type WorkerPlan,
} from "./worker_host.ts";

/** The common part of the plans of a pool's workers. */
export interface PoolPlan extends Omit<WorkerPlan, "permissions"> {
  /** Workers that run at a time, 1 by default. */
  readonly workersMaximum?: number;
  readonly limits?: WorkerLimits;
}

/** The workers of a provider. */
export interface WorkerPool {
  /** Asks the worker with exactly these permissions. Never rejects. */
  readonly ask: <Answer>(
    permissions: WorkerPermissions,
    question: unknown,
    options: AskOptions,
  ) => Promise<WorkerAnswer<Answer>>;
  /**
   * Starts the worker with exactly these permissions if a slot is free. Resolves when it is ready or cannot start;
   * never rejects.
   */
  readonly start: (permissions: WorkerPermissions) => Promise<void>;
  /** Number of workers. */
  readonly size: () => number;
  /** Ends all workers. */
  readonly close: () => void;
}

interface PoolState {
  readonly plan: PoolPlan;
  /** By grant, least recently used first. */
  readonly hosts: Map<string, WorkerHost>;
  /** Callers that wait for a slot, oldest first. */
  readonly waiting: Set<() => void>;
  closed: boolean;
}

/** Creates a pool; each worker starts with its first question. */
export function createWorkerPool(plan: PoolPlan): WorkerPool {
  const state: PoolState = { plan, hosts: new Map(), waiting: new Set(), closed: false };
  return {
    ask<Answer>(permissions: WorkerPermissions, question: unknown, options: AskOptions): Promise<WorkerAnswer<Answer>> {
      return askPool<Answer>(state, permissions, question, options);
    },
    async start(permissions: WorkerPermissions): Promise<void> {
      if (!state.closed) await hostFor(state, JSON.stringify(permissions), permissions)?.start();
    },
    size: () => state.hosts.size,
    close(): void {
      state.closed = true;
      for (const host of state.hosts.values()) host.close();
      state.hosts.clear();
      wakeNext(state);
    },
  };
}

/** Asks the worker of a grant as soon as a slot is free. */
async function askPool<Answer>(
  state: PoolState,
  permissions: WorkerPermissions,
  question: unknown,
  options: AskOptions,
): Promise<WorkerAnswer<Answer>> {
  const key = JSON.stringify(permissions);
  const until = performance.now() + options.limitMillis;
  for (;;) {
    if (state.closed || options.signal?.aborted === true) {
      // The slot that woke this caller goes to the next one.
      wakeNext(state);
      return poolRefusal(state, "cancelled", options);
    }
    const host = hostFor(state, key, permissions);
    // Without an await in between: another caller could evict an idle worker.
    if (host !== null) return await host.ask<Answer>(question, options);
    if (performance.now() >= until) return poolRefusal(state, "timeout", options);
    await nextSlot(state, until, options.signal);
  }
}

function hostFor(state: PoolState, key: string, permissions: WorkerPermissions): WorkerHost | null {
  const host = state.hosts.get(key);
  if (host !== undefined) {
    state.hosts.delete(key);
    state.hosts.set(key, host);
    return host;
  }
  const hasSlot = state.hosts.size < (state.plan.workersMaximum ?? 1) || evictIdle(state);
  return hasSlot ? addHost(state, key, permissions) : null;
}

function addHost(state: PoolState, key: string, permissions: WorkerPermissions): WorkerHost {
  const { limits, workersMaximum: _, ...plan } = state.plan;
  const host = createWorkerHost({ ...plan, permissions }, limits, () => wakeNext(state));
  state.hosts.set(key, host);
  return host;
}

/** Ends the least recently used idle worker; false where every worker is busy. */
function evictIdle(state: PoolState): boolean {
  for (const [key, host] of state.hosts) {
    if (host.load() > 0) continue;
    state.hosts.delete(key);
    host.close();
    return true;
  }
  return false;
}

function wakeNext(state: PoolState): void {
  for (const wake of state.waiting) {
    wake();
    if (!state.closed) return;
  }
}

function nextSlot(state: PoolState, until: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      state.waiting.delete(wake);
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.max(0, until - performance.now()));
    signal?.addEventListener("abort", wake, { once: true });
    state.waiting.add(wake);
  });
}

function poolRefusal(state: PoolState, code: "cancelled" | "timeout", options: AskOptions): WorkerAnswer<never> {
  const reason = code === "timeout"
    ? `no worker was free within ${options.limitMillis} ms`
    : "the question was cancelled";
  return { ok: false, code, message: `Cannot run ${state.plan.name}: ${reason}` };
}
