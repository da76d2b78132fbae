/** Reads TOML documents with the position of each member and item. */

import { parse, TomlError } from "smol-toml";
import { type AST, parseTOML } from "toml-eslint-parser";
import type { JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import { decodeUtf8Strict, INPUT_DEPTH_LIMIT } from "../canonical/scan.ts";
import {
  type Locator,
  locatorOf,
  notUtf8,
  type Places,
  type Position,
  type ReadSource,
  type Steps,
  type TextSource,
} from "./source_position.ts";

/** A value that JSON cannot represent. */
class TomlFault extends Error {
  readonly steps: Steps;

  constructor(message: string, steps: Steps) {
    super(message);
    this.steps = [...steps];
  }
}

/** Parses TOML 1.0; a value that JSON cannot represent is a fault. */
export function readTomlSource(bytes: Uint8Array): ReadSource {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notUtf8();
  try {
    const value = convert(parse(text, { integersAsBigInt: "asNeeded" }), []);
    return { ok: true, value, text, locator: () => tomlLocator(text) };
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
    throw new TomlFault(`Tables and arrays are nested deeper than ${INPUT_DEPTH_LIMIT} levels`, steps);
  }
  if (typeof value === "bigint") throw new TomlFault("The number loses precision: write it as a string", steps);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return value;
    throw new TomlFault("JSON cannot represent this number", steps);
  }
  if (value instanceof Date) throw new TomlFault("JSON has no dates: write it as a string, in quotes", steps);
  if (Array.isArray(value)) return value.map((item, index) => convert(item, [...steps, index]));
  const members = Object.entries(value as object).map(([name, inner]) => [name, convert(inner, [...steps, name])]);
  return Object.fromEntries(members) as JsonValue;
}

/** Finds values in the syntax tree of a second parser, which is created on first use. */
function tomlLocator(text: string): Locator {
  const nodes: Places<AST.TOMLNode> = new Map();
  for (const node of parseTOML(text).body[0].body) addNodes(nodes, node, []);
  return locatorOf(nodes, positionOf, textSourceOf);
}

function addNodes(nodes: Places<AST.TOMLNode>, node: AST.TOMLTable | AST.TOMLKeyValue, prefix: Steps): void {
  if (node.type === "TOMLTable") {
    nodes.set(formatPath(node.resolvedKey), { name: node, value: node });
    for (const member of node.body) addNodes(nodes, member, node.resolvedKey);
    return;
  }
  const steps = [...prefix, ...node.key.keys.map((key) => key.type === "TOMLBare" ? key.name : key.value)];
  nodes.set(formatPath(steps), { name: node.key, value: node.value });
  addNested(nodes, node.value, steps);
}

function addNested(nodes: Places<AST.TOMLNode>, value: AST.TOMLContentNode, steps: Steps): void {
  if (value.type === "TOMLInlineTable") {
    for (const member of value.body) addNodes(nodes, member, steps);
  } else if (value.type === "TOMLArray") {
    for (const [index, element] of value.elements.entries()) {
      nodes.set(formatPath([...steps, index]), { name: element, value: element });
      addNested(nodes, element, [...steps, index]);
    }
  }
}

function textSourceOf(node: AST.TOMLNode): TextSource | null {
  if (node.type !== "TOMLValue" || node.kind !== "string") return null;
  const [start, end] = node.range;
  return { start, end, style: node.style === "basic" ? "escaped" : "literal" };
}

function positionOf({ loc: { start } }: AST.TOMLNode): Position {
  return { line: start.line, column: start.column + 1 };
}
