/**
 * YAML documents with the place of every value.
 *
 * @module
 */

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter } from "yaml";
import { isJsonObject, member } from "../../canonical/json.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { readYamlDocument } from "../../evidence/builtin/yaml_document.ts";
import { parseYaml } from "../../evidence/builtin/yaml_parser.ts";
import { type Locator, notUtf8, type Position, positionAt, type ReadSource, type Steps, stepsOfPath } from "./place.ts";

/** What the reader's reasons mean, for people. */
const REASONS: Readonly<Record<string, string>> = {
  alias_of_itself: "An alias stands within what it stands for",
  alias_unresolved: "The alias names no anchor before it",
  depth_exceeded: "Values are nested too deep",
  duplicate_name: "The name is given twice",
  lone_surrogate: "The text holds half of a surrogate pair",
  multiple_docs: "Expected one document, got several",
  name_not_scalar: "A member name must be a text",
  number_not_exact: "The number cannot be kept exactly: write it as a text",
  value_not_json: "JSON has no such value",
};

/** Reads YAML 1.2 as the built-in providers read it: what JSON cannot carry is a fault. */
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
    return { ok: false, fault: { code: reason, path, message: message ?? words(reason), position } };
  }
  const position = typeof offset === "number" ? positionAt(text, offset) : { line: 1, column: 1 };
  const said = typeof offset === "number" ? parserMessage(text) : null;
  return { ok: false, fault: { code: reason, path: "$", message: message ?? said ?? words(reason), position } };
}

function words(reason: string): string {
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

/** Finds values by walking down the syntax tree; an alias leads to what it stands for. */
function yamlLocator(yaml: Document.Parsed, text: string): Locator {
  const follow = (node: unknown): unknown => isAlias(node) ? node.resolve(yaml) : node;
  const startOf = (node: unknown): number | null => isNode(node) ? node.range?.[0] ?? null : null;
  return {
    locate(steps: Steps, part: "name" | "value"): Position {
      let node: unknown = yaml.contents;
      let [name, value] = [startOf(node) ?? 0, startOf(node) ?? 0];
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
  // Of two members of a name the later one is the fault.
  const pair = node.items.findLast(({ key }) => isScalar(key) && (key.value === step || key.source === step));
  return pair === undefined ? null : { key: pair.key, value: pair.value };
}
