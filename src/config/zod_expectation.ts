/**
 * The wording of zod issues that the configuration and the arguments of tools share.
 *
 * @module
 */

import type { z } from "zod";
import { countOf } from "./problems.ts";

/**
 * The value that an issue expects, as the end of a sentence: `an integer`, `one of "a", "b"`, `at least 3 characters`.
 *
 * @param issue A format or custom check has the end of the sentence as its message
 * @param typeNames The name of each type, with its article
 */
export function expectationOf(issue: z.core.$ZodIssue, typeNames: ReadonlyMap<string, string>): string {
  switch (issue.code) {
    case "invalid_type":
      return typeNames.get(issue.expected) ?? `a ${issue.expected}`;
    case "invalid_value":
      return oneOf(issue.values);
    case "invalid_union":
      return "options" in issue && Array.isArray(issue.options) ? oneOf(issue.options) : "one of the alternatives";
    case "too_small":
      return `${issue.inclusive === false ? "more than" : "at least"} ${amount(issue.origin, issue.minimum)}`;
    case "too_big":
      return `${issue.inclusive === false ? "less than" : "at most"} ${amount(issue.origin, issue.maximum)}`;
    default:
      return issue.message;
  }
}

function oneOf(values: readonly unknown[]): string {
  const quoted = values.map((value) => typeof value === "string" ? JSON.stringify(value) : String(value)).join(", ");
  return values.length === 1 ? quoted : `one of ${quoted}`;
}

function amount(origin: string, bound: number | bigint): string {
  if (origin === "string") return countOf(Number(bound), "character");
  return origin === "array" ? countOf(Number(bound), "item") : String(bound);
}
