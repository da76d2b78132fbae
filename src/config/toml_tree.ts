/**
 * The tree that the TOML reader gives, before anything is known of its shape.
 *
 * Rules over several members read it through {@link at}, so that they can speak although a member elsewhere is wrong.
 *
 * @module
 */

import { TomlDate } from "smol-toml";
import { countOf, type Report, type SettingPath } from "./problems.ts";

/** How many tables and arrays may enclose each other: the reader takes dotted names to any depth. */
const DEPTH_LIMIT = 64;

/** A member of the tree, or undefined where it, or anything above it, is absent or of another kind. Own members only. */
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

/** Whether a value is a table: neither null nor an array. */
export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * A copy of the tree without what JSON cannot carry: dates, integers beyond 2^53-1, infinities and NaN; and without what is nested too
 * deep. Each is reported.
 * Tables keep no prototype, so that `__proto__` is an ordinary name.
 */
export function dropForeignValues(tree: unknown, report: Report, path: SettingPath = []): unknown {
  if (typeof tree === "object" && path.length >= DEPTH_LIMIT) {
    report(path, `must not be a table or an array: ${DEPTH_LIMIT} enclose it already`);
    return undefined;
  }
  if (Array.isArray(tree)) {
    return tree.map((item, index) => dropForeignValues(item, report, [...path, index]));
  }
  const foreign = foreignKind(tree);
  if (foreign !== null) {
    report(path, foreign);
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

/** What is wrong with a value that JSON cannot carry, or null where nothing is. */
function foreignKind(value: unknown): string | null {
  if (value instanceof TomlDate) return "must not be a TOML date or time, write it as a string";
  if (typeof value === "bigint") {
    const digits = value.toString();
    const shown = digits.length <= 64 ? digits : countOf(digits.length, "digit");
    return `must be within -9007199254740991 and 9007199254740991, got ${shown}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) return `must be a finite number, got ${value}`;
  return null;
}
