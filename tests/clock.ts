/**
 * A clock that tests move, so that what they prove does not depend on the speed of the machine.
 *
 * @module
 */

/** `performance.now()` as a test moves it; disposal gives back the real one. */
export interface TestClock extends Disposable {
  /** Lets milliseconds pass. */
  readonly pass: (milliseconds: number) => void;
}

/** Stops `performance.now()` at a whole millisecond, so that sums of times are exact; timers go on. */
export function stoppedClock(): TestClock {
  const real = performance.now;
  let now = Math.ceil(real.call(performance));
  performance.now = () => now;
  return {
    pass: (milliseconds) => void (now += milliseconds),
    [Symbol.dispose]: () => void (performance.now = real),
  };
}
