/**
 * A law in the words of the law file: names, comparisons and requirements (docs/reference/law_file.md). Every screen
 * shows these sentences, and `src/scenario/law_file.ts` reads them again.
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { sortedBy } from "../canonical/order.ts";
import { shown } from "../canonical/shown.ts";
import type { AcquisitionBinding, Condition, Requirement, ScenarioLaw, Stage } from "./types.ts";
import {
  type Expected,
  isParameterReference,
  isRelativeTime,
  type ObservationDomain,
  type Predicate,
  type TypedValue,
} from "./value/types.ts";
import type { PredicateName } from "./value/predicates.ts";

/** Words that CEL reserves, and those that have a meaning in a law file. None of them is a name. */
const RESERVED = "true false null in as break const continue else for function if import let loop package namespace " +
  "return var void while now caller";
const RESERVED_NAMES: ReadonlySet<string> = new Set(RESERVED.split(" "));

/** Whether a text is a name of a law file: an identifier of CEL that has no other meaning. */
export function isName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) && !RESERVED_NAMES.has(text);
}

/** The operator of each comparison, with the function around the name of the evidence. */
export const OPERATORS: Readonly<
  Partial<Record<PredicateName, readonly [operator: string, form: "" | "lex" | "deep"]>>
> = {
  Equals: ["==", ""],
  NotEquals: ["!=", ""],
  LessThan: ["<", ""],
  LessThanOrEqual: ["<=", ""],
  GreaterThan: [">", ""],
  GreaterThanOrEqual: [">=", ""],
  LexLessThan: ["<", "lex"],
  LexLessThanOrEqual: ["<=", "lex"],
  LexGreaterThan: [">", "lex"],
  LexGreaterThanOrEqual: [">=", "lex"],
  DeepEquals: ["==", "deep"],
  DeepNotEquals: ["!=", "deep"],
};

/** Units of durations, the greatest first. */
export const DURATION_UNITS = [["d", 86_400_000], ["h", 3_600_000], ["m", 60_000], ["s", 1000], ["ms", 1]] as const;

/** A duration such as `90m`, in its greatest unit; a single day is `24h`. */
export function durationText(millis: number): string {
  const unit = DURATION_UNITS.find(([name, size]) => millis >= (name === "d" ? 2 * size : size) && millis % size === 0);
  return unit === undefined ? `${millis}ms` : `${millis / unit[1]}${unit[0]}`;
}

/** A text as a literal of an expression. */
export function literalText(text: string): string {
  // Ids have no control characters, and the text of a comparison may be one.
  return JSON.stringify(text).replace(
    /[\u007f-\u009f]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * A comparison such as `coverage >= 80`: name, operator and value, one space each, the name on the left.
 *
 * @param name The name of the evidence
 * @param parameterName The name of a parameter by its id
 */
export function comparisonText(
  name: string,
  predicate: Predicate,
  parameterName: (id: string) => string = (id) => id,
): string {
  const members = predicate.predicate === "InSet"
    ? sortedBy(predicate.expected, (item) => canonicalize(item))
    : "expected" in predicate
    ? [predicate.expected]
    : [];
  return predicateText(name, predicate.predicate, members.map((one) => expectedText(one, parameterName)));
}

/** A comparison with the texts of its values. */
export function predicateText(name: string, predicate: PredicateName, values: readonly string[]): string {
  switch (predicate) {
    case "Exists":
      return `present(${name})`;
    case "NotExists":
      return `absent(${name})`;
    case "InSet":
      return `${name} in [${values.join(", ")}]`;
    case "Contains":
      return `${name}.contains(${values[0]})`;
    default: {
      const [operator, form] = OPERATORS[predicate] ?? ["==", ""];
      return `${form === "" ? name : `${form}(${name})`} ${operator} ${values[0]}`;
    }
  }
}

function expectedText(expected: Expected, parameterName: (id: string) => string): string {
  if (isParameterReference(expected)) return parameterName(expected.parameter);
  if (isRelativeTime(expected)) return relativeText(expected.offset_milliseconds);
  return valueText(expected);
}

/** A value as an expression has it. */
export function valueText({ value, value_type }: TypedValue): string {
  if (value_type === "Json") return `json(${literalText(canonicalize(value))})`;
  if (value_type === "Timestamp") return `timestamp(${literalText(String(value))})`;
  // A decimal is a string of digits, which stand in the file as they are.
  return typeof value === "string" && value_type !== "Decimal" ? literalText(value) : String(value);
}

/** An instant relative to the evaluation, such as `now - duration("24h")`. */
export function relativeText(offset: number): string {
  return offset === 0 ? "now" : `now ${offset < 0 ? "-" : "+"} duration("${durationText(Math.abs(offset))}")`;
}

/** A comparison as an expression has it: a boolean that has to be true is its name alone. */
function sentenceText(name: string, predicate: Predicate, parameterName: (id: string) => string): string {
  const isTrue = predicate.predicate === "Equals" && "value" in predicate.expected &&
    predicate.expected.value === true &&
    predicate.expected.value_type === "Boolean";
  return isTrue ? name : comparisonText(name, predicate, parameterName);
}

/**
 * A requirement as an expression. Nested lists of one kind, and lists of one operand, are `all(..)` or `any(..)`.
 *
 * @param leafText The text of a leaf by its id; by default the id
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { expressionText } from "@/law/words.ts";
 *
 * const either = { Or: [{ Condition: "a" }, { Condition: "b" }] };
 * assert.equal(expressionText({ And: [either, { Not: { Condition: "c" } }] }), "(a || b) && !c");
 * ```
 */
export function expressionText(requirement: Requirement, leafText: (id: string) => string = (id) => id): string {
  return partText(requirement, leafText, null);
}

/** A part of a requirement inside a list of a kind. */
export function partText(
  requirement: Requirement,
  leafText: (id: string) => string,
  inside: "And" | "Or" | null,
): string {
  const list = (operands: readonly Requirement[]): string =>
    operands.map((one) => partText(one, leafText, null)).join(", ");
  if ("Condition" in requirement) return leafText(requirement.Condition);
  if ("Not" in requirement) {
    const operand = partText(requirement.Not, leafText, null);
    return operand.includes(" ") ? `!(${operand})` : `!${operand}`;
  }
  if ("RequireGroup" in requirement) {
    return `at_least(${requirement.RequireGroup.min}, ${list(requirement.RequireGroup.reqs)})`;
  }
  const [kind, operands] = "And" in requirement ? ["And", requirement.And] as const : ["Or", requirement.Or] as const;
  if (operands.length === 1 || inside === kind) return `${kind === "And" ? "all" : "any"}(${list(operands)})`;
  const text = operands.map((one) => partText(one, leafText, kind)).join(kind === "And" ? " && " : " || ");
  return inside === null ? text : `(${text})`;
}

/** The parts of a law that have names in its words. */
export type NamedParts = Pick<ScenarioLaw, "conditions" | "parameters" | "acquisition_bindings"> & {
  readonly stages: readonly Pick<Stage, "stage_id">[];
};

/** The names of a law, by the ids that they stand for. */
export interface LawNames {
  /** The name of the evidence of each condition. Several conditions may compare the same evidence. */
  readonly evidence: ReadonlyMap<string, string>;
  /** The name of each parameter by its id. */
  readonly parameters: ReadonlyMap<string, string>;
  /** The name of each stage by its id. */
  readonly stages: ReadonlyMap<string, string>;
}

/** A law in the words of the law file. */
export interface LawWords extends LawNames {
  /** The sentence of a condition, such as `coverage >= 80`. */
  readonly condition: (conditionId: string) => string;
  /** A requirement over conditions. */
  readonly requirement: (requirement: Requirement) => string;
  /** A requirement over stages. */
  readonly stageRequirement: (requirement: Requirement) => string;
}

/**
 * The words of a law. By default a name is the id where that is a name; else it is made of the id. Conditions whose ids
 * are comparisons of one name are of that evidence.
 *
 * @param names The names of the law's file, where it is known
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { lawWords } from "@/law/words.ts";
 *
 * const coverage = {
 *   condition_id: "coverage",
 *   observation_domain: { domain: "Integer" },
 *   predicate: { predicate: "GreaterThanOrEqual", expected: { value: 80, value_type: "Integer" } },
 * };
 * const law = { conditions: [coverage], stages: [], acquisition_bindings: [] };
 * assert.equal(lawWords(law as never).condition("coverage"), "coverage >= 80");
 * ```
 */
export function lawWords(law: NamedParts, names?: LawNames): LawWords {
  if (names !== undefined) return wordsOf(law, names);
  const known = WORDS.get(law) ?? wordsOf(law, lawNames(law));
  WORDS.set(law, known);
  return known;
}

/** The words of laws that are in memory, since a page asks for them with each record. */
const WORDS = new WeakMap<NamedParts, LawWords>();

function wordsOf(law: NamedParts, names: LawNames): LawWords {
  const conditions = new Map(law.conditions.map((one) => [one.condition_id, one]));
  const parameterName = (id: string): string => names.parameters.get(id) ?? id;
  const condition = (id: string): string => {
    const found = conditions.get(id);
    return found === undefined ? id : sentenceText(names.evidence.get(id) ?? id, found.predicate, parameterName);
  };
  const stage = (id: string): string => names.stages.get(id) ?? id;
  return {
    ...names,
    condition,
    requirement: (requirement) => expressionText(requirement, condition),
    stageRequirement: (requirement) => expressionText(requirement, stage),
  };
}

function lawNames(law: NamedParts): LawNames {
  const taken = new Set<string>();
  const parameters = namesOf((law.parameters ?? []).map(({ parameter_id: id }) => id), taken);
  const parameterName = (id: string): string => parameters.get(id) ?? id;
  // Ids that are names keep them; only then are names made of the others.
  const own = law.conditions.filter(({ condition_id: id }) => isName(id) && !taken.has(id));
  const evidence = namesOf(own.map(({ condition_id: id }) => id), taken);
  const others = law.conditions.filter(({ condition_id }) => !evidence.has(condition_id));
  const compared = Map.groupBy(others, (one) => comparedName(one, parameterName) ?? "");
  for (const [name, group] of compared) {
    const isOne = name !== "" && group.length > 1 && !taken.has(name) && isSameEvidence(law, group);
    if (isOne) taken.add(name);
    for (const { condition_id: id } of group) evidence.set(id, isOne ? name : nameOf(name === "" ? id : name, taken));
  }
  return { evidence, parameters, stages: namesOf(law.stages.map(({ stage_id: id }) => id), new Set()) };
}

/** A name for each id: the id itself where it is one, which no other id may take. */
function namesOf(ids: readonly string[], taken: Set<string>): Map<string, string> {
  const inOrder = [...ids.filter(isName), ...ids.filter((id) => !isName(id))];
  return new Map(inOrder.map((id) => [id, nameOf(id, taken)]));
}

/** A name made of an id, different from those taken; it is then taken too. */
function nameOf(id: string, taken: Set<string>): string {
  const made = id.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^(?=[0-9]|$)/, "_").slice(0, 64);
  const base = isName(made) ? made : `${made}_`;
  let name = base;
  for (let count = 2; taken.has(name); count++) name = `${base}_${count}`;
  taken.add(name);
  return name;
}

/** The name in the id of a condition that is the text of its own comparison. */
function comparedName(
  { condition_id: id, predicate }: Condition,
  parameterName: (id: string) => string,
): string | null {
  const [before = "", after = ""] = comparisonText("\0", predicate, parameterName).split("\0");
  if (id.length <= before.length + after.length || !id.startsWith(before) || !id.endsWith(after)) return null;
  const name = id.slice(before.length, id.length - after.length);
  return isName(name) ? name : null;
}

/** Whether conditions differ in their comparisons alone. */
function isSameEvidence(law: NamedParts, conditions: readonly Condition[]): boolean {
  const texts = conditions.map(({ condition_id, observation_domain, evidence_use_policy }) => {
    const bindings = law.acquisition_bindings.filter((binding) => binding.condition_id === condition_id);
    const named = bindings.map(({ binding_id: _, condition_id: __, ...rest }) => rest);
    const isDerived = bindings.every((one, index) => one.binding_id === bindingId(one, bindings.slice(0, index)));
    return canonicalize([observation_domain, evidence_use_policy, named, isDerived] as JsonValue);
  });
  return new Set(texts).size === 1 && texts[0]?.endsWith("true]") === true;
}

/** The id of a binding that is derived from its provider and its condition. */
export function bindingId(
  { provider_id, condition_id }: Pick<AcquisitionBinding, "provider_id" | "condition_id">,
  earlier: readonly Pick<AcquisitionBinding, "provider_id">[],
): string {
  const count = earlier.filter((one) => one.provider_id === provider_id).length;
  return `${provider_id}.${condition_id}${count === 0 ? "" : `.${count + 1}`}`;
}

/** A type of the law file, such as `integer(0..10)`; null if it has no words. */
export function typeText(domain: ObservationDomain): string | null {
  switch (domain.domain) {
    case "String": {
      const { minimum_bytes: least, maximum_bytes: most } = domain;
      if (least > 0) return `text(${least}..${most})`;
      return most === TEXT_BYTES ? "text" : `text(..${most})`;
    }
    case "Boolean":
      return "boolean";
    case "Timestamp":
      return "time";
    case "Digest":
      return "sha256";
    case "Integer":
    case "Decimal": {
      const { minimum, maximum } = domain;
      const isInteger = domain.domain === "Integer";
      if (isInteger && minimum === 0 && maximum === undefined) return "count";
      if (!isInteger && minimum === "0" && maximum === "100") return "percent";
      const name = isInteger ? "integer" : "decimal";
      return minimum === undefined && maximum === undefined ? name : `${name}(${minimum ?? ""}..${maximum ?? ""})`;
    }
    case "Json": {
      const { maximum_bytes, schema } = domain;
      if (schema === undefined) return `json(${maximum_bytes})`;
      const name = schemaText(schema.schema_id, schema.version);
      return name === null || /\s|\)/.test(name) ? null : `json(${maximum_bytes} ${name})`;
    }
  }
}

/** A type as screens show it: `json` where a law file cannot name the schema. */
export function shownType(domain: ObservationDomain): string {
  return shown(typeText(domain) ?? "json");
}

/** The bytes of a `text` without bounds. */
export const TEXT_BYTES = 4096;

/** A schema as `ID@VERSION`; null if the version has an `@` too. */
export function schemaText(schemaId: string, version: string): string | null {
  return version.includes("@") ? null : `${schemaId}@${version}`;
}
