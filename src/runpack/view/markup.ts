/** Well-formed, escaped markup: text enters only through {@link text} and attributes. */

/** Finished markup; only the functions of this module create it. */
export interface Markup {
  readonly markup: string;
}

/** The content of an element. A string is text. */
export type Content = Markup | string | readonly Content[];

/** Attributes of an element; null omits one. */
export type Attributes = Readonly<Record<string, string | number | null>>;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Characters that are invisible or that change the direction of text: controls, direction marks, and what Unicode lets
 * programs leave out, such as variation selectors, tags and Hangul fillers.
 */
const UNSEEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2800\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

/** Writes out invisible characters and direction marks. */
export function visible(value: string): string {
  return value.replace(UNSEEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`);
}

function escape(value: string): string {
  return visible(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function join(content: Content): string {
  if (typeof content === "string") return escape(content);
  return "markup" in content ? content.markup : content.map(join).join("");
}

/** Joins pieces of markup and texts. Texts are escaped, with invisible characters and direction marks written out. */
export function all(...content: readonly Content[]): Markup {
  return { markup: content.map(join).join("") };
}

const VOID = new Set(["meta", "link", "br", "hr", "input", "path", "rect", "circle"]);

/**
 * An element.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { element } from "@/runpack/view/markup.ts";
 *
 * assert.equal(element("p", { title: '"' }, "a < b").markup, '<p title="&quot;">a &lt; b</p>');
 * ```
 */
export function element(name: string, attributes: Attributes = {}, ...content: readonly Content[]): Markup {
  const given = Object.entries(attributes).flatMap(([attribute, value]) =>
    value === null ? [] : [` ${attribute}="${escape(String(value))}"`]
  );
  const open = `<${name}${given.join("")}>`;
  return { markup: VOID.has(name) && content.length === 0 ? voided(name, open) : `${open}${join(content)}</${name}>` };
}

/** SVG elements need an end tag, HTML elements do not. */
function voided(name: string, open: string): string {
  return name === "path" || name === "rect" || name === "circle" ? `${open}</${name}>` : open;
}

/** A style sheet. Its text must be the program's own, and hold nothing of a pack. */
export function styleElement(sheet: string): Markup {
  return { markup: `<style>${sheet}</style>` };
}

/**
 * A script. Its text is the program's own bundle.
 *
 * @throws {TypeError} If a parser would end the element early or change the text
 */
export function scriptElement(script: string): Markup {
  // A parser replaces carriage returns and NUL, so the hash in the policy would not match.
  if (/<\/script|<!--|[\r\0]/i.test(script)) {
    throw new TypeError("Cannot inline the script: it would not be read as it is written");
  }
  return { markup: `<script>${script}</script>` };
}
