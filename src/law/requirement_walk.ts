/**
 * Walks requirement expressions with the path of every node.
 *
 * @module
 */

import { below, type JsonPath } from "../canonical/path.ts";
import type { Requirement } from "./types.ts";

/** Calls for every node of a requirement, parents before their operands, operands in order. */
export function eachNode(
  requirement: Requirement | undefined,
  place: JsonPath,
  take: (node: Requirement, place: JsonPath) => void,
): void {
  if (requirement === undefined) return;
  take(requirement, place);
  if ("Condition" in requirement) return;
  if ("Not" in requirement) return eachNode(requirement.Not, below(place, "Not"), take);
  const [operands, inside] = "And" in requirement
    ? [requirement.And, below(place, "And")]
    : "Or" in requirement
    ? [requirement.Or, below(place, "Or")]
    : [requirement.RequireGroup.reqs, below(below(place, "RequireGroup"), "reqs")];
  operands.forEach((operand, index) => eachNode(operand, below(inside, index), take));
}

/** Calls for every leaf of a requirement, from left to right, with the place of its id. */
export function eachLeaf(
  requirement: Requirement | undefined,
  place: JsonPath,
  take: (id: string, place: JsonPath) => void,
): void {
  eachNode(requirement, place, (node, at) => {
    if ("Condition" in node) take(node.Condition, below(at, "Condition"));
  });
}

/** The ids at the leaves of a requirement, each once, from left to right. */
export function leavesOf(requirement: Requirement): readonly string[] {
  const ids = new Set<string>();
  eachLeaf(requirement, null, (id) => ids.add(id));
  return [...ids];
}

/** Checks whether a requirement is that all of its leaves hold. */
export function isConjunction(requirement: Requirement): boolean {
  if ("Condition" in requirement) return true;
  return "And" in requirement && requirement.And.every(isConjunction);
}
