/**
 * Claim 17: every retained value is present, and is the value that its record names.
 *
 * @module
 */

import type { CompiledLaw } from "../../../run/compile.ts";
import { hashValue } from "../../../run/evidence.ts";
import type { Manifest } from "../../format/types.ts";
import { atItem, violation } from "../findings.ts";
import { isValue, itemsOf, type Step } from "../step.ts";
import type { Violation } from "../types.ts";

/** Whether the law has every withheld condition. */
export function checkWithheld({ conditionIndex }: CompiledLaw, { withheld_conditions }: Manifest): Violation | null {
  const index = withheld_conditions.findIndex((id) => !conditionIndex.has(id));
  return index < 0 ? null : violation("condition_missing", `withheld_conditions/${index}`);
}

/** Compares each value with its identity, its type and its hash; a whole segment is compared by its values. */
export function checkValues(step: Step): Violation | null {
  const { sha256 } = step.environment.primitives;
  for (const [index, { item, value }] of itemsOf(step).entries()) {
    if (!isValue(value)) continue;
    const place = atItem(step.record.revision, index);
    const { identity, content_hash } = hashValue(sha256, value);
    if (identity !== item.value_identity) return violation("value_mismatch", place);
    if (value.value_type !== item.value_type) return violation("value_type_mismatch", place);
    if (content_hash.value !== item.content_hash?.value) return violation("content_hash_mismatch", place);
  }
  return null;
}
