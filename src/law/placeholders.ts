/**
 * Placeholders in the params of bindings: `{"$parameter": ID}` and `{"$template": URL}` (docs/format/scenario_law.md,
 * "Parameters"). They are placeholders in a law with parameters only; in other laws they are plain JSON.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { below, type JsonPath } from "../canonical/path.ts";
import { quote } from "./suggest.ts";

const PARAMETER = "$parameter";
const TEMPLATE = "$template";

/** A value of params that a run replaces. */
export type Placeholder =
  | { readonly kind: "parameter"; readonly parameters: readonly [string] }
  | { readonly kind: "template"; readonly parameters: readonly string[]; readonly template: Template };

/** A URL template: literals and parameter ids by turns, a literal first and last. */
export interface Template {
  readonly literals: readonly string[];
  readonly parameters: readonly string[];
}

// RFC 6570, 2.1, less the characters that are no part of a URL (RFC 3986) and the apostrophe.
const LITERAL = "(?:[A-Za-z0-9._~:/?#@!$&()*+,;=\\[\\]-]|%[0-9A-Fa-f]{2})*";
const NAME = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*";
const TEMPLATE_FORM = new RegExp(`^${LITERAL}(?:\\{${NAME}\\}${LITERAL})*$`);
const NAME_FORM = new RegExp(`^\\{${NAME}\\}$`);
const EXPRESSION = /\{([^{}]*)\}/g;
// Scheme and authority, up to the path, query or fragment.
const ORIGIN = /^https?:\/\/[^/?#{}]+(?=[/?#]|$)/;

/**
 * Reads a URL template of RFC 6570, level 1. Scheme and authority hold no expression, so no value of a run chooses the
 * host.
 *
 * @returns The template, or the fault
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readTemplate } from "@/law/placeholders.ts";
 *
 * assert.deepEqual(readTemplate("https://ci.example/{commit}/status"), {
 *   literals: ["https://ci.example/", "/status"],
 *   parameters: ["commit"],
 * });
 * assert.equal(typeof readTemplate("https://{host}/status"), "string");
 * ```
 */
export function readTemplate(text: string): Template | string {
  if (!ORIGIN.test(text)) {
    return `Expected a template that begins with "http://" or "https://" and a host without an expression, got ${
      quote(text)
    }`;
  }
  const wrong = text.match(/\{[^{}]*\}/g)?.find((expression) => !NAME_FORM.test(expression));
  if (wrong !== undefined) {
    return `Expected expressions {parameter_id} of ASCII letters, digits, "_", "%" with two hex digits, and single dots ` +
      `between these (RFC 6570, level 1), got ${quote(wrong)}`;
  }
  if (!TEMPLATE_FORM.test(text)) {
    return `Expected a URL whose expressions are {parameter_id} (RFC 6570, level 1), got ${quote(text)}`;
  }
  const parts = text.split(EXPRESSION);
  return {
    literals: parts.filter((_, index) => index % 2 === 0),
    parameters: parts.filter((_, index) => index % 2 === 1),
  };
}

/**
 * Reads an object as a placeholder.
 *
 * @returns The placeholder; null for any other object; the fault of an object that has a placeholder's member and is
 * no placeholder
 */
export function readPlaceholder(value: JsonObject): Placeholder | string | null {
  const name = Object.hasOwn(value, PARAMETER) ? PARAMETER : Object.hasOwn(value, TEMPLATE) ? TEMPLATE : null;
  if (name === null) return null;
  const given = member(value, name);
  if (typeof given !== "string" || Object.keys(value).length > 1) {
    return `Expected an object with the only member "${name}", a string`;
  }
  if (name === PARAMETER) return { kind: "parameter", parameters: [given] };
  const template = readTemplate(given);
  return typeof template === "string" ? template : { kind: "template", parameters: template.parameters, template };
}

/** Visits the placeholders of params with their paths. An object that only resembles one is visited as its fault. */
export function eachPlaceholder(
  params: JsonValue,
  path: JsonPath,
  visit: (placeholder: Placeholder | string, path: JsonPath) => void,
): void {
  if (isJsonArray(params)) {
    params.forEach((item, index) => eachPlaceholder(item, below(path, index), visit));
    return;
  }
  if (!isJsonObject(params)) return;
  const placeholder = readPlaceholder(params);
  if (placeholder !== null) {
    visit(placeholder, path);
    return;
  }
  for (const [name, value] of Object.entries(params)) eachPlaceholder(value, below(path, name), visit);
}
/** Whether params hold a placeholder. */
export function hasPlaceholder(params: JsonValue): boolean {
  let found = false;
  eachPlaceholder(params, null, () => found = true);
  return found;
}

/** Params with every placeholder replaced; all other values are shared with the given params. */
export function replacePlaceholders(
  params: JsonValue,
  replacementOf: (placeholder: Placeholder) => JsonValue,
): JsonValue {
  if (isJsonArray(params)) return params.map((item) => replacePlaceholders(item, replacementOf));
  if (!isJsonObject(params)) return params;
  const placeholder = readPlaceholder(params);
  if (typeof placeholder === "string") throw new TypeError(`Cannot resolve params: ${placeholder}`);
  if (placeholder !== null) return replacementOf(placeholder);
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [name, replacePlaceholders(value, replacementOf)]),
  );
}
