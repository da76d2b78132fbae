/** Limits how many functions run at the same time. */

/** Runs a function once fewer than the limit run. Callers take turns; the functions of one caller run in order. */
export type Limiter = <Result>(work: () => Promise<Result>, caller?: string) => Promise<Result>;

/** Creates a limiter of `atOnce` functions. */
export function createLimiter(atOnce: number): Limiter {
  // By caller; the caller whose turn is next comes first.
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  return async (work, caller = "") => {
    if (running < atOnce) running++;
    else {
      const queue = waiting.get(caller) ?? [];
      waiting.set(caller, queue);
      await new Promise<void>((resolve) => queue.push(resolve));
    }
    try {
      return await work();
    } finally {
      // A finished call passes its slot to the next, so the count stays.
      const [turn] = waiting;
      if (turn === undefined) running--;
      else {
        const [next, queue] = turn;
        waiting.delete(next);
        queue.shift()?.();
        if (queue.length > 0) waiting.set(next, queue);
      }
    }
  };
}
