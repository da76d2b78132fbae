/**
 * The document around each page of the site: navigation by shelves, search, and the page.
 *
 * @module
 */

import { posix } from "node:path";
import { all, type Content, element, type Markup } from "../../src/runpack/view/markup.ts";
import { addressOf, type SitePage } from "./pages.ts";

/** The shelves of the documentation, with the pages and folders that stand on each. */
const SHELVES: readonly { readonly name: string; readonly holds: readonly string[] }[] = [
  { name: "Guide", holds: ["README.md", "docs/README.md", "docs/guide/", "docs/examples/"] },
  { name: "Reference", holds: ["docs/reference/"] },
  { name: "Specification", holds: ["docs/format/"] },
  {
    name: "Design",
    holds: ["docs/design/", "docs/decisions/", "docs/contributing/", "docs/CONTRIBUTING.md", "docs/"],
  },
];

/** Neither loads nor runs anything from elsewhere. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; " +
  "form-action 'none'";

/** The pages of each shelf. A page stands on the first shelf that holds it. */
export function shelvesOf(
  paths: readonly string[],
): readonly { readonly name: string; readonly paths: readonly string[] }[] {
  const left = new Set(paths);
  return SHELVES.map(({ name, holds }) => {
    const own = holds.flatMap((held) =>
      [...left].filter((path) => held.endsWith("/") ? path.startsWith(held) : path === held).sort(byDepth)
    );
    const standing = [...new Set(own)];
    standing.forEach((path) => left.delete(path));
    return { name, paths: standing };
  });
}

/** Pages of a folder before those of the folders below it; the index of a folder first. */
function byDepth(a: string, b: string): number {
  const key = (path: string): string => {
    const name = posix.basename(path);
    const folder = posix.dirname(path);
    return `${folder}/${name === "README.md" ? " " : ""}${name}`;
  };
  return key(a) < key(b) ? -1 : 1;
}

/** A page of the documentation. */
export function documentOfPage(page: SitePage, titles: ReadonlyMap<string, string>): string {
  const address = addressOf(page.path, page.kind);
  return documentAt(address, page.title, element("article", {}, page.body), titles, []);
}

/** The playground. */
export function documentOfPlayground(body: Markup, titles: ReadonlyMap<string, string>): string {
  return documentAt("playground/index.html", "Playground", body, titles, ["kernel.js", "playground.js"]);
}

function documentAt(
  address: string,
  title: string,
  body: Markup,
  titles: ReadonlyMap<string, string>,
  scripts: readonly string[],
): string {
  const root = "../".repeat(address.split("/").length - 1);
  // The playground starts a worker from a text that the page holds, under the same policy.
  const policy = scripts.length === 0 ? POLICY : `${POLICY}; worker-src blob:`;
  const head = element(
    "head",
    {},
    element("meta", { charset: "utf-8" }),
    element("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    element("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    element("meta", { name: "referrer", content: "no-referrer" }),
    element("meta", { name: "color-scheme", content: "light dark" }),
    element("title", {}, title === "gate" ? "gate" : `${title} · gate`),
    element("link", { rel: "stylesheet", href: `${root}site.css` }),
    element("link", { rel: "icon", type: "image/svg+xml", href: `${root}icon.svg` }),
  );
  const content = element(
    "body",
    { class: "gate-graph" },
    element("a", { class: "skip", href: "#content" }, "Skip to the page"),
    header(root),
    element(
      "div",
      { class: "columns" },
      navigation(address, root, titles),
      element("main", { id: "content" }, body),
    ),
    ["search.js", ...scripts].map((name) => element("script", { src: `${root}${name}` })),
  );
  return `<!doctype html>\n${element("html", { lang: "en", "data-root": root }, head, content).markup}\n`;
}

function header(root: string): Markup {
  return element(
    "header",
    {},
    element("a", { class: "name", href: `${root}index.html` }, "gate"),
    element("a", { href: `${root}playground/index.html` }, "Playground"),
    element(
      "search",
      {},
      element("label", { for: "search" }, "Search "),
      element("input", { id: "search", type: "search", autocomplete: "off", spellcheck: "false" }),
      element("div", { id: "results", "aria-live": "polite" }),
    ),
  );
}

function navigation(address: string, root: string, titles: ReadonlyMap<string, string>): Markup {
  const item = (path: string): Content => {
    const to = addressOf(path);
    const current = to === address ? { "aria-current": "page" } : {};
    return element("li", {}, element("a", { href: `${root}${to}`, ...current }, titles.get(path) ?? path));
  };
  const shelves = shelvesOf([...titles.keys()]).map(({ name, paths }) => {
    const isOpen = paths.some((path) => addressOf(path) === address);
    return element(
      "details",
      isOpen ? { open: "" } : {},
      element("summary", {}, name),
      element("ul", {}, paths.map(item)),
    );
  });
  return element("nav", { "aria-label": "Documentation" }, all(...shelves));
}
