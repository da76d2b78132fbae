/**
 * Limits how many functions run at the same time.
 *
 * @module
 */

/** Runs a function once fewer than the limit run, in the order of the calls. */
export type Limiter = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Creates a limiter of `atOnce` functions. */
export function createLimiter(atOnce: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < atOnce) running++;
    // A finished call passes its slot to the next, so the count stays.
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
