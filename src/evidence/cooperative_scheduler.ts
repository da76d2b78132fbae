/** Runs long work on the serving thread in short time slices, so that other requests are answered in between. */

/** Length of one time slice, in milliseconds. */
const TURN_MILLISECONDS = 10;

let lastTurn: Promise<void> = Promise.resolve();

/** Waits for a time slice. One waiter gets one at a time, so that the slices of many do not add up to a long one. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setTimeout(resolve)));
  return lastTurn;
}

/**
 * Time slices for asynchronous work: awaited between two steps, it lets other requests run where the slice is over.
 *
 * @returns Starts with a slice
 */
export function timeSlices(): () => Promise<void> {
  let end = performance.now() + TURN_MILLISECONDS;
  return async () => {
    if (performance.now() < end) return;
    await nextTurn();
    end = performance.now() + TURN_MILLISECONDS;
  };
}

/**
 * Time slices for work that arrives from outside, such as the chunks of a stream. Only the work counts, not the time
 * until it arrives: work that comes seldom never waits, and a flood of it waits for a slice again and again.
 */
export function workSlices(): <T>(work: () => T | Promise<T>) => Promise<T> {
  let used = 0;
  return async (work) => {
    if (used >= TURN_MILLISECONDS) {
      await nextTurn();
      used = 0;
    }
    const start = performance.now();
    const result = work();
    used += performance.now() - start;
    return await result;
  };
}

/** Runs a generator to its end; other requests may run at each `yield`. */
export async function inTurns<T>(work: Generator<undefined, T>): Promise<T> {
  let end = performance.now() + TURN_MILLISECONDS;
  for (let step = work.next();; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MILLISECONDS;
  }
}
