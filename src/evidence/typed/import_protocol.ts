/**
 * The messages between an import and its worker. The result travels as JSON text, so that every member name arrives as
 * it was.
 */

import { isJsonObject, type JsonArray, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { ImportOptions, ImportResult } from "./import_result.ts";

/** What to import and within which limits. */
export interface ImportQuestion<Source> {
  readonly source: Source;
  readonly options: Omit<ImportOptions, "spend">;
  /** Steps of work. */
  readonly steps: number;
  /** Processor time in milliseconds after which the worker gives up: ending a thread does not stop every computation. */
  readonly milliseconds: number;
}

/** The text of a result. The definitions of schemas stand in it once, although many checks have the same ones. */
export function writeResult(result: ImportResult): string {
  const definitions: JsonValue[] = [];
  const places = new Map<JsonValue, number>();
  const placeOf = (definition: JsonValue): number => {
    const known = places.get(definition) ?? definitions.push(definition) - 1;
    places.set(definition, known);
    return known;
  };
  const packed = mapDefinitions(result, placeOf);
  return JSON.stringify({ result: packed, definitions });
}

/** Reads what {@link writeResult} wrote. Checks share the values of their definitions. */
export function readResult(text: string): ImportResult {
  const { result, definitions } = (hasEscapedName(text) ? readJson(text) : JSON.parse(text)) as {
    readonly result: ImportResult;
    readonly definitions: JsonArray;
  };
  return mapDefinitions(result, (place) => definitions[Number(place)] ?? null);
}

/**
 * Whether a member name of JSON text has an escape, which the native parse may misread. Each string is visited from its
 * first escape on.
 */
function hasEscapedName(text: string): boolean {
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", at)) {
    for (; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
    do at++; while (text.charCodeAt(at) <= SPACE);
    if (text.charCodeAt(at) === COLON) return true;
  }
  return false;
}

const [SPACE, QUOTE, COLON, BACKSLASH] = [0x20, 0x22, 0x3a, 0x5c] as const;

/** The result with each definition of a schema replaced. */
function mapDefinitions(result: ImportResult, replace: (definition: JsonValue) => JsonValue): ImportResult {
  if (!result.ok) return result;
  const mapSchema = (schema: JsonValue): JsonValue => {
    const definitions = isJsonObject(schema) ? member(schema, "$defs") : undefined;
    if (definitions === undefined || !isJsonObject(definitions)) return schema;
    const entries = Object.entries(definitions).map(([name, one]) => [name, replace(one)] as const);
    // Object.fromEntries defines members, so `__proto__` is an ordinary name.
    return { ...schema as JsonObject, $defs: Object.fromEntries(entries) };
  };
  const checks = result.contract.checks.map((check) => ({
    ...check,
    params_schema: mapSchema(check.params_schema),
    result_schema: mapSchema(check.result_schema),
  }));
  return { ...result, contract: { ...result.contract, checks } };
}
