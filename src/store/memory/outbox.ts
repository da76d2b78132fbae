/**
 * The outbox of a store in memory: the records that were accepted since the first target was registered.
 *
 * @module
 */

import { type Outbox, type OutboxEntry, settledPlace } from "../outbox.ts";
import type { Append } from "../types.ts";

interface Target {
  settled: number;
  holder: string;
  /** By `performance.now()`. */
  expires: number;
}

/** An outbox that learns of accepted appends. */
export interface MemoryOutbox extends Outbox {
  readonly accepted: (append: Append) => void;
}

/** Makes an empty outbox. */
export function createMemoryOutbox(): MemoryOutbox {
  const targets = new Map<string, Target>();
  // Without a target nothing is kept. `entries[0]` has place `settled + 1`.
  let entries: OutboxEntry[] = [];
  let last = 0;
  const held = (target: string, holder: string): Target | null => {
    const found = targets.get(target);
    return found?.holder === holder ? found : null;
  };
  return {
    accepted: ({ run_key, scenario_id, scenario_law_identity, records }) => {
      if (targets.size === 0) return;
      for (const { revision, record_id, receipt: { operation: { family }, result } } of records) {
        last += 1;
        entries.push({ place: last, run_key, scenario_id, scenario_law_identity, revision, record_id, family, result });
      }
    },
    register: (target) => {
      if (!targets.has(target)) targets.set(target, { settled: last, holder: "", expires: 0 });
      return Promise.resolve();
    },
    lease: (target, holder, millis) => {
      const found = targets.get(target);
      const isFree = found !== undefined && (found.holder === holder || found.expires <= performance.now());
      if (isFree) Object.assign(found, { holder, expires: performance.now() + millis });
      return Promise.resolve(isFree);
    },
    release: (target, holder) => {
      const found = held(target, holder);
      if (found !== null) found.expires = 0;
      return Promise.resolve();
    },
    pending: (target, { after }, limit) => {
      const from = after ?? targets.get(target)?.settled ?? last;
      const first = entries[0]?.place ?? 0;
      const start = Math.max(0, from + 1 - first);
      return Promise.resolve(entries.slice(start, start + limit));
    },
    settle: (target, holder, _done, progress) => {
      const found = held(target, holder);
      if (found === null) return Promise.resolve(false);
      found.settled = Math.max(found.settled, settledPlace(progress));
      const least = Math.min(...[...targets.values()].map(({ settled }) => settled));
      const kept = entries.findIndex(({ place }) => place > least);
      entries = kept < 0 ? [] : entries.slice(kept);
      return Promise.resolve(true);
    },
  };
}
