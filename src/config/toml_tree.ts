/**
 * The tree of the TOML parser, before its shape is checked.
 *
 * Rules over several members read it through {@link at}, so that they report problems although another member is
 * invalid.
 */

import { TomlDate } from "smol-toml";
import { countOf, type Report, type SettingPath } from "./problems.ts";

/** Depth of nested tables and arrays: the parser itself accepts dotted names of any depth. */
const DEPTH_LIMIT = 64;

/** An own member of the tree, or undefined where the member or a parent is absent or of another kind. */
export function at(tree: unknown, path: SettingPath): unknown {
  let node = tree;
  for (const segment of path) {
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, segment)) return undefined;
    node = (node as Record<string | number, unknown>)[segment];
  }
  return node;
}

/** The array at a path, or an empty one. */
export function arrayAt(tree: unknown, path: SettingPath): readonly unknown[] {
  const node = at(tree, path);
  return Array.isArray(node) ? node : [];
}

/** The members that a pattern names, with their positions; `*` stands for every index. */
export function membersAt(
  node: unknown,
  [segment, ...rest]: SettingPath,
  at: SettingPath = [],
): { readonly at: SettingPath; readonly value: unknown }[] {
  if (segment === undefined) return [{ at, value: node }];
  if (segment === "*") {
    return Array.isArray(node) ? node.flatMap((item, index) => membersAt(item, rest, [...at, index])) : [];
  }
  return isTable(node) && Object.hasOwn(node, segment) ? membersAt(node[segment], rest, [...at, segment]) : [];
}

/** Whether a value is a table: neither null nor an array. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy of the tree without values that JSON cannot represent (dates, integers beyond 2^53-1, infinities, NaN) and
 * without values that are nested too deep. Each removed value is reported. Tables have no prototype, so `__proto__` is
 * an ordinary name.
 */
export function dropForeignValues(tree: unknown, report: Report, path: SettingPath = []): unknown {
  if (typeof tree === "object" && path.length >= DEPTH_LIMIT) {
    report(path, `must not be a table or an array: ${DEPTH_LIMIT} enclose it already`);
    return undefined;
  }
  if (Array.isArray(tree)) {
    return tree.map((item, index) => dropForeignValues(item, report, [...path, index]));
  }
  const problem = jsonProblem(tree);
  if (problem !== null) {
    report(path, problem);
    return undefined;
  }
  if (!isTable(tree)) return tree;
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(tree)) {
    const kept = dropForeignValues(value, report, [...path, name]);
    if (kept !== undefined) copy[name] = kept;
  }
  return copy;
}

/** The problem of a value that JSON cannot represent, or null. */
function jsonProblem(value: unknown): string | null {
  if (value instanceof TomlDate) return "must not be a TOML date or time, write it as a string";
  if (typeof value === "bigint") {
    const digits = value.toString();
    const shown = digits.length <= 64 ? digits : countOf(digits.length, "digit");
    return `must be within -9007199254740991 and 9007199254740991, got ${shown}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) return `must be a finite number, got ${value}`;
  return null;
}
