/**
 * Collecting every reason for which a spec is refused, and reporting them together.
 *
 * @module
 */

import { compareCodePoints } from "../canonical/order.ts";
import { compareSteps, pathOf, type Place, stepsTo } from "./json_path.ts";
import type { Refusal, RefusalCode } from "./types.ts";

/** How many refusals one report holds at most; the last one of a full report says how many more there are. */
export const REFUSALS_MAXIMUM = 256;

/** How many refusals are kept for sorting; those beyond are only counted, so a hostile spec cannot fill the memory. */
const KEPT_MAXIMUM = 4096;

/** Takes refusals one by one. */
export interface Collector {
  /** Records a reason for which the spec is refused. */
  readonly refuse: (code: RefusalCode, place: Place, message: string) => void;
  /** How many refusals there are so far. */
  readonly count: () => number;
  /** The refusals sorted by path, then code, then message; at most {@link REFUSALS_MAXIMUM}. */
  readonly report: () => Refusal[];
}

interface Kept {
  readonly code: RefusalCode;
  readonly place: Place;
  readonly message: string;
}

/**
 * An empty collector.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { placeAt } from "@/law/json_path.ts";
 * import { collector } from "@/law/refusals.ts";
 *
 * const refusals = collector();
 * refusals.refuse("type_invalid", placeAt("stages", 0), "Expected an object, got null");
 * assert.deepEqual(refusals.report(), [
 *   { code: "type_invalid", path: "$.stages[0]", message: "Expected an object, got null" },
 * ]);
 * ```
 */
export function collector(): Collector {
  const kept: Kept[] = [];
  let count = 0;
  return {
    refuse(code, place, message): void {
      count++;
      if (kept.length < KEPT_MAXIMUM) kept.push({ code, place, message });
    },
    count: () => count,
    report: () => report(kept, count),
  };
}

function report(kept: readonly Kept[], count: number): Refusal[] {
  const sorted = kept
    .map((refusal) => ({ refusal, steps: stepsTo(refusal.place) }))
    .sort((a, b) =>
      compareSteps(a.steps, b.steps) || compareCodePoints(a.refusal.code, b.refusal.code) ||
      compareCodePoints(a.refusal.message, b.refusal.message)
    )
    .map(({ refusal }) => ({ code: refusal.code, path: pathOf(refusal.place), message: refusal.message }));
  if (count <= REFUSALS_MAXIMUM) return sorted;
  const shown = sorted.slice(0, REFUSALS_MAXIMUM - 1);
  const message = `The spec has ${count - shown.length} more refusals; correct the ones above first`;
  return [...shown, { code: "more_refusals", path: "$", message }];
}
