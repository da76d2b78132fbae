/**
 * TOML documents with the place of their members: of those that stand on a line of their own, exactly; of what is written
 * within a line or an array of several lines, the member around it.
 *
 * @module
 */

import { parse, TomlError } from "smol-toml";
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

const KEY =
  /^\s*((?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'))*)\s*=\s*/;
const HEADER = /^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$/;
const NAME = /[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*'/g;

function tomlLocator(text: string): Locator {
  const places = placesOf(text);
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

/** Every header and member that starts a line, by its path. */
function placesOf(text: string): Map<string, Place> {
  const places = new Map<string, Place>();
  const counts = new Map<string, number>();
  let prefix: (string | number)[] = [];
  let inside: string | null = null;
  text.split("\n").forEach((lineText, index) => {
    const line = index + 1;
    if (inside !== null) {
      if (endsValue(lineText, inside)) inside = null;
      return;
    }
    const header = HEADER.exec(lineText);
    if (header !== null) {
      prefix = headerSteps(header[1] === "[[", names(header[2] ?? ""), counts);
      const position = { line, column: lineText.search(/\S/) + 1 };
      places.set(formatPath(prefix), { name: position, value: position });
      return;
    }
    const key = KEY.exec(lineText);
    if (key === null) return;
    const name = { line, column: lineText.search(/\S/) + 1 };
    places.set(formatPath([...prefix, ...names(key[1] ?? "")]), { name, value: { line, column: key[0].length + 1 } });
    inside = opensValue(lineText.slice(key[0].length));
  });
  return places;
}

function names(dotted: string): string[] {
  return (dotted.match(NAME) ?? []).map((name) => {
    if (name.startsWith("'")) return name.slice(1, -1);
    return name.startsWith('"') ? JSON.parse(name) as string : name;
  });
}

/** The steps of a header: each array of tables on the way stands at its last item. */
function headerSteps(isArray: boolean, dotted: readonly string[], counts: Map<string, number>): (string | number)[] {
  const steps: (string | number)[] = [];
  dotted.forEach((name, at) => {
    steps.push(name);
    const path = formatPath(steps);
    const isLast = at === dotted.length - 1;
    if (isLast && isArray) counts.set(path, (counts.get(path) ?? -1) + 1);
    const count = counts.get(path);
    if (count !== undefined) steps.push(count);
  });
  return steps;
}

/** What a value that goes on over the line waits for: the end of a text, or of an array. */
function opensValue(value: string): string | null {
  for (const quotes of ['"""', "'''"]) {
    if (value.startsWith(quotes)) return value.indexOf(quotes, 3) < 0 ? quotes : null;
  }
  return value.startsWith("[") && balance(value) > 0 ? "]" : null;
}

function endsValue(lineText: string, inside: string): boolean {
  // An array of several lines ends, as formatters write it, on a line that begins with its bracket.
  return inside === "]" ? lineText.trimStart().startsWith("]") : lineText.includes(inside);
}

function balance(value: string): number {
  const bare = value.replaceAll(/"(?:[^"\\]|\\.)*"|'[^']*'|#.*$/g, "");
  return (bare.match(/\[/g)?.length ?? 0) - (bare.match(/\]/g)?.length ?? 0);
}
