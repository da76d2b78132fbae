/** Collects every reason for the refusal of a spec, and reports them together. */

import { compareCodePoints } from "../canonical/order.ts";
import { below, compareSteps, type JsonPath, pathOf, stepsTo } from "../canonical/path.ts";
import type { FaultSink, ShapeFault } from "../canonical/shape.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { describe, didYouMean, quote, quoteAll } from "./suggest.ts";
import type { Refusal, RefusalCode } from "./types.ts";

/** Maximum number of refusals in a report. The last one of a full report has the number of further ones. */
export const REFUSALS_MAXIMUM = 256;

/** Maximum number of refusals kept for sorting. Others are only counted, so a hostile spec cannot fill the memory. */
const KEPT_MAXIMUM = 4096;

/** Maximum number of names that the hints of a report compare. A comparison of long names takes 10 microseconds. */
const COMPARED_MAXIMUM = 16_384;

/** Collects refusals. A fault of a shape is recorded as the corresponding refusal. */
export interface Collector extends FaultSink {
  /** Records a refusal; a reader returns its undefined. */
  readonly refuse: (code: RefusalCode, path: JsonPath, message: string) => undefined;
  /** {@link didYouMean}; empty once the report has compared too many names. */
  readonly hint: (name: string, known: Iterable<string>) => string;
  /** The number of refusals so far. */
  readonly count: () => number;
  /** The refusals sorted by path, then code, then message; at most {@link REFUSALS_MAXIMUM}. */
  readonly report: () => Refusal[];
}

interface Kept {
  readonly code: RefusalCode;
  readonly path: JsonPath;
  readonly message: string;
}

/**
 * An empty collector.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { pathAt } from "@/canonical/path.ts";
 * import { collector } from "@/law/refusals.ts";
 *
 * const refusals = collector();
 * refusals.refuse("type_invalid", pathAt("stages", 0), "Expected an object, got null");
 * assert.deepEqual(refusals.report(), [
 *   { code: "type_invalid", path: "$.stages[0]", message: "Expected an object, got null" },
 * ]);
 * ```
 */
export function collector(): Collector {
  const kept: Kept[] = [];
  let count = 0;
  const refuse: Collector["refuse"] = (code, path, message) => {
    count++;
    if (kept.length < KEPT_MAXIMUM) kept.push({ code, path, message });
    return undefined;
  };
  let compared = 0;
  const hint: Collector["hint"] = (name, known) => {
    if (compared >= COMPARED_MAXIMUM) return "";
    const names = [...known];
    compared += names.length;
    return didYouMean(name, names);
  };
  return {
    refuse,
    // To word a fault costs far more than to count it.
    add: (fault, path) => kept.length < KEPT_MAXIMUM ? addFault({ refuse, hint }, fault, path) : void count++,
    hint,
    count: () => count,
    report: () => report(kept, count),
  };
}

function report(kept: readonly Kept[], count: number): Refusal[] {
  const sorted = kept
    .map((refusal) => ({ refusal, steps: stepsTo(refusal.path) }))
    .sort((a, b) =>
      compareSteps(a.steps, b.steps) || compareCodePoints(a.refusal.code, b.refusal.code) ||
      compareCodePoints(a.refusal.message, b.refusal.message)
    )
    .map(({ refusal }) => ({ code: refusal.code, path: pathOf(refusal.path), message: refusal.message }));
  if (count <= REFUSALS_MAXIMUM) return sorted;
  const shown = sorted.slice(0, REFUSALS_MAXIMUM - 1);
  const message = `The spec has ${count - shown.length} more refusals; correct the ones above first`;
  return [...shown, { code: "more_refusals", path: "$", message }];
}

function addFault({ refuse, hint }: Pick<Collector, "refuse" | "hint">, fault: ShapeFault, path: JsonPath): void {
  switch (fault.kind) {
    case "type":
    case "form": {
      const code = fault.kind === "form" && typeof fault.value === "string" ? "value_invalid" : "type_invalid";
      return refuse(code, path, `Expected ${fault.expected}, got ${describe(fault.value)}`);
    }
    case "object": {
      const members = fault.required.length === 0 ? "" : ` with ${quoteAll(fault.required)}`;
      return refuse("type_invalid", path, `Expected an object${members}, got ${describe(fault.value)}`);
    }
    case "missing":
      return refuse("member_missing", below(path, fault.name), `Member ${quote(fault.name)} is required`);
    case "unknown": {
      const { name, known } = fault;
      // A path shows names in full, so it leaves out a name beyond the limit.
      const at = name.length <= SPEC_LIMITS.identifierBytes ? below(path, name) : path;
      const rest = hint(name, known) || `; expected ${known.length === 0 ? "none" : `only ${quoteAll(known)}`}`;
      return refuse("member_unknown", at, `Member ${quote(name)} is unknown${rest}`);
    }
    case "items": {
      const { minimum, maximum, count } = fault;
      if (count > maximum) return refuse("too_many", path, `Expected at most ${maximum} items, got ${count}`);
      return refuse("too_few", path, `Expected at least ${minimum} items, got ${count}`);
    }
    case "integer": {
      const { minimum, maximum, value } = fault;
      if (!Number.isInteger(value)) {
        return refuse("type_invalid", path, `Expected an integer, got ${describe(value)}`);
      }
      return refuse("value_invalid", path, `Expected an integer from ${minimum} to ${maximum}, got ${value}`);
    }
    case "bytes": {
      const { minimum, maximum, bytes } = fault;
      return refuse("value_invalid", path, `Expected ${minimum} to ${maximum} bytes, got ${bytes}`);
    }
    case "duplicate":
      return refuse("duplicate", path, `Item ${quote(fault.value)} repeats item ${fault.earlier}`);
    case "choice": {
      const { value } = fault;
      if (typeof value !== "string") {
        return refuse("type_invalid", path, `Expected a string, got ${describe(value)}`);
      }
      const known = fault.known.map(String);
      const rest = hint(value, known) || `; expected ${known.length > 1 ? "one of " : ""}${quoteAll(known)}`;
      return refuse("value_invalid", path, `Value ${quote(value)} is unknown${rest}`);
    }
  }
}
