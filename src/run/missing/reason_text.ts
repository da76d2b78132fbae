/**
 * The reason of a trace line in words.
 *
 * @module
 */

import type { Attempt, TraceItem } from "../types.ts";

/**
 * The words of a reason. Records give a quorum that too little evidence counts for the reason of a condition without evidence.
 *
 * @param counted Whether evidence counted for the condition
 */
export function reasonText(reason: NonNullable<TraceItem["reason"]>, counted: boolean): string {
  const isShort = counted && (reason === "no_evidence" || reason === "unqualified");
  return isShort ? "quorum not reached" : reason.replaceAll("_", " ");
}

/** Each condition of an attempt once, such as `approved is unknown (quorum not reached)`. */
export function conditionTexts({ trace, evidence }: Pick<Attempt, "trace" | "evidence">): string[] {
  const lines = new Map(trace.map((line) => [line.condition_id, line]));
  return [...lines.values()].map(({ condition_id, value, reason }) => {
    const counted = evidence.some((item) => item.condition_id === condition_id && item.qualified);
    return `${condition_id} is ${value}${reason === undefined ? "" : ` (${reasonText(reason, counted)})`}`;
  });
}
