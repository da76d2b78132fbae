/**
 * Reads YAML documents with the position of every value.
 *
 * @module
 */

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter } from "yaml";
import { isJsonObject, member } from "../canonical/json.ts";
import { decodeUtf8Strict } from "../canonical/scan.ts";
import { readYamlDocument } from "../evidence/builtin/yaml_document.ts";
import { parseYaml } from "../evidence/builtin/yaml_parser.ts";
import {
  type Locator,
  notUtf8,
  type Position,
  positionAt,
  type ReadSource,
  type Steps,
  stepsOfPath,
} from "./source_position.ts";

/** The messages for the reader's reasons. */
const REASONS: Readonly<Record<string, string>> = {
  alias_of_itself: "The alias refers to a value that contains it",
  alias_unresolved: "The alias has no anchor before it",
  depth_exceeded: "Values are nested too deep",
  duplicate_name: "The name is repeated",
  lone_surrogate: "The string contains a lone surrogate",
  multiple_docs: "Expected one document, got several",
  name_not_scalar: "A member name must be a string",
  number_not_exact: "The number loses precision: write it as a string",
  value_not_json: "JSON cannot represent this value",
};

/** Parses YAML 1.2 as the built-in providers do: a value that JSON cannot represent is a fault. */
export function readYamlSource(bytes: Uint8Array): ReadSource {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return notUtf8();
  const read = readYamlDocument(bytes, {});
  if ("document" in read) return { ok: true, value: read.document, locator: () => yamlLocator(parse(text).yaml, text) };
  const details = isJsonObject(read.error.details) ? read.error.details : {};
  const reason = String(member(details, "reason") ?? read.error.code);
  const path = member(details, "path");
  const offset = member(details, "offset");
  const message = REASONS[reason];
  if (typeof path === "string") {
    const part = reason === "duplicate_name" ? "name" : "value";
    const position = yamlLocator(parse(text).yaml, text).locate(stepsOfPath(path), part);
    return { ok: false, fault: { code: reason, path, message: message ?? asSentence(reason), position } };
  }
  const position = typeof offset === "number" ? positionAt(text, offset) : { line: 1, column: 1 };
  const detail = typeof offset === "number" ? parserMessage(text) : null;
  return { ok: false, fault: { code: reason, path: "$", message: message ?? detail ?? asSentence(reason), position } };
}

function asSentence(reason: string): string {
  const text = reason.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parserMessage(text: string): string | null {
  const { yaml } = parse(text);
  const [problem] = [...yaml.errors, ...yaml.warnings];
  return problem === undefined ? null : problem.message.split("\n")[0] ?? null;
}

function parse(text: string): { readonly yaml: Document.Parsed } {
  return { yaml: parseYaml(text, { logLevel: "silent", lineCounter: new LineCounter() }) };
}

/** Finds values by descending in the syntax tree; aliases are resolved. */
function yamlLocator(yaml: Document.Parsed, text: string): Locator {
  const follow = (node: unknown): unknown => isAlias(node) ? node.resolve(yaml) : node;
  const startOf = (node: unknown): number | null => isNode(node) ? node.range?.[0] ?? null : null;
  return {
    locate(steps: Steps, part: "name" | "value"): Position {
      let node: unknown = yaml.contents;
      let name = startOf(node) ?? 0;
      let value = name;
      for (const step of steps) {
        const next = childOf(follow(node), step);
        if (next === null) return positionAt(text, value);
        node = next.value;
        name = startOf(next.key) ?? startOf(node) ?? value;
        value = startOf(node) ?? name;
      }
      return positionAt(text, part === "name" ? name : value);
    },
  };
}

function childOf(node: unknown, step: string | number): { readonly key: unknown; readonly value: unknown } | null {
  if (typeof step === "number") {
    const item = isSeq(node) ? node.items[step] : undefined;
    return item === undefined ? null : { key: item, value: item };
  }
  if (!isMap(node)) return null;
  // The later of two members with the same name is the fault.
  const pair = node.items.findLast(({ key }) => isScalar(key) && (key.value === step || key.source === step));
  return pair === undefined ? null : { key: pair.key, value: pair.value };
}
