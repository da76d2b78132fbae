/** Walks requirement expressions with the path of every node. */

import { below, type JsonPath } from "../canonical/path.ts";
import type { Requirement } from "./types.ts";

/** Calls `visit` for every node of a requirement: a node before its operands, operands in order. */
export function eachNode(
  requirement: Requirement | undefined,
  path: JsonPath,
  visit: (node: Requirement, path: JsonPath) => void,
): void {
  if (requirement === undefined) return;
  visit(requirement, path);
  if ("Condition" in requirement) return;
  if ("Not" in requirement) return eachNode(requirement.Not, below(path, "Not"), visit);
  const [operands, inside] = "And" in requirement
    ? [requirement.And, below(path, "And")]
    : "Or" in requirement
    ? [requirement.Or, below(path, "Or")]
    : [requirement.RequireGroup.reqs, below(below(path, "RequireGroup"), "reqs")];
  operands.forEach((operand, index) => eachNode(operand, below(inside, index), visit));
}

/** Calls `visit` for every leaf of a requirement, from left to right, with the path of its id. */
export function eachLeaf(
  requirement: Requirement | undefined,
  path: JsonPath,
  visit: (id: string, path: JsonPath) => void,
): void {
  eachNode(requirement, path, (node, at) => {
    if ("Condition" in node) visit(node.Condition, below(at, "Condition"));
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
