/** Reads YAML documents with the position of every value. */

import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, type Node, visit } from "yaml";
import { decodeUtf8Strict } from "../canonical/scan.ts";
import { readYaml } from "../evidence/builtin/yaml_document.ts";
import { quote } from "../law/suggest.ts";
import { parseYaml } from "../evidence/builtin/yaml_parser.ts";
import {
  type Locator,
  notUtf8,
  PlacedText,
  type Position,
  positionAt,
  type ReadSource,
  type SourceFault,
  type Steps,
  stepsOfPath,
  type TextSource,
  type TextStyle,
} from "./source_position.ts";

/** The messages for the reader's reasons. */
const REASONS: Readonly<Record<string, string>> = {
  alias_of_itself: "The alias refers to a value that contains it",
  alias_unresolved: "The alias has no anchor before it",
  depth_exceeded: "Values are nested too deep",
  duplicate_name: "The name is repeated",
  lone_surrogate: "The string contains a lone surrogate",
  multiline_implicit_key: 'Expected ":" after the name in this line',
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
  if ("document" in read) {
    const { document, yaml } = read;
    return {
      ok: true,
      value: document,
      text,
      locator: () => yamlLocator(yaml, text),
      extras: () => extrasOf(yaml.contents, text),
    };
  }
  const { reason, path, offset, quoting } = read.refusal;
  if (path === undefined) {
    const found = offset === undefined ? null : placeFault(text, offset, quoting ?? "");
    const hint = offset === undefined ? "" : unquotedHint(text, offset, reason);
    const message = found?.message ?? (REASONS[reason] ?? quoting?.split("\n")[0] ?? asSentence(reason)) + hint;
    return { ok: false, fault: { code: reason, path: "$", message, position: positionAt(text, found?.offset ?? 0) } };
  }
  const message = REASONS[reason] ?? asSentence(reason);
  const part = reason === "duplicate_name" ? "name" : "value";
  const position = yamlLocator(parse(text), text).locate(stepsOfPath(path), part);
  return { ok: false, fault: { code: reason, path, message, position } };
}

/**
 * Where a reader sees a fault of YAML, which the parser may only notice some lines below, with words for what is wrong.
 *
 * - A quote or a bracket that is not closed: where it opens.
 * - A line inside brackets that is not indented: at that line.
 * - A line that continues the text of the line above, as it is indented deeper: at that line.
 * - A line whose indentation differs from its block: at its first character that is no space.
 */
function placeFault(
  text: string,
  offset: number,
  quoting: string,
): { readonly offset: number; readonly message?: string } {
  const [, quoteMark, bracket] = /closing (["'])|end with an? ([\]}])/.exec(quoting) ?? [];
  const mark = quoteMark ?? bracket;
  if (mark !== undefined) {
    const opener = OPENERS[mark] ?? mark;
    const opening = openingOf(text, offset, opener);
    const margin = bracket === undefined ? null : marginInside(text, offset, opener, mark);
    if (margin === null) return { offset: opening, message: `Expected ${quote(mark)}, which closes what begins here` };
    const { line } = positionAt(text, opening);
    return { offset: margin, message: `This line is inside the ${quote(opener)} of line ${line}, so indent it` };
  }
  if (quoting.startsWith("Implicit map keys")) return { offset, message: REASONS["multiline_implicit_key"] ?? "" };
  const rest = text.slice(offset);
  const line = quoting.startsWith("Nested mappings") ? rest.lastIndexOf("\n", rest.search(/:(?:\s|$)/)) + 1 : 0;
  const place = offset + line + rest.slice(line).search(/[^ ]|$/);
  if (line > 0) return { offset: place, message: CONTINUED_LINE };
  if (!quoting.startsWith("A block sequence")) return { offset: place };
  const isOfStage = /\n +after:.*\n$/.test(text.slice(0, offset));
  const message = isOfStage
    ? 'A list cannot follow here; a stage with "after:" lists its lines under "when:"'
    : LIST_COLUMNS;
  return { offset: place, message };
}

/** The message for a line that YAML reads as more of the text above it. */
export const CONTINUED_LINE = "This line is indented deeper than the one above, so it continues its text";
const LIST_COLUMNS = "All items of a list must start at the same column";
const OPENERS: Readonly<Record<string, string>> = { "]": "[", "}": "{" };

/**
 * Where a line begins that ended a collection in brackets, as it is not indented; null where the collection ended amid
 * a line, or where no bracket closes it before the next member.
 */
function marginInside(text: string, end: number, opener: string, closer: string): number | null {
  let first: number | null = null;
  let open = 1;
  let start = end;
  for (const line of text.slice(end).split("\n")) {
    for (const mark of line) open += mark === opener ? 1 : mark === closer && open > 0 ? -1 : 0;
    const indent = line.search(/\S/);
    if (indent >= 0) first ??= start + indent;
    if (first !== null && text.slice(text.lastIndexOf("\n", first) + 1, first).trim() !== "") return null;
    if (open === 0) return first;
    if (/^\s*[\w-]+:(?:\s|$)/.test(line)) return null;
    start += line.length + 1;
  }
  return null;
}

/** Where the innermost text in quotes, or collection in brackets, begins that ends at an offset. */
function openingOf(text: string, end: number, opener: string): number {
  let found = end;
  visit(parse(text).contents as Node | null, {
    Node: (_, { range }) => {
      if (range?.[1] === end && text[range[0]] === opener) found = range[0];
    },
  });
  return found;
}

/** Characters that have a meaning in a text without quotes, by the reason of the fault. */
const UNQUOTED: Readonly<Record<string, string>> = { tag_resolve_failed: "!", block_as_implicit_key: ": " };

/** What to quote, where a text without quotes has a character that YAML reads as its own. */
function unquotedHint(text: string, offset: number, reason: string): string {
  const mark = UNQUOTED[reason] ??
    (reason === "unexpected_token" && /[,{}[\]&*]/.test(text[offset] ?? "") ? text[offset] : null);
  return mark === null || mark === undefined ? "" : quoteHint(text, offset, mark);
}

/** A hint at a character that needs quotes, with the line quoted. */
export function quoteHint(text: string, offset: number, mark: string): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const line = text.slice(start).split(/\r?\n/)[0] ?? "";
  const [, before = "", value = ""] = /^(\s*(?:- +)?(?:[\w-]+: +)?)(.*)$/.exec(line) ?? [];
  const hint = `; YAML reads ${quote(mark)} as its own in a text without quotes`;
  if (value === "" || /^[{["']/.test(value)) return `${hint}: quote that text`;
  const quoted = value.includes('"') && !value.includes("'") ? `'${value}'` : JSON.stringify(value);
  return `${hint}, so quote it: ${before.trim()} ${quoted}`;
}

function asSentence(reason: string): string {
  const text = reason.replaceAll("_", " ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function parse(text: string): Document.Parsed {
  return parseYaml(text, { logLevel: "silent", lineCounter: new LineCounter() });
}

const STYLES: Readonly<Record<string, TextStyle>> = {
  PLAIN: "plain",
  QUOTE_DOUBLE: "escaped",
  QUOTE_SINGLE: "doubled",
  BLOCK_LITERAL: "block",
  BLOCK_FOLDED: "block",
};

/** The tags, anchors, aliases and merge keys of a document: a law file says each thing once, where it belongs. */
function extrasOf(contents: unknown, text: string): readonly SourceFault[] {
  const faults: SourceFault[] = [];
  const placed = new PlacedText(text);
  // Tag and anchor stand before their node.
  const add = (node: { readonly range?: readonly [number, ...unknown[]] | null }, message: string, mark = ""): void => {
    const start = node.range?.[0] ?? 0;
    let at = mark === "" ? start : Math.max(0, text.lastIndexOf(mark, start));
    while (mark === "!" && text[at - 1] === "!") at--;
    const position = placed.positionAt(at);
    faults.push({ code: "yaml_extra", path: "$", message, position });
  };
  visit(contents as Node | null, {
    Pair: (_, { key }) => {
      if (isScalar(key) && key.value === "<<") add(key, 'A law file has no merge key "<<": write the members out');
    },
    Alias: (_, node) => add(node, `A law file has no aliases: write the value in place of "*${node.source}"`),
    Node: (_, node) => {
      if (!isAlias(node) && node.anchor !== undefined) {
        add(node, `A law file has no anchors: remove "&${node.anchor}"`, `&${node.anchor}`);
      }
      if (!isAlias(node) && node.tag !== undefined) add(node, `A law file has no tags: remove ${node.tag}`, "!");
    },
  });
  return faults;
}

/** Finds values by descending in the syntax tree; aliases are resolved. */
function yamlLocator(yaml: Document.Parsed, text: string): Locator {
  const placed = new PlacedText(text);
  const follow = (node: unknown): unknown => isAlias(node) ? node.resolve(yaml) : node;
  const startOf = (node: unknown): number | null => isNode(node) ? node.range?.[0] ?? null : null;
  return {
    textAt(steps: Steps): TextSource | null {
      let node: unknown = yaml.contents;
      for (const step of steps) node = childOf(follow(node), step)?.value;
      const style = isScalar(node) && typeof node.value === "string" ? STYLES[node.type ?? ""] : undefined;
      const range = isNode(node) ? node.range : null;
      return style === undefined || range === null || range === undefined
        ? null
        : { start: range[0], end: range[1], style };
    },
    locate(steps: Steps, part: "name" | "value"): Position {
      let node: unknown = yaml.contents;
      let name = startOf(node) ?? 0;
      let value = name;
      for (const step of steps) {
        const next = childOf(follow(node), step);
        if (next === null) return placed.positionAt(value);
        node = next.value;
        name = startOf(next.key) ?? startOf(node) ?? value;
        value = startOf(node) ?? name;
      }
      return placed.positionAt(part === "name" ? name : value);
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
