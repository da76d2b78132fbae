/**
 * The pages of the site from the tree: Markdown as HTML, and the files and folders that pages link to. Every page has the
 * path of its file, so relative links keep their form.
 *
 * @module
 */

import { posix } from "node:path";
import { Marked, type Token, type Tokens } from "npm:marked@18.2.1";
import { element, type Markup } from "../../src/runpack/view/markup.ts";
import { ROOT_URL } from "../checks/tree.ts";
import { pictureSize } from "./pictures.ts";

/** What a page links to, beside other pages. */
export interface LinkedFile {
  readonly path: string;
  readonly kind: "folder" | "page" | "picture" | "source";
}

/** A section for the search. */
export interface SiteSection {
  readonly address: string;
  readonly heading: string;
  readonly parent: string;
  readonly title: string;
  readonly content: string;
}

/** A page of the site. */
export interface SitePage {
  /** The path of its file in the tree. */
  readonly path: string;
  readonly kind: "folder" | "page" | "source";
  readonly title: string;
  readonly body: Markup;
  readonly linked: readonly LinkedFile[];
  readonly sections: readonly SiteSection[];
}

/** The address of a page, from the root of the site. */
export function addressOf(path: string, kind: SitePage["kind"] = "page"): string {
  if (kind === "folder") return `${path}/index.html`;
  if (kind === "source") return `${path}.html`;
  return path.replace(/(^|\/)README\.md$/, "$1index.html").replace(/\.md$/, ".html");
}

const PICTURE = /\.(svg|png)$/;

/** A picture in a page. It is loaded when a reader comes near, and its place has its size before. */
function picture(page: string, href: string, alt: string): Markup {
  const path = posix.join(posix.dirname(addressOf(page)), href);
  const { width, height } = pictureSize(path, Deno.readFileSync(new URL(path, ROOT_URL)));
  return element("img", { src: href, alt, width, height, loading: "lazy" });
}

/** The anchor of each heading of a page, as other renderers of Markdown derive it. */
function anchors(): (heading: string) => string {
  const used = new Set<string>();
  return (heading) => {
    const slug = heading.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; used.has(anchor); count += 1) anchor = `${slug}-${count}`;
    used.add(anchor);
    return anchor;
  };
}

/** A page from its Markdown. */
export function readPage(path: string, text: string, texts: ReadonlyMap<string, string>): SitePage {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const linked = new Map<string, LinkedFile>();
  const follow = (href: string): string => followLink(path, href, texts, linked);
  marked.walkTokens(tokens, (token) => {
    if (token.type === "link" || token.type === "image") token.href = follow(token.href);
  });
  const anchorOf = anchors();
  const identify = new Map<Token, string>();
  for (const token of tokens) if (token.type === "heading") identify.set(token, anchorOf(token.text));
  marked.use({
    renderer: {
      heading(token: Tokens.Heading): string {
        const anchor = identify.get(token);
        const id = anchor === undefined ? "" : ` id="${anchor}"`;
        return `<h${token.depth}${id}>${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
      },
      image: ({ href, text }: Tokens.Image): string => picture(path, href, text).markup,
    },
  });
  const html = marked.parser(tokens)
    .replaceAll("<table>", '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", '<pre tabindex="0">');
  const title = plain(tokens.find((token) => token.type === "heading")?.raw ?? path);
  return {
    path,
    kind: "page",
    title,
    body: { markup: html },
    linked: [...linked.values()],
    sections: sectionsOf(addressOf(path), title, tokens, identify),
  };
}

function plain(markdown: string): string {
  return markdown.replace(/^#+ +/, "").replace(/[`*]|(?<!\w)_|_(?!\w)/g, "").trim();
}

/** The sections of a page: the text under each heading of the first three levels. */
function sectionsOf(
  address: string,
  title: string,
  tokens: readonly Token[],
  anchorsByToken: ReadonlyMap<Token, string>,
): readonly SiteSection[] {
  const sections: { address: string; heading: string; parent: string; title: string; content: string }[] = [];
  let chapter = "";
  for (const token of tokens) {
    if (token.type === "heading" && token.depth <= 3) {
      const heading = plain(token.raw);
      if (token.depth === 2) chapter = heading;
      const parent = token.depth === 3 ? chapter : "";
      sections.push({ address: `${address}#${anchorsByToken.get(token)}`, heading, parent, title, content: "" });
    } else {
      const last = sections.at(-1);
      if (last !== undefined) last.content += token.raw;
    }
  }
  return sections.map((section) => ({ ...section, content: section.content.trim() }));
}

/** A link of the tree as one of the site. */
function followLink(
  path: string,
  href: string,
  texts: ReadonlyMap<string, string>,
  linked: Map<string, LinkedFile>,
): string {
  if (href.startsWith("#") || /^[a-z][a-z0-9+.-]*:/.test(href)) return href;
  const [target = "", anchor] = href.split("#");
  const file = posix.normalize(posix.join(posix.dirname(path), target)).replace(/\/$/, "");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  const to = (address: string): string =>
    `${posix.relative(posix.dirname(addressOf(path)), address) || posix.basename(address)}${hash}`;
  const page = texts.has(file) ? file : `${file}/README.md`;
  if (page.endsWith(".md") && texts.has(page)) {
    linked.set(page, { path: page, kind: "page" });
    return to(addressOf(page));
  }
  const kind = !texts.has(file) ? "folder" : PICTURE.test(file) ? "picture" : "source";
  linked.set(file, { path: file, kind });
  return to(kind === "picture" ? file : addressOf(file, kind));
}

/** A page that shows a file of the tree. */
export function sourcePage(path: string, text: string): SitePage {
  const body = [element("h1", {}, path), element("pre", { tabindex: 0 }, element("code", {}, text))];
  return { path, kind: "source", title: path, body: { markup: body.map((one) => one.markup).join("") }, ...NOTHING };
}

/** A page that lists the files of a folder. */
export function folderPage(path: string, paths: readonly string[]): SitePage {
  const inside = paths.filter((one) => one.startsWith(`${path}/`)).map((one) => one.slice(path.length + 1));
  const items = inside.map((one) => element("li", {}, element("code", {}, one)));
  const body = [element("h1", {}, path), element("ul", {}, items)];
  return { path, kind: "folder", title: path, body: { markup: body.map((one) => one.markup).join("") }, ...NOTHING };
}

const NOTHING = { linked: [], sections: [] } as const;
