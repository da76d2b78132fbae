/**
 * Limits the concurrent queries of one provider, over all calls.
 *
 * @module
 */

/** Concurrent queries of one provider; further ones wait. */
export const QUESTIONS_AT_ONCE = 64;

/** Runs functions with limited concurrency, in the order of the calls. */
export interface Limiter {
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Creates a limiter. */
export function createLimiter(atOnce: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
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
    },
  };
}
