/** The law of one run: its parameters replaced by their values (docs/format/scenario_law.md, "Parameters"). */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonValue } from "../canonical/json.ts";
import { sortedBy } from "../canonical/order.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { eachPlaceholder, hasPlaceholder, type Placeholder, replacePlaceholders } from "./placeholders.ts";
import type { AcquisitionBinding, Condition, ScenarioLaw } from "./types.ts";
import { scalarKey } from "./value/typed_value.ts";
import { expectedOf, isParameterReference, type Predicate, type SetMember, type TypedValue } from "./value/types.ts";

/** The values of all parameters of a law, by id. */
export type ParameterValues = ReadonlyMap<string, TypedValue>;

/** A value as the text that a template takes, before it is percent-encoded. */
export function templateText({ value }: TypedValue): string {
  return typeof value === "string" ? value : canonicalize(value);
}

// RFC 3986, 2.3: all other characters are percent-encoded (RFC 6570, 3.2.2).
const RESERVED = /[!'()*]/g;

function encode(text: string): string {
  const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replace(RESERVED, hex);
}

function valueOf(values: ParameterValues, parameter: string): TypedValue {
  const value = values.get(parameter);
  if (value === undefined) throw new TypeError(`Cannot expand law: parameter "${parameter}" has no value`);
  return value;
}

function replacement(values: ParameterValues, placeholder: Placeholder): JsonValue {
  if (placeholder.kind === "parameter") return valueOf(values, placeholder.parameters[0]).value;
  const { literals, parameters } = placeholder.template;
  return literals.map((literal, index) => {
    const parameter = parameters[index];
    return parameter === undefined ? literal : literal + encode(templateText(valueOf(values, parameter)));
  }).join("");
}

/** Canonical bytes of a placeholder, and of what stands for it. */
function bytesOf(values: ParameterValues, placeholder: Placeholder): { before: number; after: number } {
  if (placeholder.kind === "parameter") {
    const [parameter] = placeholder.parameters;
    return {
      before: utf8Length(canonicalize({ $parameter: parameter })),
      after: utf8Length(canonicalize(valueOf(values, parameter).value)),
    };
  }
  // Literals, ids and encoded values are ASCII without characters that JSON escapes.
  const literals = placeholder.template.literals.reduce((sum, { length }) => sum + length, 0);
  const sum = (lengthOf: (parameter: string) => number): number =>
    placeholder.parameters.reduce((total, parameter) => total + lengthOf(parameter), literals);
  return {
    before: sum(({ length }) => length + 2) + '{"$template":""}'.length,
    after: sum((parameter) => encode(templateText(valueOf(values, parameter))).length) + 2,
  };
}

/**
 * Canonical bytes of params after their expansion, measured without making them.
 *
 * @param maximum Above it the measurement ends, and any number above it is returned
 */
export function expandedBytes(params: JsonValue, values: ParameterValues, maximum: number): number {
  let bytes = utf8Length(canonicalize(params));
  let replaced = 0;
  eachPlaceholder(params, null, (placeholder) => {
    if (typeof placeholder === "string") throw new TypeError(`Cannot measure params: ${placeholder}`);
    if (replaced > maximum) return;
    const { before, after } = bytesOf(values, placeholder);
    bytes += after - before;
    replaced += after;
  });
  return replaced > maximum ? replaced : bytes;
}

function expandPredicate(predicate: Predicate, values: ParameterValues): Predicate {
  const resolve = (member: SetMember): TypedValue =>
    isParameterReference(member) ? valueOf(values, member.parameter) : member;
  if (predicate.predicate !== "InSet") {
    if (!("expected" in predicate) || !isParameterReference(predicate.expected)) return predicate;
    return { ...predicate, expected: resolve(predicate.expected) };
  }
  const sorted = sortedBy(predicate.expected.map(resolve), canonicalize);
  const seen = new Set<unknown>();
  const expected = sorted.filter((item) => {
    const key = scalarKey(item);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
  return { predicate: "InSet", expected };
}

function expandCondition(condition: Condition, values: ParameterValues): Condition {
  if (!awaitsParameter(condition.predicate)) return condition;
  return { ...condition, predicate: expandPredicate(condition.predicate, values) };
}

/** Whether a predicate compares with the value of a parameter. */
export function awaitsParameter(predicate: Predicate): boolean {
  return expectedOf(predicate).some(isParameterReference);
}

/** The ids of the parameters that an expected value or a binding uses. */
export function usedParameters({ conditions, acquisition_bindings }: ScenarioLaw): ReadonlySet<string> {
  const expected = conditions.flatMap(({ predicate }) => expectedOf(predicate).filter(isParameterReference));
  const used = new Set(expected.map(({ parameter }) => parameter));
  for (const { params } of acquisition_bindings) {
    if (params === undefined) continue;
    eachPlaceholder(params, null, (placeholder) => {
      if (typeof placeholder !== "string") placeholder.parameters.forEach((parameter) => used.add(parameter));
    });
  }
  return used;
}

function expandBinding(binding: AcquisitionBinding, values: ParameterValues): AcquisitionBinding {
  const { params } = binding;
  if (params === undefined || !hasPlaceholder(params)) return binding;
  return { ...binding, params: replacePlaceholders(params, (placeholder) => replacement(values, placeholder)) };
}

/**
 * The law with each parameter replaced by its value. Conditions and bindings without parameters are the same objects.
 *
 * @param law A law with parameters, in normal form
 * @param values The value of every parameter
 * @throws {TypeError} If a parameter has no value
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { expandLaw } from "@/law/expand.ts";
 * import type { ScenarioLaw } from "@/law/types.ts";
 *
 * const law = {
 *   parameters: [{ parameter_id: "commit", domain: { domain: "String", minimum_bytes: 1, maximum_bytes: 64 } }],
 *   conditions: [],
 *   acquisition_bindings: [{ params: { url: { $template: "https://ci.example/{commit}/status" } } }],
 * } as unknown as ScenarioLaw;
 * const expanded = expandLaw(law, new Map([["commit", { value: "a/b", value_type: "String" }]]));
 * assert.deepEqual(expanded.acquisition_bindings[0]?.params, { url: "https://ci.example/a%2Fb/status" });
 * ```
 */
export function expandLaw(law: ScenarioLaw, values: ParameterValues): ScenarioLaw {
  return {
    ...law,
    conditions: law.conditions.map((condition) => expandCondition(condition, values)),
    acquisition_bindings: law.acquisition_bindings.map((binding) => expandBinding(binding, values)),
  };
}
