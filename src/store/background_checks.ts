/** Checks of runs that follow answers: one at a time, in the order in which they were asked for. */

/** Runs that wait for a check. A run beyond them is asked for again by its next read. */
export const WAITING_MAXIMUM = 1024;

/** A queue of checks by the name of a run. */
export interface BackgroundChecks {
  /** Queues a check, unless one of that name waits or the queue is full. */
  readonly add: (name: string, check: () => Promise<void>) => void;
}

/** An empty queue. Checks report their failures themselves. */
export function createBackgroundChecks(): BackgroundChecks {
  const waiting = new Map<string, () => Promise<void>>();
  let isRunning = false;
  const run = async (): Promise<void> => {
    isRunning = true;
    for (const [name, check] of waiting) {
      waiting.delete(name);
      await check();
    }
    isRunning = false;
  };
  return {
    add: (name, check) => {
      if (waiting.has(name) || waiting.size >= WAITING_MAXIMUM) return;
      waiting.set(name, check);
      if (!isRunning) void run();
    },
  };
}
