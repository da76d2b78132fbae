/**
 * Rules on the documentation: links resolve, links reach every page, blocks parse in their language, tasks and cited pages
 * exist.
 *
 * @module
 */

import { parse as parseToml } from "smol-toml";
import { lineAt, type SourceFile, type Violation } from "./source.ts";
import { pagesOf } from "./tree.ts";

/** A fenced block of a page: the language after the fence, its text, and the line of its first fence. */
export interface FencedBlock {
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** The fenced blocks of a page, in order. A fence that never closes runs to the end. */
export function readBlocks(text: string): FencedBlock[] {
  return [...text.matchAll(/^( *)(`{3,})([^\n`]*)\n([\s\S]*?)(?:^ *\2`* *$|$(?![\s\S]))/gm)].map((match) => ({
    language: (match[3] ?? "").trim().split(/\s+/)[0] ?? "",
    text: match[4] ?? "",
    line: lineAt(text, match.index),
  }));
}

/** The page without its code: fenced blocks and code spans are blank, lines stay. */
function proseOf(text: string): string {
  const blank = (code: string): string => code.replace(/[^\n]/g, " ");
  return text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?(?:^ *\2`* *$|$(?![\s\S]))/gm, blank).replace(/`[^`\n]+`/g, blank);
}

/** The anchors of a page, as renderers of Markdown derive them from its headings. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const match of text.replace(/^( *)(`{3,})[^\n]*\n[\s\S]*?^ *\2`* *$/gm, "").matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = (match[1] ?? "").toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

interface Link {
  readonly target: string;
  readonly line: number;
}

function linksOf(text: string): Link[] {
  const prose = proseOf(text);
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const named = [...prose.matchAll(/^\[[^\]]+\]:\s+(\S+)/gm)];
  return [...inline, ...named].map((match) => ({ target: match[1] ?? "", line: lineAt(prose, match.index) }));
}

/** Every relative link of a page resolves to a file or folder of the tree, and to a heading if it names one. */
export function checkLinks(files: readonly SourceFile[]): Violation[] {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  const folders = new Set(files.flatMap((file) => foldersOf(file.path)));
  return pagesOf(files).flatMap((page) =>
    linksOf(page.text).flatMap(({ target, line }) => {
      const message = linkRefusal(page.path, target, texts, folders);
      return message === null ? [] : [{ rule: "links", path: page.path, line, message }];
    })
  );
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

function linkRefusal(
  page: string,
  target: string,
  texts: ReadonlyMap<string, string>,
  folders: ReadonlySet<string>,
): string | null {
  if (/^[a-z][a-z0-9+.-]*:/.test(target)) return null;
  if (target.startsWith("/")) return `Cannot follow "${target}": links within the tree are relative`;
  const [path = "", anchor] = target.split("#");
  const resolved = path === "" ? page : new URL(path, `file:///${page}`).pathname.slice(1).replace(/\/$/, "");
  const text = texts.get(resolved);
  if (text === undefined && !folders.has(resolved)) return `Cannot follow "${target}": "${resolved}" does not exist`;
  if (anchor === undefined || !resolved.endsWith(".md")) return null;
  return anchorsOf(text ?? "").has(anchor) ? null : `Cannot follow "${target}": "${resolved}" has no such heading`;
}

/** Links from the front page or the index of the documentation reach every page. */
export function checkOrphans(files: readonly SourceFile[]): Violation[] {
  const pages = new Map(pagesOf(files).map((page) => [page.path, page]));
  const reached = new Set<string>();
  const visit = (path: string): void => {
    const page = pages.get(path);
    if (page === undefined || reached.has(path)) return;
    reached.add(path);
    for (const { target } of linksOf(page.text)) visit(new URL(target, `file:///${path}`).pathname.slice(1));
  };
  visit("README.md");
  visit("docs/README.md");
  return [...pages.keys()].filter((path) => !reached.has(path)).map((path) => ({
    rule: "orphans",
    path,
    line: 0,
    message: `Cannot find the page: no link leads to it from "docs/README.md"`,
  }));
}

/** Every fence names a language, and every block of JSON and TOML parses. */
export function checkBlocks(files: readonly SourceFile[]): Violation[] {
  return pagesOf(files).flatMap((page) =>
    readBlocks(page.text).flatMap(({ language, text, line }) => {
      const message = blockRefusal(language, text);
      return message === null ? [] : [{ rule: "blocks", path: page.path, line, message }];
    })
  );
}

function blockRefusal(language: string, text: string): string | null {
  if (language === "") return `Cannot read a block without a language: name one, or "text"`;
  const parse = language === "json" ? JSON.parse : language === "toml" ? parseToml : () => null;
  try {
    parse(text);
    return null;
  } catch (error) {
    return `Cannot parse a block of ${language}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The tasks that pages name are tasks of `deno.json`. */
export function checkTasks(files: readonly SourceFile[]): Violation[] {
  const config: unknown = JSON.parse(files.find((file) => file.path === "deno.json")?.text ?? "{}");
  const tasks = new Set(Object.keys((config as { readonly tasks?: Record<string, unknown> }).tasks ?? {}));
  return pagesOf(files).flatMap((page) =>
    [...page.text.matchAll(/\bdeno(?:@[\d.]+)? task (?!X\b)([a-z][\w:-]*)/g)]
      .filter((match) => !tasks.has(match[1] ?? ""))
      .map((match) => ({
        rule: "tasks",
        path: page.path,
        line: lineAt(page.text, match.index),
        message: `Cannot run "${match[0]}": "deno.json" has no such task`,
      }))
  );
}

/** A page that a comment of the source cites, and the quoted part after it. */
const CITATION = /(?<![\w/.-])((?:[\w-]+\/)*[\w-]+\.md)\b(?:,? "([^"\n]+)")?/g;

/** Every page that a comment of the program cites is a file of the tree, named from its root, and has the cited part. */
export function checkCitations(files: readonly SourceFile[]): Violation[] {
  const texts = new Map(files.map((file) => [file.path, file.text]));
  return files.filter(({ path }) => /^(main|src\/.*(?<!_test))\.ts$/.test(path)).flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) => {
      if (!/^\s*(\/?\*|\/\/)/.test(line)) return [];
      return [...line.matchAll(CITATION)].flatMap(([, page = "", part]) => {
        const cited = texts.get(page);
        const found = cited !== undefined && (part === undefined || hasPart(cited, part));
        const what = part === undefined || cited === undefined ? `"${page}"` : `part "${part}" of "${page}"`;
        return found ? [] : [{ rule: "citations", path, line: index + 1, message: `Cannot find ${what}` }];
      });
    })
  );
}

function hasPart(page: string, part: string): boolean {
  return page.split("\n").some((line) => line.replace(/^#+ /, "").replaceAll("**", "").trim() === part);
}

/** The rules on pages, each with the name under which it is tested on the tree. */
export const PAGE_CHECKS: readonly {
  readonly name: string;
  readonly check: (files: readonly SourceFile[]) => Violation[];
}[] = [
  { name: "links of pages lead somewhere", check: checkLinks },
  { name: "every page is reached from the index", check: checkOrphans },
  { name: "blocks of pages name their language, and JSON and TOML parse", check: checkBlocks },
  { name: "tasks that pages name exist", check: checkTasks },
  { name: "pages that comments cite exist", check: checkCitations },
];
