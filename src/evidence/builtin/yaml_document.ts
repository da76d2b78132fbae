/** Reads YAML 1.2 (core schema) as a JSON document: values of JSON only, with bounded aliases and exact numbers. */

import { type Alias, CST, type Document as YamlDocument, isAlias, isMap, isScalar, isSeq, Lexer } from "yaml";
import { utf8Length } from "../../canonical/utf8.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { isExactNumber } from "../../canonical/number.ts";
import { formatPath } from "../../canonical/path.ts";
import { decodeUtf8Strict, INPUT_DEPTH_LIMIT } from "../../canonical/scan.ts";
import { type Document, invalidDocument, type Origin } from "./json_document.ts";
import { parseYaml } from "./yaml_parser.ts";

/** Lexical tokens of a text. Parsing takes about 320 bytes of memory for each. */
export const YAML_TOKENS_MAXIMUM = 500_000;
/**
 * Collections that tokens of one line, or brackets of several, open inside each other. The parser calls itself for
 * each, and its stack holds about 1,000.
 */
export const YAML_NESTING_MAXIMUM = 256;
/** Values of a document; those that an alias repeats count each time. */
export const YAML_VALUES_MAXIMUM = 250_000;
/** Bytes of all strings of a document; those that an alias repeats count each time. */
export const YAML_TEXT_BYTES_MAXIMUM = 16_777_216;

/** The document cannot be converted to JSON. */
class YamlFault extends Error {
  readonly refusal: YamlRefusal;

  constructor(reason: string, path?: readonly (string | number)[], more: Omit<YamlRefusal, "reason" | "path"> = {}) {
    super(reason);
    this.refusal = { reason, ...path === undefined ? {} : { path: formatPath(path) }, ...more };
  }
}

interface Conversion {
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Alias, unknown>;
  /** Nodes that contain the current one: an alias to one of them would recurse endlessly. */
  readonly around: Set<unknown>;
  readonly path: (string | number)[];
  readonly rounded: NumberRounded | null;
  values: number;
  bytes: number;
}

/** Receives the path of each number that no double keeps exactly, and that is rounded. */
export type NumberRounded = (path: string) => void;

/** Why a text is not such a document. */
export interface YamlRefusal {
  readonly reason: string;
  readonly path?: string;
  /** UTF-16 code units before the place. */
  readonly offset?: number;
  /** What the parser reports; it may quote the text. */
  readonly quoting?: string;
}

/**
 * Reads YAML. The error `invalid_yaml` states reason and path or offset, and quotes no value of the document.
 *
 * @param rounded Without it, a number that no double keeps exactly is an error
 */
export function readYamlDocument(
  bytes: Uint8Array,
  origin: Origin,
  rounded: NumberRounded | null = null,
): Document {
  const text = decodeUtf8Strict(bytes);
  if (text === null) return invalidDocument("invalid_yaml", origin, { reason: "not_utf8" });
  const read = readYaml(text, rounded);
  if ("document" in read) return { document: read.document };
  const { quoting: _, ...details } = read.refusal;
  return invalidDocument("invalid_yaml", origin, details);
}

/** Reads YAML as {@link readYamlDocument} does; a refusal has the words of the parser. */
export function readYaml(
  text: string,
  rounded: NumberRounded | null,
): { readonly document: JsonValue; readonly yaml: YamlDocument.Parsed } | { readonly refusal: YamlRefusal } {
  try {
    boundTokens(text);
    const yaml = parse(text);
    const targets = linkAliases(yaml.contents);
    const conversion: Conversion = { targets, around: new Set(), path: [], rounded, values: 0, bytes: 0 };
    return { document: convert(conversion, yaml.contents), yaml };
  } catch (error) {
    if (error instanceof YamlFault) return { refusal: error.refusal };
    // The parser's stack overflows before a depth limit could be checked.
    if (error instanceof RangeError) return { refusal: { reason: "depth_exceeded" } };
    throw error;
  }
}

function boundTokens(text: string): void {
  let tokens = 0;
  let brackets = 0;
  let indicators = 0;
  let isMarked = false;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    if (tokens > YAML_TOKENS_MAXIMUM) throw new YamlFault("too_many_tokens");
    // The text of a scalar may look like any token.
    const type = isMarked ? "scalar" : CST.tokenType(token);
    isMarked = !isMarked && token === CST.SCALAR;
    if (type === "flow-seq-start" || type === "flow-map-start") brackets += 1;
    else if (type === "flow-seq-end" || type === "flow-map-end") brackets = Math.max(0, brackets - 1);
    else if (type === "flow-error-end") brackets = 0;
    else if (type === "newline") indicators = 0;
    else if (brackets === 0 && INDICATORS.has(type)) indicators += 1;
    if (brackets + indicators > YAML_NESTING_MAXIMUM) throw new YamlFault("depth_exceeded");
  }
}

/** Outside of brackets each opens a collection inside that of the one before it in its line. */
const INDICATORS: ReadonlySet<CST.TokenType | "scalar" | null> = new Set([
  "seq-item-ind",
  "explicit-key-ind",
  "map-value-ind",
]);

function parse(text: string): YamlDocument.Parsed {
  const yaml = parseYaml(text, { strict: true, logLevel: "error" });
  // A warning is an unknown tag: the meaning of its value is unknown too.
  const [fault] = [...yaml.errors, ...yaml.warnings];
  if (fault !== undefined) {
    const reason = fault.code === "RESOURCE_EXHAUSTION" ? "depth_exceeded" : fault.code.toLowerCase();
    throw new YamlFault(reason, undefined, { offset: fault.pos[0], quoting: fault.message });
  }
  // Other versions read the same text as different values.
  if (yaml.directives.yaml.version !== "1.2") throw new YamlFault("version_unsupported");
  return yaml;
}

function convert(conversion: Conversion, node: unknown): JsonValue {
  const { path, around } = conversion;
  conversion.values += 1;
  if (conversion.values > YAML_VALUES_MAXIMUM) throw new YamlFault("too_many_values", path);
  if (node === null || node === undefined) return null;
  if (isAlias(node)) return convert(conversion, resolveAlias(conversion, node));
  if (isScalar(node)) return convertScalar(conversion, node);
  if (!isMap(node) && !isSeq(node)) throw new YamlFault("unknown_node", path);
  if (around.has(node)) throw new YamlFault("alias_of_itself", path);
  if (around.size >= INPUT_DEPTH_LIMIT) throw new YamlFault("depth_exceeded", path);
  around.add(node);
  const value = isMap(node) ? convertMap(conversion, node.items) : node.items.map((item, index) => {
    path.push(index);
    const converted = convert(conversion, item);
    path.pop();
    return converted;
  });
  around.delete(node);
  return value;
}

/** Maps each alias to the last node before it with its anchor, in one pass; the package makes one pass for each alias. */
function linkAliases(contents: unknown): ReadonlyMap<Alias, unknown> {
  const anchors = new Map<string, unknown>();
  const targets = new Map<Alias, unknown>();
  const visit = (node: unknown): void => {
    if (isAlias(node)) {
      if (anchors.has(node.source)) targets.set(node, anchors.get(node.source));
      return;
    }
    if ((isScalar(node) || isMap(node) || isSeq(node)) && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isSeq(node)) node.items.forEach(visit);
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        visit(key);
        visit(value);
      }
    }
  };
  visit(contents);
  return targets;
}

function resolveAlias({ targets, path }: Conversion, alias: Alias): unknown {
  const node = targets.get(alias);
  if (node === undefined) throw new YamlFault("alias_unresolved", path);
  return node;
}

function convertMap(conversion: Conversion, items: readonly { key: unknown; value: unknown }[]): JsonValue {
  const { path } = conversion;
  const members = new Map<string, JsonValue>();
  for (const { key, value } of items) {
    const name = nameOf(conversion, key);
    path.push(name);
    if (members.has(name)) throw new YamlFault("duplicate_name", path);
    members.set(name, convert(conversion, value));
    path.pop();
  }
  // Object.fromEntries defines members, so `__proto__` is an ordinary name.
  return Object.fromEntries(members);
}

/** A member's name: a string, or the source text of a number or boolean. */
function nameOf(conversion: Conversion, key: unknown): string {
  const node = isAlias(key) ? resolveAlias(conversion, key) : key;
  if (!isScalar(node)) throw new YamlFault("name_not_scalar", conversion.path);
  if (typeof node.value === "string") return countText(conversion, node.value);
  const isPlain = typeof node.value === "number" || typeof node.value === "boolean";
  if (isPlain && typeof node.source === "string") return countText(conversion, node.source);
  throw new YamlFault("name_not_scalar", conversion.path);
}

function convertScalar(conversion: Conversion, node: { value: unknown; source?: string | undefined }): JsonValue {
  const { value } = node;
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return countText(conversion, value);
  if (typeof value === "number" && node.source !== undefined && isKept(node.source, value)) return value;
  if (Number.isFinite(value) && conversion.rounded !== null) {
    conversion.rounded(formatPath(conversion.path));
    return value as number;
  }
  throw new YamlFault(typeof value === "number" ? "number_not_exact" : "value_not_json", conversion.path);
}

function countText(conversion: Conversion, text: string): string {
  if (!text.isWellFormed()) throw new YamlFault("lone_surrogate", conversion.path);
  conversion.bytes += utf8Length(text);
  if (conversion.bytes > YAML_TEXT_BYTES_MAXIMUM) throw new YamlFault("too_much_text", conversion.path);
  return text;
}

/** Whether a double equals the written number exactly: decimal, hexadecimal `0x`, octal `0o`. */
function isKept(source: string, value: number): boolean {
  if (!Number.isFinite(value)) return false;
  if (/^[-+]?0[xo]/.test(source)) {
    const integer = BigInt(source.replace(/^[-+]/, ""));
    return isExactNumber(integer.toString()) && Math.abs(value) === Number(integer);
  }
  return isExactNumber(source.replace(/^\+/, ""));
}
