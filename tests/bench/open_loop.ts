/**
 * Callers who call as fast as they can, and callers who call at times that do not depend on the answers.
 *
 * @module
 */

import { setImmediate, setTimeout as pause } from "node:timers/promises";

/** One call of one caller. */
export type Act = () => Promise<unknown>;

/** Lets every caller call again as soon as it has its answer; answers a second. */
export async function closedLoop(acts: readonly Act[], milliseconds: number): Promise<number> {
  const start = performance.now();
  let answers = 0;
  await Promise.all(acts.map(async (act) => {
    while (performance.now() < start + milliseconds) {
      await act();
      answers++;
    }
  }));
  return answers * 1000 / (performance.now() - start);
}

/**
 * Lets the callers call in turns at a rate that does not depend on the answers. A caller whose answer is late sends what was due meanwhile
 * after it.
 *
 * @param rate Calls a second of all callers
 * @returns Milliseconds of each call, from when it was due
 */
export async function openLoop(acts: readonly Act[], rate: number, milliseconds: number): Promise<number[]> {
  const latencies: number[] = [];
  const last = acts.map(() => Promise.resolve());
  const start = performance.now();
  for (let index = 0; index * 1000 / rate < milliseconds; index++) {
    const due = start + index * 1000 / rate;
    await until(due);
    const caller = index % acts.length;
    const act = acts[caller] as Act;
    last[caller] = (last[caller] as Promise<void>).then(act).then(() => void latencies.push(performance.now() - due));
  }
  await Promise.all(last);
  return latencies;
}

/** A timer comes up to a millisecond late, so the last millisecond passes in turns of the event loop. */
async function until(due: number): Promise<void> {
  const wait = due - performance.now();
  if (wait > 2) await pause(wait - 1);
  while (performance.now() < due) await setImmediate();
}
