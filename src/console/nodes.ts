/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Builds the nodes of the page. Text enters as text alone: no function of the console parses HTML. Invisible characters
 * and direction marks are written out, so that no text looks like another one.
 *
 * @module
 */

import { type Markup, visible } from "../runpack/view/markup.ts";

/** The content of an element; null and false add nothing. */
export type Content = Node | string | null | false | readonly Content[];

/** Attributes, `on` listeners and properties of an element. */
export interface Attributes {
  readonly [name: string]: string | number | boolean | null | ((event: Event) => void);
}

/** Adds content to a node. */
export function append(parent: Node, ...content: readonly Content[]): void {
  for (const one of content) {
    if (one === null || one === false) continue;
    if (typeof one === "string") parent.appendChild(document.createTextNode(visible(one)));
    else if (one instanceof Node) parent.appendChild(one);
    else append(parent, ...one);
  }
}

/** Attributes that readers see or hear. */
const SHOWN_ATTRIBUTES = new Set(["aria-label", "title", "data-name"]);

/** An HTML element. A function is a listener: `{ click: f }`. True is an empty attribute; null and false are none. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...content: readonly Content[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(attribute, value);
    else if (value === true) element.setAttribute(attribute, "");
    else if (value !== null && value !== false) {
      element.setAttribute(attribute, SHOWN_ATTRIBUTES.has(attribute) ? visible(String(value)) : String(value));
    }
  }
  append(element, ...content);
  return element;
}

/** Elements that the views of gate's own pages use. */
const ELEMENTS = new Set(
  ("a b br caption circle code dd defs desc details div dl dt ellipse em footer g h1 h2 h3 h4 header hr i li line marker ol p " +
    "path pattern polygon polyline pre rect section small span strong summary svg table tbody td text th thead time title tr " +
    "tspan ul use").split(" "),
);
/** Attributes that neither load nor run anything. A link leads into the page alone. */
const ATTRIBUTES = /^(?!on)(?!src)(?!style$)(?!xmlns)(?!action$)(?!formaction$)[A-Za-z][A-Za-z-]*$/;
const TOKEN = /<(\/?)([a-z][a-z0-9]*)((?: [A-Za-z][A-Za-z:-]*="[^"]*")*)>|([^<]+)/y;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
const SVG = "http://www.w3.org/2000/svg";

function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}

/**
 * The nodes of markup of gate's own views. It reads the subset of HTML that they write, and creates known elements with
 * harmless attributes; anything else is an error.
 *
 * @throws {TypeError} If the markup has anything else
 */
export function nodesOf({ markup }: Markup): DocumentFragment {
  const root = document.createDocumentFragment();
  const open: (DocumentFragment | Element)[] = [root];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < markup.length) {
    const match = TOKEN.exec(markup);
    if (match === null) throw new TypeError("Cannot show the view: its markup is not of the expected form");
    const [, slash, name = "", attributes = "", text] = match;
    const parent = open.at(-1) ?? root;
    if (text !== undefined) parent.appendChild(document.createTextNode(decode(text)));
    else if (slash === "/") open.pop();
    else {
      const element = elementOf(name, attributes, parent);
      parent.appendChild(element);
      if (name !== "br" && name !== "hr") open.push(element);
    }
  }
  return root;
}

function elementOf(name: string, attributes: string, parent: Node): Element {
  if (!ELEMENTS.has(name)) throw new TypeError(`Cannot show the view: unexpected element "${name}"`);
  const isSvg = name === "svg" || parent instanceof SVGElement;
  const element = isSvg ? document.createElementNS(SVG, name) : document.createElement(name);
  for (const [, attribute = "", value = ""] of attributes.matchAll(/ ([A-Za-z][A-Za-z:-]*)="([^"]*)"/g)) {
    const decoded = decode(value);
    const isLocal = attribute !== "href" || decoded.startsWith("#");
    if (ATTRIBUTES.test(attribute) && isLocal) element.setAttribute(attribute, decoded);
  }
  return element;
}
