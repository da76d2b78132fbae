/**
 * Markup that is well formed and escaped by the way it is made: text only ever enters through {@link text} and attributes.
 *
 * @module
 */

/** A piece of finished markup; nothing but the functions of this module makes one. */
export interface Markup {
  readonly markup: string;
}

/** What an element may hold. A string is text. */
export type Content = Markup | string | readonly Content[];

/** Attributes of an element; null leaves one out. */
export type Attributes = Readonly<Record<string, string | number | null>>;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What changes how text beside it is read, or cannot be seen: controls, and marks of direction. */
// deno-lint-ignore no-control-regex
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** A text whose characters that cannot be seen, or that turn the direction of text, are written out. */
export function visible(value: string): string {
  return value.replace(UNSEEN, (unit) => `\\u{${unit.charCodeAt(0).toString(16)}}`);
}

function escape(value: string): string {
  return visible(value).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

function join(content: Content): string {
  if (typeof content === "string") return escape(content);
  return "markup" in content ? content.markup : content.map(join).join("");
}

/** Text, escaped; characters that cannot be seen, or turn the direction of what follows, are written out. */
export function text(value: string): Markup {
  return { markup: escape(value) };
}

/** Several pieces one after the other. */
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

/** Elements of SVG are closed, those of HTML need not be. */
function voided(name: string, open: string): string {
  return name === "path" || name === "rect" || name === "circle" ? `${open}</${name}>` : open;
}

/** A style sheet. The text is the program's own: nothing of a pack may be in it. */
export function styleElement(sheet: string): Markup {
  return { markup: `<style>${sheet}</style>` };
}

/**
 * A script. The text is the program's own, as it was bundled.
 *
 * @throws {TypeError} Where it would end its own element, or be read otherwise than it is written
 */
export function scriptElement(script: string): Markup {
  // A parser changes carriage returns and zero characters, and the hash in the policy would no longer be that of the script.
  if (/<\/script|<!--|[\r\0]/i.test(script)) {
    throw new TypeError("Cannot inline the script: it would not be read as it is written");
  }
  return { markup: `<script>${script}</script>` };
}
