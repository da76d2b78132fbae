/**
 * The wording of issues that the configuration and the arguments of tools share.
 *
 * @module
 */

import { countOf } from "./problems.ts";
import type { Issue, TypeName } from "./schema_builder.ts";

/**
 * The value that an issue expects, as the end of a sentence: `an integer`, `one of "a", "b"`, `at least 3 characters`.
 *
 * @param typeNames The name of each type, with its article
 */
export function expectationOf(issue: Issue, typeNames: Readonly<Record<TypeName, string>>): string {
  switch (issue.code) {
    case "invalid_type":
      return typeNames[issue.expected];
    case "invalid_value":
      return oneOf(issue.values);
    case "too_small":
      return `at least ${amount(issue)}`;
    case "too_big":
      return `at most ${amount(issue)}`;
    case "unknown_members":
      return "no other members";
    case "custom":
      return issue.message;
  }
}

function oneOf(values: readonly string[]): string {
  const quoted = values.map((value) => JSON.stringify(value)).join(", ");
  return values.length === 1 ? quoted : `one of ${quoted}`;
}

function amount({ counted, bound }: Issue & { readonly code: "too_small" | "too_big" }): string {
  if (counted === "string") return countOf(bound, "character");
  return counted === "array" ? countOf(bound, "item") : String(bound);
}
