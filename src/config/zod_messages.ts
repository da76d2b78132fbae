/**
 * Says the findings of the schema in the words of the configuration: `must be >= 1, got 0`.
 *
 * @module
 */

import { z } from "zod";
import { nearest } from "../canonical/nearest.ts";
import { countOf, describeValue, quoteShort, type Report, type SettingPath } from "./problems.ts";
import { at } from "./toml_tree.ts";

/** For a schema that is used once in a process: compiling its checks to code would cost more than it saves. */
export const ONCE = { jitless: true } as const;

/** Choices of a closed list that are all shown. */
const MAXIMUM_CHOICES_SHOWN = 8;

/** Reports each thing that a schema finds wrong with a tree; `base` is where that tree stands in the file. */
export function schemaProblems(schema: z.ZodType, tree: unknown, base: SettingPath, report: Report): void {
  for (const issue of schema.safeParse(tree, ONCE).error?.issues ?? []) {
    const path = issue.path.filter((segment) => typeof segment !== "symbol");
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const meant = nearest(key, knownMembers(schema, path));
        const hint = meant === null ? "" : `, did you mean ${quoteShort(meant)}?`;
        report([...base, ...path, key], `unknown member${hint}`);
      }
    } else {
      report([...base, ...path], issueMessage(issue, at(tree, path)));
    }
  }
}

function issueMessage(issue: z.core.$ZodIssue, value: unknown): string {
  if (value === undefined) return "is required";
  switch (issue.code) {
    case "invalid_type":
      return `must be ${kindInWords(issue.expected)}, got ${describeValue(value)}`;
    case "too_small":
      return boundMessage(issue.origin, "least", Number(issue.minimum), value);
    case "too_big":
      return boundMessage(issue.origin, "most", Number(issue.maximum), value);
    case "invalid_value":
      return choiceMessage(issue.values.map(String), value);
    default:
      return `${issue.message}, got ${describeValue(value)}`;
  }
}

/** Names the choices where they are few, else the nearest. */
function choiceMessage(choices: readonly string[], value: unknown): string {
  const got = typeof value === "string" ? quoteShort(value) : describeValue(value);
  if (choices.length > MAXIMUM_CHOICES_SHOWN) {
    const meant = typeof value === "string" ? nearest(value, choices) : null;
    return `must be a known name, got ${got}${meant === null ? "" : `, did you mean ${quoteShort(meant)}?`}`;
  }
  return `must be ${choices.length === 1 ? "" : "one of "}${choices.map(quoteShort).join(", ")}, got ${got}`;
}

function boundMessage(origin: string, side: "least" | "most", bound: number, value: unknown): string {
  if (origin === "string" && typeof value === "string") {
    if (value === "") return "must not be empty";
    return `must have at ${side} ${countOf(bound, "character")}, got ${value.length}`;
  }
  if (Array.isArray(value)) return `must have at ${side} ${countOf(bound, "item")}, got ${value.length}`;
  return `must be ${side === "least" ? ">=" : "<="} ${bound}, got ${describeValue(value)}`;
}

function kindInWords(expected: string): string {
  switch (expected) {
    case "int":
    case "number": // every number of the configuration is an integer
      return "an integer";
    case "object":
    case "record":
      return "a table";
    case "array":
      return "an array";
    default:
      return `a ${expected}`;
  }
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
