/**
 * Ends work in a worker once its time is over: ending a thread does not stop every computation.
 *
 * @module
 */

/** The time of the work is over. */
export class WorkExpired extends Error {}

/**
 * Counts work, and reads the clock after every `stepsPerReading` steps.
 *
 * @throws {WorkExpired} Where the time is over
 */
export function createDeadlineMeter(milliseconds: number, stepsPerReading: number): (steps: number) => void {
  const end = performance.now() + milliseconds;
  let left = stepsPerReading;
  return (steps) => {
    left -= steps;
    if (left > 0) return;
    left = stepsPerReading;
    if (performance.now() > end) throw new WorkExpired("Cannot finish: the time is over");
  };
}
