/**
 * The load of the benchmarks of PostgreSQL: callers of a store who each append to a run of their own.
 *
 * @module
 */

import { openStores, type Stores } from "../../src/store/open.ts";
import type { Head } from "../../src/run/types.ts";
import type { Append } from "../../src/store/types.ts";
import { appendTo, headAfter, identified, runKey, sha256, STORAGE } from "../simulation/store/fixture.ts";

/** Length of the answer in each record, characters. */
export const FILLING = 700;

/** A payload of a submission. */
export const MATERIAL = [
  identified("payload", { kind: "json", value: { report: "unit tests", passed: 1532, failed: 0 } }),
];

/** Opens a store on a database. */
export function openStore(url: string): Promise<Stores> {
  const storage = { ...STORAGE, type: "postgres", url } as const;
  return openStores({
    run: { ...storage, max_versions: null },
    schemas: { ...storage, max_entries: null, max_schema_bytes: 1048576 },
  }, sha256);
}

/** One caller of a store: a run and its head. */
export interface Caller {
  readonly name: string;
  head: Head | null;
}

/** Callers whose runs do not exist yet. */
export function newCallers(prefix: string, count: number): Caller[] {
  return Array.from({ length: count }, (_, index) => ({ name: `${prefix} ${index}`, head: null }));
}

/** The next appends of callers, made before the clock runs: the chain is the kernel's work. */
export function plansOf(callers: readonly Caller[], count: number): Append[][] {
  return callers.map((caller) =>
    Array.from({ length: count }, () => {
      const operation = `${caller.name} after ${caller.head?.revision ?? 0}`;
      const append = appendTo(runKey(caller.name), caller.head, { operation, material: MATERIAL, filling: FILLING });
      caller.head = headAfter(append);
      return append;
    })
  );
}

/** Lets every caller act, each after the answer to what it did before; actions a second. Adds milliseconds to `latencies`. */
export async function timed<Item>(
  plans: readonly (readonly Item[])[],
  act: (item: Item) => Promise<unknown>,
  latencies: number[],
): Promise<number> {
  const start = performance.now();
  await Promise.all(plans.map(async (plan) => {
    for (const item of plan) {
      const sent = performance.now();
      await act(item);
      latencies.push(performance.now() - sent);
    }
  }));
  return latencies.length * 1000 / (performance.now() - start);
}

/** Makes the appends; appends a second. */
export function runPlans(stores: Stores, plans: readonly (readonly Append[])[], latencies: number[]): Promise<number> {
  return timed(plans, async (append) => {
    const { outcome } = await stores.runs.append(append);
    if (outcome !== "accepted") throw new Error(`Cannot measure: append became "${outcome}"`);
  }, latencies);
}
