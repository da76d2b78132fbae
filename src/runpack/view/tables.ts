/** Tables and shortened identities of pages. */

import { type Content, element, type Markup } from "./markup.ts";

/** Digits of a shortened identity. */
const SHORT_IDENTITY = 12;

/** The first digits of an identity. */
export function shortened(identity: string): string {
  return `${identity.slice(0, SHORT_IDENTITY)}…`;
}

/** A row of a table. */
export function row(...cells: readonly Content[]): Markup {
  return element("tr", {}, cells.map((cell) => element("td", {}, cell)));
}

/** A table with a heading over each column. It scrolls by keyboard too where it is wider than the page. */
export function table(name: string, headings: readonly string[], rows: readonly Markup[]): Markup {
  const head = element("tr", {}, headings.map((heading) => element("th", { scope: "col" }, heading)));
  return element(
    "div",
    { class: "scroll", role: "group", tabindex: 0, "aria-label": name },
    element("table", {}, element("thead", {}, head), element("tbody", {}, rows)),
  );
}
