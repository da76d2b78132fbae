/**
 * Requirement expressions in words.
 *
 * @module
 */

import type { Requirement } from "./types.ts";

/**
 * A requirement in words. Brackets enclose what has several operands, save the whole.
 *
 * @param nameText Makes a name safe for the place where the words are shown
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { requirementText } from "@/law/requirement_text.ts";
 *
 * const either = { Or: [{ Condition: "a" }, { Condition: "b" }] };
 * assert.equal(requirementText(either), "a or b");
 * assert.equal(requirementText({ And: [either, { Condition: "c" }] }), "(a or b) and c");
 * ```
 */
export function requirementText(requirement: Requirement, nameText: (id: string) => string = (id) => id): string {
  const operand = (one: Requirement): string => {
    const text = requirementText(one, nameText);
    const operands = "And" in one ? one.And : "Or" in one ? one.Or : [];
    return operands.length > 1 ? `(${text})` : text;
  };
  if ("Condition" in requirement) return nameText(requirement.Condition);
  if ("Not" in requirement) return `not ${operand(requirement.Not)}`;
  if ("And" in requirement) return requirement.And.map(operand).join(" and ");
  if ("Or" in requirement) return requirement.Or.map(operand).join(" or ");
  const { min, reqs } = requirement.RequireGroup;
  return `${min} of (${reqs.map(operand).join(", ")})`;
}
