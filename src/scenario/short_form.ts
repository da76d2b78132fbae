/**
 * The short form of scenario files: conditions with their bindings, and bare expected values. Tools take the long form
 * alone, which {@link expandShortForm} makes.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { below, type JsonPath, pathAt } from "../canonical/path.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { readMember, readObject } from "../canonical/shape.ts";
import { isBuiltinProviderName } from "../config/builtin_names.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { readIdentifier } from "../law/readers.ts";
import { type Collector, collector } from "../law/refusals.ts";
import { quote } from "../law/suggest.ts";
import type { Refusal } from "../law/types.ts";
import { decimalOfNumber } from "../law/value/decimal.ts";
import type { Steps } from "./source_position.ts";

/** The long form of a spec. */
export interface LongForm {
  readonly value: JsonValue;
  /** Converts steps in the long form to steps in the file. */
  readonly inFile: (steps: Steps) => Steps;
  /** The faults of the short form, with paths in the file; the value must not be used if there are any. */
  readonly faults: readonly Refusal[];
}

/** The members of a binding by their names in `from`. The others are derived from the condition. */
const MEMBERS: Readonly<Record<string, string>> = { provider_id: "provider", check_id: "check", params: "params" };

/** Expands the short form. A spec in long form, or without the members of a spec, is returned as it is. */
export function expandShortForm(spec: JsonValue): LongForm {
  const conditions = isJsonObject(spec) ? member(spec, "conditions") : undefined;
  if (!isJsonObject(spec) || !isJsonArray(conditions)) return { value: spec, inFile: (steps) => steps, faults: [] };
  const refusals = collector();
  const bindings: JsonObject[] = [];
  const places: Steps[] = [];
  const typed = new Set<string>();
  const long = conditions.map((condition, index) => {
    if (!isJsonObject(condition)) return condition;
    readFrom(refusals, condition, pathAt("conditions", index)).forEach(({ binding, steps }) => {
      bindings.push(binding);
      places.push(["conditions", index, ...steps]);
    });
    return withTypes(condition, index, typed);
  });
  const own = member(spec, "acquisition_bindings") ?? [];
  const ownCount = isJsonArray(own) ? own.length : 0;
  const value = {
    ...spec,
    conditions: long,
    ...bindings.length > 0 && isJsonArray(own) ? { acquisition_bindings: [...own, ...bindings] } : {},
  };
  checkDerivedIds(refusals, isJsonArray(own) ? own : [], bindings, places);
  const inFile = (steps: Steps): Steps => {
    const [list, index, name, ...rest] = steps;
    const place = list === "acquisition_bindings" && typeof index === "number" ? places[index - ownCount] : undefined;
    if (place === undefined) return steps.filter((_, at) => !typed.has(keyOf(steps.slice(0, at + 1))));
    const short = name === undefined ? undefined : MEMBERS[name];
    return short === undefined ? place : [...place, short, ...rest];
  };
  return { value, inFile, faults: refusals.report() };
}

/** Refuses ids of bindings that the file does not have, by their text: the file has the ids that they are made of. */
function checkDerivedIds(
  refusals: Collector,
  own: readonly JsonValue[],
  bindings: readonly JsonObject[],
  places: readonly Steps[],
): void {
  const holders = new Map(own.map((one) => [isJsonObject(one) ? member(one, "binding_id") : undefined, ""]));
  bindings.forEach((binding, index) => {
    const id = String(member(binding, "binding_id"));
    const condition = String(member(binding, "condition_id"));
    const path = pathAt(...places[index] ?? []);
    const bytes = utf8Length(id);
    // The decoder of the spec refuses a condition id that is too long by itself, and one that is repeated.
    if (bytes > SPEC_LIMITS.identifierBytes && utf8Length(condition) <= SPEC_LIMITS.identifierBytes) {
      const message =
        `Expected a derived binding id of at most ${SPEC_LIMITS.identifierBytes} UTF-8 bytes, got ${bytes}: ` +
        `${id}; shorten "condition_id", or give the binding an id in "acquisition_bindings"`;
      refusals.refuse("identifier_invalid", path, message);
    }
    const holder = holders.get(id);
    if (holder !== undefined && holder !== condition) {
      const message = `Derived binding id ${quote(id)} is that of another binding` +
        `${
          holder === "" ? "" : ` of condition ${quote(holder)}`
        }; rename the condition, or give the binding an id in "acquisition_bindings"`;
      refusals.refuse("duplicate", path, message);
    }
    holders.set(id, condition);
  });
}

function keyOf(steps: Steps): string {
  return JSON.stringify(steps);
}

/** The bindings of `from`, with the steps from the condition to each. */
function readFrom(
  refusals: Collector,
  condition: JsonObject,
  path: JsonPath,
): { readonly binding: JsonObject; readonly steps: Steps }[] {
  const from = member(condition, "from");
  if (from === undefined) return [];
  const at = below(path, "from");
  if (!isJsonArray(from)) {
    return readSource(refusals, condition, from, at, 1).map((binding) => ({ binding, steps: ["from"] }));
  }
  if (from.length === 0) refusals.refuse("too_few", at, "Expected at least 1 source, got 0");
  const counts = new Map<JsonValue | undefined, number>();
  return from.flatMap((source, index) => {
    const provider = isJsonObject(source) ? member(source, "provider") : undefined;
    const count = (counts.get(provider) ?? 0) + 1;
    counts.set(provider, count);
    const bindings = readSource(refusals, condition, source, below(at, index), count);
    return bindings.map((binding) => ({ binding, steps: ["from", index] }));
  });
}

/** @param count How many sources of the condition up to this one have its provider */
function readSource(
  refusals: Collector,
  condition: JsonObject,
  source: JsonValue,
  path: JsonPath,
  count: number,
): JsonObject[] {
  const object = readObject(refusals, source, path, ["provider", "check"], ["params"]);
  if (object === undefined) return [];
  const provider_id = readMember(refusals, object, path, "provider", readIdentifier);
  const check_id = readMember(refusals, object, path, "check", readIdentifier);
  const condition_id = member(condition, "condition_id");
  // The decoder of the spec refuses a condition without an id.
  if (provider_id === undefined || check_id === undefined || typeof condition_id !== "string") return [];
  const params = member(object, "params");
  return [{
    binding_id: `${provider_id}.${condition_id}${count === 1 ? "" : `.${count}`}`,
    condition_id,
    // The names of built-in providers are reserved for them.
    channel: isBuiltinProviderName(provider_id) ? "local_acquisition" : "provider_acquisition",
    provider_id,
    check_id,
    ...params === undefined ? {} : { params },
  }];
}

/**
 * A condition without `from`, and with the type of its domain on each bare expected value.
 *
 * @param typed Receives the steps to each `value` that the file does not have
 */
function withTypes(condition: JsonObject, index: number, typed: Set<string>): JsonObject {
  const { from: _from, ...rest } = condition;
  const domain = member(condition, "observation_domain");
  const type = isJsonObject(domain) ? member(domain, "domain") : undefined;
  const predicate = member(condition, "predicate");
  const expected = isJsonObject(predicate) ? member(predicate, "expected") : undefined;
  if (typeof type !== "string" || !isJsonObject(predicate) || expected === undefined) return rest;
  const typeOf = (value: JsonValue, steps: Steps): JsonValue => {
    if (!isBare(value, type)) return value;
    typed.add(keyOf([...steps, "value"]));
    const exact = type === "Decimal" && typeof value === "number" ? decimalOfNumber(value) : value;
    return { value: exact, value_type: type };
  };
  const steps = ["conditions", index, "predicate", "expected"];
  const isSet = member(predicate, "predicate") === "InSet" && isJsonArray(expected);
  const values = isSet ? expected.map((value, at) => typeOf(value, [...steps, at])) : typeOf(expected, steps);
  return { ...rest, predicate: { ...predicate, expected: values } };
}

/** The members by which an expected value is in long form: typed, of a parameter, or relative to the evaluation. */
const LONG_FORMS = ["value_type", "parameter", "relative_to"];

/** Whether an expected value is written without a type. An object is bare only as a `Json` value. */
function isBare(value: JsonValue, type: string): boolean {
  if (!isJsonObject(value)) return type === "Json" || !isJsonArray(value);
  return type === "Json" && !LONG_FORMS.some((name) => Object.hasOwn(value, name));
}
