/**
 * Long work on the thread of the server, done in short turns: whoever waits for something else is answered in between.
 *
 * @module
 */

/** For how long one turn lasts, in milliseconds. */
const TURN_MILLISECONDS = 10;

let lastTurn: Promise<void> = Promise.resolve();

/** Waits for a turn. Of all who wait one is let through at a time, so that the turns of many do not add up to a long one. */
function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resolve) => setTimeout(resolve)));
  return lastTurn;
}

/**
 * Does work that stops now and then, to its end.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { inTurns } from "@/tools/framework/cooperative_scheduler.ts";
 *
 * function* sum(count: number): Generator<undefined, number> {
 *   let total = 0;
 *   for (let one = 1; one <= count; one++, yield) total += one;
 *   return total;
 * }
 * assert.equal(await inTurns(sum(4)), 10);
 * ```
 */
export async function inTurns<T>(work: Generator<undefined, T>): Promise<T> {
  let end = performance.now() + TURN_MILLISECONDS;
  for (let step = work.next();; step = work.next()) {
    if (step.done === true) return step.value;
    if (performance.now() < end) continue;
    await nextTurn();
    end = performance.now() + TURN_MILLISECONDS;
  }
}
