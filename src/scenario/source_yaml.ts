/**
 * Reads YAML documents with the position of every value.
 *
 * @module
 */

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter } from "yaml";
import { decodeUtf8Strict } from "../canonical/scan.ts";
import { readYaml } from "../evidence/builtin/yaml_document.ts";
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
  const read = readYaml(text, null);
  if ("document" in read) return { ok: true, value: read.document, locator: () => yamlLocator(parse(text), text) };
  const { reason, path, offset, quoting } = read.refusal;
  const message = REASONS[reason] ?? quoting?.split("\n")[0] ?? asSentence(reason);
  if (path === undefined) {
    const position = offset === undefined ? { line: 1, column: 1 } : positionAt(text, offset);
    return { ok: false, fault: { code: reason, path: "$", message, position } };
  }
  const part = reason === "duplicate_name" ? "name" : "value";
  const position = yamlLocator(parse(text), text).locate(stepsOfPath(path), part);
  return { ok: false, fault: { code: reason, path, message, position } };
}

function asSentence(reason: string): string {
  const text = reason.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parse(text: string): Document.Parsed {
  return parseYaml(text, { logLevel: "silent", lineCounter: new LineCounter() });
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
