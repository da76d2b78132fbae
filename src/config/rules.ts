/**
 * Rules over several members of a table. Each rule is written once: the loader evaluates it, and the published JSON
 * Schema contains it as `if` and `then`.
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { Report, SettingPath } from "./problems.ts";
import { arrayAt, at } from "./toml_tree.ts";

/** A statement about a table, for the loader and for JSON Schema. A null member counts as absent. */
export interface Statement {
  readonly holds: (tree: unknown) => boolean;
  readonly schema: JsonObject;
}

/** A rule: where `when` holds, `then` must hold. */
export interface Condition {
  /** Absent: the rule always applies. */
  readonly when?: Statement;
  readonly then: Statement;
  /** The member at which a violation is reported, relative to the table. */
  readonly at: SettingPath;
  readonly message: string | ((tree: unknown) => string);
}

/** A rule, or rules for each item of an array. */
export type Rule = Condition | { readonly each: readonly string[]; readonly rules: readonly Rule[] };

type Path = readonly string[];

function given(tree: unknown, path: Path): unknown {
  return at(tree, path) ?? undefined;
}

/** A schema of the member at a path; with `isRequired` the member must be present. */
function member(path: Path, schema: JsonObject, isRequired: boolean): JsonObject {
  return path.reduceRight<JsonObject>(
    // Without the type, a value that is not a table would satisfy the schema.
    (inner, name) => ({ properties: { [name]: inner }, ...isRequired ? { type: "object", required: [name] } : {} }),
    schema,
  );
}

/** The member has one of the values; `defaultValue` is its default. */
export function is(path: Path, values: readonly JsonValue[], defaultValue?: JsonValue): Statement {
  const acceptsDefault = defaultValue !== undefined && values.includes(defaultValue);
  return {
    holds: (tree) => values.includes((given(tree, path) ?? defaultValue) as JsonValue),
    schema: member(path, { enum: values }, !acceptsDefault),
  };
}

/** The member is present. */
export function isSet(path: Path): Statement {
  return { holds: (tree) => given(tree, path) !== undefined, schema: member(path, { not: { type: "null" } }, true) };
}

/** The member is absent or has the value that stands for absence: false or an empty array. */
export function isUnset(path: Path): Statement {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return value === undefined || value === false || (Array.isArray(value) && value.length === 0);
    },
    schema: member(path, { enum: [null, false, []] }, false),
  };
}

/** The member is an array that is not empty. */
export function isFilled(path: Path): Statement {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return Array.isArray(value) ? value.length > 0 : value !== undefined;
    },
    schema: member(path, { minItems: 1, not: { type: "null" } }, true),
  };
}

/** The member is a text that a test accepts; `pattern` expresses the test, as far as a pattern can. */
export function isText(path: Path, test: (text: string) => boolean, pattern: string): Statement {
  return {
    holds: (tree) => {
      const value = given(tree, path);
      return typeof value === "string" && test(value);
    },
    schema: member(path, { type: "string", pattern }, true),
  };
}

/** The member is a text that matches a pattern. */
export function matches(path: Path, pattern: string): Statement {
  const expression = new RegExp(pattern, "u");
  return isText(path, (text) => expression.test(text), pattern);
}

/** The statement does not hold. */
export function not(statement: Statement): Statement {
  return { holds: (tree) => !statement.holds(tree), schema: { not: statement.schema } };
}

/** A member that is required under a condition. */
export function requires(path: Path, when: Statement, message: Condition["message"]): Rule {
  return { when, then: isSet(path), at: path, message };
}

/** A member that must not be set under a condition. */
export function forbids(path: Path, when: Statement, message: Condition["message"]): Rule {
  return { when, then: not(isSet(path)), at: path, message };
}

/** All statements hold. */
export function all(...statements: readonly Statement[]): Statement {
  return {
    holds: (tree) => statements.every((statement) => statement.holds(tree)),
    schema: { allOf: statements.map(({ schema }) => schema) },
  };
}

/** At least one statement holds. */
export function any(...statements: readonly Statement[]): Statement {
  return {
    holds: (tree) => statements.some((statement) => statement.holds(tree)),
    schema: { anyOf: statements.map(({ schema }) => schema) },
  };
}

/** Reports each violation; `base` is the path of the table in the file. */
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

/** The rules as JSON Schema, for `allOf`. */
export function rulesSchema(rules: readonly Rule[]): JsonObject[] {
  return rules.map((rule) => {
    if ("each" in rule) return member(rule.each, { items: { allOf: rulesSchema(rule.rules) } }, false);
    return rule.when === undefined ? rule.then.schema : { if: rule.when.schema, then: rule.then.schema };
  });
}

/** Reports each item whose member repeats that of an earlier item; JSON Schema cannot compare items by a member. */
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
