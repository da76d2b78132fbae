/**
 * The short form of specs before law files: conditions with their bindings, and bare expected values. `gate scenario
 * write` alone reads it.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { isBuiltinProviderName } from "../config/builtin_names.ts";
import { decimalOfNumber } from "../law/value/decimal.ts";
import type { Steps } from "./source_position.ts";

/** The long form of a spec. */
export interface LongForm {
  readonly value: JsonValue;
  /** Where the file first has the short form; null for a file in long form. */
  readonly short: Steps | null;
}

/** Expands the short form. What is wrong in it stays wrong, so that the decoder of specs refuses it. */
export function expandShortForm(spec: JsonValue): LongForm {
  const conditions = isJsonObject(spec) ? member(spec, "conditions") : undefined;
  if (!isJsonObject(spec) || !isJsonArray(conditions)) return { value: spec, short: null };
  const bindings: JsonValue[] = [];
  const places: Steps[] = [];
  const long = conditions.map((condition, index) => {
    if (!isJsonObject(condition)) return condition;
    const { from, ...rest } = condition;
    const sources = from === undefined || isJsonArray(from) ? from ?? [] : [from];
    if (from !== undefined) places.push(["conditions", index, "from"]);
    bindings.push(...bindingsOf(condition, sources));
    // An empty list stays, because a condition without sources would be one of the caller.
    const own = sources.length === 0 ? condition : rest;
    const typed = withTypes(own);
    if (typed !== own) places.push(["conditions", index, "predicate", "expected"]);
    return typed;
  });
  const own = member(spec, "acquisition_bindings") ?? [];
  const joined = bindings.length > 0 && isJsonArray(own) ? { acquisition_bindings: [...own, ...bindings] } : {};
  return { value: { ...spec, conditions: long, ...joined }, short: places[0] ?? null };
}

/** The bindings of `from`, whose ids and channels are derived. */
function bindingsOf({ condition_id = null }: JsonObject, sources: readonly JsonValue[]): readonly JsonValue[] {
  const counts = new Map<JsonValue, number>();
  return sources.map((source) => {
    if (!isJsonObject(source)) return source;
    const { provider: provider_id = null, check: check_id = null, ...rest } = source;
    const count = (counts.get(provider_id) ?? 0) + 1;
    counts.set(provider_id, count);
    // The names of built-in providers are reserved for them.
    const channel = isBuiltinProviderName(String(provider_id)) ? "local_acquisition" : "provider_acquisition";
    const binding_id = `${provider_id}.${condition_id}${count === 1 ? "" : `.${count}`}`;
    return { binding_id, condition_id, channel, provider_id, check_id, ...rest };
  });
}

/** A condition with the type of its domain on each bare expected value; the condition itself if it has none. */
function withTypes(condition: JsonObject): JsonObject {
  const domain = member(condition, "observation_domain");
  const type = isJsonObject(domain) ? member(domain, "domain") : undefined;
  const predicate = member(condition, "predicate");
  const expected = isJsonObject(predicate) ? member(predicate, "expected") : undefined;
  if (typeof type !== "string" || !isJsonObject(predicate) || expected === undefined) return condition;
  const typeOf = (value: JsonValue): JsonValue => {
    if (!isBare(value, type)) return value;
    const exact = type === "Decimal" && typeof value === "number" ? decimalOfNumber(value) : value;
    return { value: exact, value_type: type };
  };
  const values = member(predicate, "predicate") === "InSet" && isJsonArray(expected) ? expected : [expected];
  if (!values.some((value) => isBare(value, type))) return condition;
  return {
    ...condition,
    predicate: { ...predicate, expected: values === expected ? values.map(typeOf) : typeOf(expected) },
  };
}

/** The members by which an expected value is in long form: typed, of a parameter, or relative to the evaluation. */
const LONG_FORMS = ["value_type", "parameter", "relative_to"];

/** Whether an expected value is written without a type. An object is bare only as a `Json` value. */
function isBare(value: JsonValue, type: string): boolean {
  if (!isJsonObject(value)) return type === "Json" || !isJsonArray(value);
  return type === "Json" && !LONG_FORMS.some((name) => Object.hasOwn(value, name));
}
