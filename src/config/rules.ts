/**
 * Rules over several members of a table. Each is written once: the loader evaluates it, and the published JSON Schema
 * has it as `if` and `then`.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { Report, SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";

/** A statement about a table, for the loader and for JSON Schema. A null member counts as absent. */
export interface Claim {
  readonly holds: (tree: unknown) => boolean;
  readonly schema: JsonObject;
}

/** A rule: wherever `when` holds, `then` has to. */
export interface Condition {
  /** Left out, the rule holds everywhere. */
  readonly when?: Claim;
  readonly then: Claim;
  /** The member that a violation is reported at, from the table. */
  readonly at: SettingPath;
  readonly message: string | ((tree: unknown) => string);
}

/** A rule, or rules for each item of an array. */
export type Rule = Condition | { readonly each: readonly string[]; readonly rules: readonly Rule[] };

type Path = readonly string[];

function given(tree: unknown, path: Path): unknown {
  return at(tree, path) ?? undefined;
}

/** A schema of the member at a path; `isRequired` where the member has to be there. */
function member(path: Path, schema: JsonObject, isRequired: boolean): JsonObject {
  return path.reduceRight<JsonObject>(
    // Without the type, anything that is no table would do.
    (inner, name) => ({ properties: { [name]: inner }, ...isRequired ? { type: "object", required: [name] } : {} }),
    schema,
  );
}

/** The member has one of some values; `standing` is its default. */
export function is(path: Path, values: readonly JsonValue[], standing?: JsonValue): Claim {
  const isStanding = standing !== undefined && values.includes(standing);
  return {
    holds: (tree) => values.includes((given(tree, path) ?? standing) as JsonValue),
    schema: member(path, { enum: values }, !isStanding),
  };
}

/** The member is there. */
export function isSet(path: Path): Claim {
  return { holds: (tree) => given(tree, path) !== undefined, schema: member(path, { not: { type: "null" } }, true) };
}

/** The member is absent, or given as what it is when it is left out. */
export function isUnset(path: Path): Claim {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
    },
    schema: member(path, { enum: [null, false, []] }, false),
  };
}

/** The member is an array that holds something. */
export function isFilled(path: Path): Claim {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return Array.isArray(value) ? value.length > 0 : value !== undefined;
    },
    schema: member(path, { minItems: 1, not: { type: "null" } }, true),
  };
}

/** The member is a text that a test accepts; `pattern` says the same, or as much of it as a pattern can. */
export function isText(path: Path, test: (text: string) => boolean, pattern: string): Claim {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return typeof value === "string" && test(value);
    },
    schema: member(path, { type: "string", pattern }, true),
  };
}

/** The member is a text of a pattern. */
export function matches(path: Path, pattern: string): Claim {
  const expression = new RegExp(pattern, "u");
  return isText(path, (text) => expression.test(text), pattern);
}

/** The claim does not hold. */
export function not(claim: Claim): Claim {
  return { holds: (tree) => !claim.holds(tree), schema: { not: claim.schema } };
}

/** All claims hold. */
export function all(...claims: readonly Claim[]): Claim {
  return {
    holds: (tree) => claims.every((claim) => claim.holds(tree)),
    schema: { allOf: claims.map(({ schema }) => schema) },
  };
}

/** At least one claim holds. */
export function any(...claims: readonly Claim[]): Claim {
  return {
    holds: (tree) => claims.some((claim) => claim.holds(tree)),
    schema: { anyOf: claims.map(({ schema }) => schema) },
  };
}

/** Reports each violation; `base` is where the table stands in the file. */
export function applyRules(rules: readonly Rule[], tree: unknown, base: SettingPath, report: Report): void {
  for (const rule of rules) {
    if ("each" in rule) {
      arrayAt(tree, rule.each).forEach((item, index) =>
        applyRules(rule.rules, item, [...base, ...rule.each, index], report)
      );
    } else if ((rule.when?.holds(tree) ?? true) && !rule.then.holds(tree)) {
      report([...base, ...rule.at], typeof rule.message === "string" ? rule.message : rule.message(tree));
    }
  }
}

/** The rules in words of JSON Schema, for `allOf`. */
export function rulesSchema(rules: readonly Rule[]): JsonObject[] {
  return rules.map((rule) => {
    if ("each" in rule) return member(rule.each, { items: { allOf: rulesSchema(rule.rules) } }, false);
    return rule.when === undefined ? rule.then.schema : { if: rule.when.schema, then: rule.then.schema };
  });
}

/** Reports each item of an array that has a text of an earlier one; JSON Schema cannot compare items by a member. */
export function uniqueMembers(tree: unknown, path: Path, name: string, report: Report): void {
  const seen = new Map<string, number>();
  arrayAt(tree, path).forEach((item, index) => {
    const text = at(item, [name]);
    if (typeof text !== "string") return;
    const first = seen.get(text);
    if (first === undefined) seen.set(text, index);
    else report([...path, index, name], `must be unique, but ${path.at(-1)}[${first}] has the same`);
  });
}
