/**
 * Reports the issues of a value as messages about the configuration: `must be >= 1, got 0`.
 *
 * @module
 */

import { nearest } from "../canonical/nearest.ts";
import { describeValue, quoteShort, type Report, type SettingPath } from "./problems.ts";
import { at } from "./toml_tree.ts";
import { expectationOf } from "./issue_expectation.ts";
import { type AnySchema, type Issue, safeParse, type TypeName } from "./schema_builder.ts";

/** A closed list of at most this many choices is shown in full. */
const MAXIMUM_CHOICES_SHOWN = 8;

/**
 * Reads a tree, and reports each issue.
 *
 * @param base The path of the tree in the file
 * @returns The value, undefined where it has an issue
 */
export function readSettings(schema: AnySchema, tree: unknown, base: SettingPath, report: Report): unknown {
  const reading = safeParse(schema, tree);
  if (reading.ok) return reading.value;
  for (const issue of reading.issues) {
    const path = [...base, ...issue.path];
    if (issue.code !== "unknown_members") {
      report(path, issueMessage(issue, at(tree, issue.path)));
      continue;
    }
    for (const name of issue.names) report([...path, name], `unknown member${nearestHint(name, issue.known)}`);
  }
  return undefined;
}

function issueMessage(issue: Issue, value: unknown): string {
  if (value === undefined) return "is required";
  const got = describeValue(value);
  switch (issue.code) {
    case "invalid_type":
      return `must be ${expectationOf(issue, TYPE_NAMES)}, got ${got}`;
    case "too_small":
      return boundMessage(expectationOf(issue, TYPE_NAMES), `>= ${issue.bound}`, value);
    case "too_big":
      return boundMessage(expectationOf(issue, TYPE_NAMES), `<= ${issue.bound}`, value);
    case "invalid_value": {
      const choice = quoteShort(value);
      if (issue.values.length <= MAXIMUM_CHOICES_SHOWN) {
        return `must be ${expectationOf(issue, TYPE_NAMES)}, got ${choice}`;
      }
      return `must be a known name, got ${choice}${nearestHint(value, issue.values)}`;
    }
    default:
      return `${expectationOf(issue, TYPE_NAMES)}, got ${got}`;
  }
}

/** Every number of the configuration is an integer. */
const TYPE_NAMES: Readonly<Record<TypeName, string>> = {
  string: "a string",
  integer: "an integer",
  boolean: "a boolean",
  array: "an array",
  object: "a table",
  any: "a value",
};

/** Lengths are shown by what they count, numbers by a comparison. */
function boundMessage(length: string, comparison: string, value: unknown): string {
  if (value === "") return "must not be empty";
  if (typeof value === "string" || Array.isArray(value)) return `must have ${length}, got ${value.length}`;
  return `must be ${comparison}, got ${describeValue(value)}`;
}

function nearestHint(value: unknown, known: readonly string[]): string {
  const meant = typeof value === "string" ? nearest(value, known) : null;
  return meant === null ? "" : `, did you mean ${quoteShort(meant)}?`;
}
