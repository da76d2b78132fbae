/** Cases in the format before law files, which `gate scenario write` alone reads. */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { lawText } from "./law_file/layout.ts";

/** Whether a document has cases in the old format. */
export function isOldCases(document: JsonValue): document is JsonObject {
  return isJsonObject(document) && isJsonArray(member(document, "cases"));
}

/**
 * Old cases as a cases file.
 *
 * @param keysOf The keys that may sign for a condition: the old format did not say who signs
 */
export function convertCases(document: JsonObject, keysOf: (conditionId: string) => readonly string[]): string {
  const { cases, schemas, parameters } = document;
  const list = isJsonArray(cases) ? cases : [];
  const named = list.map((one, index) => {
    const object = objectOf(one);
    return [String(member(object, "name") ?? `case ${index + 1}`), convertCase(object, keysOf)] as const;
  });
  return lawText({
    ...schemas === undefined ? {} : { schemas },
    ...parameters === undefined ? {} : { given: parameters },
    ...Object.fromEntries(named),
  });
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

type KeysOf = Parameters<typeof convertCases>[1];

function convertCase(one: JsonObject, keysOf: KeysOf): JsonObject {
  const stages = isJsonArray(one["stages"]) ? one["stages"] : [];
  const { evaluated_at: now, ready, expect } = one;
  const end = [
    ...expect === undefined ? [] : [String(expect)],
    ...isJsonArray(ready) ? [`ready: ${ready.join(", ") || "none"}`] : [],
  ];
  const steps = stages.map((stage, index) =>
    convertStage(objectOf(stage), index === stages.length - 1 ? end : [], keysOf)
  );
  const head = { ...objectOf(one["parameters"]), ...now === undefined ? {} : { now } };
  const [only] = steps;
  return steps.length === 1 && only !== undefined ? { ...head, ...only } : { ...head, steps };
}

function convertStage(stage: JsonObject, end: readonly string[], keysOf: KeysOf): JsonObject {
  const { items, acquired, submitted, signed, evaluated_at: now, expect, conditions } = stage;
  const names = isJsonArray(signed) ? signed.map(String) : [];
  const given = { ...objectOf(stage["given"]), ...objectOf(acquired) };
  const sign = [
    ...Object.entries(objectOf(submitted)).flatMap(([id, byKey]) =>
      Object.entries(objectOf(byKey)).map(([key, value]) => ({ [key]: { [id]: value } }))
    ),
    ...names.flatMap((id) => {
      const list = member(objectOf(items), id) ?? [given[id] ?? true];
      const keys = keysOf(id);
      if (!isJsonArray(list)) return [];
      return list.map((value, index) => ({ [keys[index] ?? `key-${index + 1}`]: { [id]: value } }));
    }),
  ];
  const unsigned = Object.fromEntries(Object.entries(objectOf(items)).filter(([id]) => !names.includes(id)));
  return {
    stage: stage["stage"] ?? null,
    ...given,
    ...now === undefined ? {} : { now },
    ...Object.keys(unsigned).length === 0 ? {} : { items: unsigned },
    ...sign.length === 0 ? {} : { sign },
    then: [`${stage["stage"]} is ${expect}`, ...judgedBy(objectOf(conditions)), ...end],
  };
}

function judgedBy(conditions: JsonObject): readonly string[] {
  return Object.entries(conditions).flatMap(([id, value]) => {
    if (String(value) === "true") return [];
    return [`${String(value) === "false" ? "held" : "unknown"}: ${id}`];
  });
}
