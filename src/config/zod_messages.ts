/**
 * Reports the issues of a zod schema as messages about the configuration: `must be >= 1, got 0`.
 *
 * @module
 */

import { z } from "zod";
import { nearest } from "../canonical/nearest.ts";
import { describeValue, quoteShort, type Report, type SettingPath } from "./problems.ts";
import { at } from "./toml_tree.ts";
import { expectationOf } from "./zod_expectation.ts";

/** Options for a schema that a process uses once: compiling its checks to code would cost more than it saves. */
export const ONCE = { jitless: true } as const;

/** A closed list of at most this many choices is shown in full. */
const MAXIMUM_CHOICES_SHOWN = 8;

/** Reports each issue that a schema finds in a tree; `base` is the path of that tree in the file. */
export function schemaProblems(schema: z.ZodType, tree: unknown, base: SettingPath, report: Report): void {
  for (const issue of schema.safeParse(tree, ONCE).error?.issues ?? []) {
    const path = issue.path.filter((segment) => typeof segment !== "symbol");
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        report([...base, ...path, key], `unknown member${nearestHint(key, knownMembers(schema, path))}`);
      }
    } else {
      report([...base, ...path], issueMessage(issue, at(tree, path)));
    }
  }
}

function issueMessage(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return "is required";
  const got = describeValue(value);
  switch (issue.code) {
    case "invalid_type":
      return `must be ${expectationOf(issue, TYPE_NAMES)}, got ${got}`;
    case "too_small":
      return boundMessage(expectationOf(issue, TYPE_NAMES), `>= ${issue.minimum}`, value);
    case "too_big":
      return boundMessage(expectationOf(issue, TYPE_NAMES), `<= ${issue.maximum}`, value);
    case "invalid_value": {
      const choice = typeof value === "string" ? quoteShort(value) : got;
      if (issue.values.length <= MAXIMUM_CHOICES_SHOWN) {
        return `must be ${expectationOf(issue, TYPE_NAMES)}, got ${choice}`;
      }
      return `must be a known name, got ${choice}${nearestHint(value, issue.values.map(String))}`;
    }
    default:
      return `${issue.message}, got ${got}`;
  }
}

/** Every number of the configuration is an integer. */
const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["int", "an integer"],
  ["number", "an integer"],
  ["object", "a table"],
  ["record", "a table"],
  ["array", "an array"],
]);

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

/** The members that the table at a path may have. */
function knownMembers(root: z.core.$ZodType, path: SettingPath): readonly string[] {
  let schema: z.core.$ZodType | undefined = root;
  for (const segment of path) {
    schema = unwrap(schema);
    if (schema instanceof z.ZodObject && typeof segment === "string") schema = schema.shape[segment];
    else if (schema instanceof z.ZodArray) schema = schema.element;
    else return [];
  }
  schema = unwrap(schema);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
}

/** A schema without its default, prefault and null around it. */
function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault || inner instanceof z.ZodNullable) {
    inner = inner.unwrap();
  }
  return inner;
}
