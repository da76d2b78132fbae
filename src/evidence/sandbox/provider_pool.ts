/**
 * The workers of one provider, one for each grant: where permissions follow from the question (an address, a variable),
 * every distinct grant has a worker of its own, the least recently used of which goes when there are too many.
 *
 * @module
 */

import {
  type AskOptions,
  createWorkerHost,
  type WorkerAnswer,
  type WorkerHost,
  type WorkerLimits,
  type WorkerPermissions,
  type WorkerPlan,
} from "./provider_host.ts";

/** What all workers of a pool have in common. */
export interface PoolPlan extends Omit<WorkerPlan, "permissions"> {
  /** Workers that are kept. */
  readonly workersMaximum: number;
  readonly limits?: WorkerLimits;
}

/** The workers of a provider. */
export interface ProviderPool {
  /** Asks the worker that has exactly these permissions. Never rejects. */
  readonly ask: <Answer>(
    permissions: WorkerPermissions,
    question: unknown,
    options: AskOptions,
  ) => Promise<WorkerAnswer<Answer>>;
  /**
   * Starts the worker that has exactly these permissions, where there is a place for one. Resolves when it is ready or
   * cannot start. Never rejects.
   */
  readonly start: (permissions: WorkerPermissions) => Promise<void>;
  /** Workers that there are. */
  readonly size: () => number;
  /** Ends all workers. */
  readonly close: () => void;
}

interface PoolState {
  readonly plan: PoolPlan;
  /** By grant, least recently used first. */
  readonly hosts: Map<string, WorkerHost>;
  /** Who waits for a place, oldest first. */
  readonly waiting: Set<() => void>;
  closed: boolean;
}

/** A pool without workers; each is started with its first question. */
export function createProviderPool(plan: PoolPlan): ProviderPool {
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

/** Asks the worker for a grant, as soon as there is a place for it. */
async function askPool<Answer>(
  state: PoolState,
  permissions: WorkerPermissions,
  question: unknown,
  options: AskOptions,
): Promise<WorkerAnswer<Answer>> {
  const key = JSON.stringify(permissions);
  const until = performance.now() + options.limitMillis;
  for (;;) {
    if (state.closed || options.signal.aborted) {
      // A place that was meant for this one is somebody else's.
      wakeNext(state);
      return refusal(state, "cancelled", options);
    }
    const host = hostFor(state, key, permissions);
    // Asked at once: an idle worker can be gone a moment later.
    if (host !== null) return await host.ask<Answer>(question, options);
    if (performance.now() >= until) return refusal(state, "timeout", options);
    await nextPlace(state, until, options.signal);
  }
}

function hostFor(state: PoolState, key: string, permissions: WorkerPermissions): WorkerHost | null {
  const host = state.hosts.get(key);
  if (host !== undefined) {
    state.hosts.delete(key);
    state.hosts.set(key, host);
    return host;
  }
  const hasPlace = state.hosts.size < state.plan.workersMaximum || evictIdle(state);
  return hasPlace ? addHost(state, key, permissions) : null;
}

function addHost(state: PoolState, key: string, permissions: WorkerPermissions): WorkerHost {
  const { name, module, setup, concurrency, limits } = state.plan;
  const host = createWorkerHost({ name, module, setup, concurrency, permissions }, limits, () => wakeNext(state));
  state.hosts.set(key, host);
  return host;
}

/** Ends the worker that has been idle for longest, if one is. */
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

function nextPlace(state: PoolState, until: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      state.waiting.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.max(0, until - performance.now()));
    signal.addEventListener("abort", wake, { once: true });
    state.waiting.add(wake);
  });
}

function refusal(state: PoolState, code: "cancelled" | "timeout", options: AskOptions): WorkerAnswer<never> {
  const reason = code === "timeout" ? `no worker was free within ${options.limitMillis} ms` : "nobody waits for it";
  return { ok: false, code, message: `Cannot run ${state.plan.name}: ${reason}` };
}
