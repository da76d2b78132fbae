/**
 * Measures how long a provider's process has answered nothing while queries waited for it. A caller may leave before the
 * timeout of its query, so the timeouts alone would never end a stuck process.
 *
 * @module
 */

/** How long a process has answered nothing. Times at which no query waits do not count. */
export interface Silence {
  /** A query begins to wait. */
  readonly begin: () => void;
  /** A query waits no more, answered or not. */
  readonly end: () => void;
  /** The process has answered. */
  readonly answered: () => void;
  readonly milliseconds: () => number;
}

/** Starts to measure. */
export function createSilence(now: () => number = () => performance.now()): Silence {
  let waiting = 0;
  let since = 0;
  let past = 0;
  const current = (): number => waiting > 0 ? now() - since : 0;
  return {
    begin: () => {
      if (waiting++ === 0) since = now();
    },
    end: () => {
      if (waiting === 1) past += current();
      waiting--;
    },
    answered: () => {
      past = 0;
      since = now();
    },
    milliseconds: () => past + current(),
  };
}
