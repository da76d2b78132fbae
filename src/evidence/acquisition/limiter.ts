/**
 * How many questions may be with one provider at a time, over all calls.
 *
 * @module
 */

/** Questions that one provider is asked at a time; the others wait their turn. */
export const QUESTIONS_AT_ONCE = 64;

/** Lets at most so many pieces of work run at a time, in the order they came. */
export interface Limiter {
  readonly run: <Result>(work: () => Promise<Result>) => Promise<Result>;
}

/** Makes a limiter. */
export function createLimiter(atOnce: number): Limiter {
  const waiting: (() => void)[] = [];
  let running = 0;
  return {
    run: async (work) => {
      if (running < atOnce) running++;
      // Whoever ends hands its place on, so the count stays.
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
