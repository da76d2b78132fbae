/// <reference lib="dom" />
/**
 * The search of the documentation site, over sections in a script beside it that is loaded with the first use.
 *
 * @module
 */

import { createSearchIndex, type IndexedText, type SearchIndex } from "../docs/search_index.ts";
import { element } from "../runpack/view/markup.ts";

/** A section, with the address of its page from the root of the site. */
interface SearchedSection extends IndexedText {
  readonly address: string;
}

/** Characters of a section that a result shows. */
const EXCERPT_CHARACTERS = 160;
const RESULTS = 12;

const input = document.getElementById("search");
const results = document.getElementById("results");
/** The path from this page to the root of the site. */
const root = document.documentElement.dataset["root"] ?? "";

let loading: Promise<{ readonly sections: readonly SearchedSection[]; readonly index: SearchIndex }> | null = null;

function load(): NonNullable<typeof loading> {
  return loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${root}search_sections.js`;
    script.onload = () => {
      const { gateSections } = globalThis as unknown as { readonly gateSections: readonly SearchedSection[] };
      resolve({ sections: gateSections, index: createSearchIndex(gateSections) });
    };
    script.onerror = () => reject(new Error("Cannot load the index"));
    document.head.append(script);
  });
}

/** Markdown without its marks: the texts of links, and no rules of tables. */
function plainText(markdown: string): string {
  return markdown.replace(/!?\[([^\]\n]*)\]\([^()\s]*\)/g, "$1").replace(/[`*#|]|-{3,}/g, "").replace(/\s+/g, " ")
    .trim();
}

function excerptOf(content: string, query: string): string {
  const text = plainText(content);
  const word = query.trim().split(/\s+/)[0]?.toLowerCase() ?? "";
  const from = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT_CHARACTERS / 4);
  const part = text.slice(from, from + EXCERPT_CHARACTERS);
  return `${from > 0 ? "… " : ""}${part}${from + EXCERPT_CHARACTERS < text.length ? " …" : ""}`;
}

async function search(field: HTMLInputElement, list: HTMLElement): Promise<void> {
  const query = field.value;
  if (query.trim() === "") {
    list.innerHTML = "";
    list.dataset["query"] = query;
    return;
  }
  const { sections, index } = await load();
  if (field.value !== query) return;
  const found = index.find(query, RESULTS).flatMap((at) => sections[at] ?? []);
  const items = found.map(({ address, heading, title, content }) =>
    element(
      "li",
      {},
      element("a", { href: `${root}${address}` }, heading === title ? title : `${title}: ${heading}`),
      element("p", { class: "by" }, excerptOf(content, query)),
    )
  );
  const none = element("p", { class: "note" }, `Nothing found for "${query}"`);
  list.innerHTML = items.length === 0 ? none.markup : element("ol", {}, items).markup;
  list.dataset["query"] = query;
}

if (input instanceof HTMLInputElement && results !== null) {
  input.addEventListener("input", () => void search(input, results));
  input.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    input.value = "";
    results.innerHTML = "";
  });
}
