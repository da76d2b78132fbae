/** Ends work in a worker once its time is over: ending a thread does not stop every computation. */

import process from "node:process";

/** The time of the work is over. */
export class WorkExpired extends Error {}

/** The processor time of this thread, in milliseconds: other work of the machine does not use it up. */
export function threadMilliseconds(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Counts work, and reads the clock after every `stepsPerReading` steps.
 *
 * @throws {WorkExpired} Where the time is over
 */
export function createDeadlineMeter(
  milliseconds: number,
  stepsPerReading: number,
  clock: () => number = () => performance.now(),
): (steps: number) => void {
  const end = clock() + milliseconds;
  let left = stepsPerReading;
  return (steps) => {
    left -= steps;
    if (left > 0) return;
    left = stepsPerReading;
    if (clock() >= end) throw new WorkExpired("Cannot finish: the time is over");
  };
}
