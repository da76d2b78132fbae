/**
 * TOML documents with the line and column of each member and item.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
import { type AST, parseTOML } from "toml-eslint-parser";
import type { JsonValue } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { decodeUtf8Strict, INPUT_DEPTH_LIMIT } from "../../canonical/scan.ts";
import { type Locator, notUtf8, type Position, type ReadSource, type Steps } from "./place.ts";

/** A value that JSON does not have. */
class TomlFault extends Error {
  readonly steps: Steps;

  constructor(message: string, steps: Steps) {
    super(message);
    this.steps = [...steps];
  }
}

/** Reads TOML 1.0; what JSON cannot carry is a fault. */
export function readTomlSource(bytes: Uint8Array): ReadSource {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notUtf8();
  try {
    const value = convert(parse(text, { integersAsBigInt: "asNeeded" }), []);
    return { ok: true, value, locator: () => tomlLocator(text) };
  } catch (error) {
    if (error instanceof TomlFault) {
      const position = tomlLocator(text).locate(error.steps, "value");
      const fault = { code: "value_not_json", path: formatPath(error.steps), message: error.message, position };
      return { ok: false, fault };
    }
    if (!(error instanceof TomlError)) throw error;
    const message = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document: /, "");
    const position = { line: error.line, column: error.column };
    return { ok: false, fault: { code: "syntax", path: "$", message: `Invalid TOML: ${message}`, position } };
  }
}

function convert(value: unknown, steps: Steps): JsonValue {
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "object" && steps.length >= INPUT_DEPTH_LIMIT) {
    throw new TomlFault(`At most ${INPUT_DEPTH_LIMIT} tables and arrays may enclose each other`, steps);
  }
  if (typeof value === "bigint") throw new TomlFault("The number cannot be kept exactly: write it as a text", steps);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new TomlFault("JSON has no such number", steps);
  }
  if (value instanceof Date) throw new TomlFault("JSON has no dates: write it as a text, in quotes", steps);
  if (Array.isArray(value)) return value.map((item, index) => convert(item, [...steps, index]));
  const members = Object.entries(value as object).map(([name, inner]) => [name, convert(inner, [...steps, name])]);
  return Object.fromEntries(members) as JsonValue;
}

interface Place {
  readonly name: Position;
  readonly value: Position;
}

/** Finds places by a syntax tree of its own, which is built when a fault is located first. */
function tomlLocator(text: string): Locator {
  const places = new Map<string, Place>();
  for (const node of parseTOML(text).body[0].body) addPlaces(places, node, []);
  return {
    locate(steps: Steps, part: "name" | "value"): Position {
      for (let length = steps.length; length > 0; length--) {
        const place = places.get(formatPath(steps.slice(0, length)));
        if (place !== undefined) return part === "name" && length === steps.length ? place.name : place.value;
      }
      return { line: 1, column: 1 };
    },
  };
}

function addPlaces(places: Map<string, Place>, node: AST.TOMLTable | AST.TOMLKeyValue, prefix: Steps): void {
  if (node.type === "TOMLTable") {
    const position = positionOf(node);
    places.set(formatPath(node.resolvedKey), { name: position, value: position });
    for (const member of node.body) addPlaces(places, member, node.resolvedKey);
    return;
  }
  const steps = [...prefix, ...node.key.keys.map((key) => key.type === "TOMLBare" ? key.name : key.value)];
  places.set(formatPath(steps), { name: positionOf(node.key), value: positionOf(node.value) });
  addInner(places, node.value, steps);
}

function addInner(places: Map<string, Place>, value: AST.TOMLContentNode, steps: Steps): void {
  if (value.type === "TOMLInlineTable") {
    for (const member of value.body) addPlaces(places, member, steps);
  } else if (value.type === "TOMLArray") {
    for (const [index, element] of value.elements.entries()) {
      const position = positionOf(element);
      places.set(formatPath([...steps, index]), { name: position, value: position });
      addInner(places, element, [...steps, index]);
    }
  }
}

function positionOf({ loc: { start } }: AST.TOMLNode): Position {
  return { line: start.line, column: start.column + 1 };
}
