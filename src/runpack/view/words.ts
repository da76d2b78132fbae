/**
 * Parts of a pack in words.
 *
 * @module
 */

import type { Requirement } from "../../law/types.ts";

/** A requirement in words. */
export function requirementText(requirement: Requirement): string {
  if ("Condition" in requirement) return requirement.Condition;
  if ("Not" in requirement) return `not ${requirementText(requirement.Not)}`;
  if ("RequireGroup" in requirement) {
    const { min, reqs } = requirement.RequireGroup;
    return `${min} of (${reqs.map(requirementText).join(", ")})`;
  }
  const [operands, word] = "And" in requirement ? [requirement.And, "and"] : [requirement.Or, "or"];
  return operands.length === 1
    ? operands.map(requirementText).join("")
    : `(${operands.map(requirementText).join(` ${word} `)})`;
}

/** Unix milliseconds as RFC 3339 in UTC; as a number where they are beyond what a date can be. */
export function instantText(millis: number): string {
  const date = new Date(millis);
  return Number.isNaN(date.getTime()) ? `${millis} ms` : date.toISOString();
}

/** The first characters of a text, and that there are more. */
export function cut(value: string, characters: number): string {
  const points = [...value.slice(0, 2 * characters + 2)];
  return points.length <= characters ? value : `${points.slice(0, characters).join("")}…`;
}

/** A count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
