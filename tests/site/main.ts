/**
 * `deno task site OUTPUT`: the documentation as static pages with a search and a playground. The pages work from disk,
 * and load nothing from elsewhere. The same tree gives the same bytes.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { bundleScript } from "../../src/runpack/browser/build.ts";
import { pagesOf, readTree, ROOT_URL } from "../checks/tree.ts";
import { documentOfPage, documentOfPlayground } from "./layout.ts";
import { addressOf, folderPage, type LinkedFile, readPage, sourcePage } from "./pages.ts";
import { playgroundBody } from "./playground.ts";
import { SITE_ICON, SITE_STYLE } from "./style.ts";

/** A file of the site. */
export interface SiteFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Where the scripts of the pages begin. */
const SCRIPTS = {
  "kernel.js": "src/playground/program.ts",
  "playground.js": "src/playground/page.ts",
  "search.js": "src/playground/search.ts",
};

/** Every file of the site, in the order of paths. */
export async function siteFiles(): Promise<readonly SiteFile[]> {
  const tree = await readTree();
  const texts = new Map(tree.map(({ path, text }) => [path, text]));
  const documents = pagesOf(tree).map(({ path, text }) => readPage(path, text, texts));
  const encoder = new TextEncoder();
  const file = (path: string, text: string): SiteFile => ({ path, bytes: encoder.encode(text) });
  const titles = new Map(documents.map(({ path, title }) => [path, title]));
  const pages = new Map(documents.map((page) => [page.path, page]));
  const pictures = new Set<string>();
  const follow = ({ path, kind }: LinkedFile): void => {
    if (kind === "picture") pictures.add(path);
    else if (!pages.has(path)) {
      const text = texts.get(path) ?? "";
      if (kind === "folder") pages.set(path, folderPage(path, [...texts.keys()]));
      else pages.set(path, kind === "page" ? readPage(path, text, texts) : sourcePage(path, text));
    }
  };
  // A map that grows while it is walked is walked to its end.
  for (const { linked } of pages.values()) linked.forEach(follow);
  const files = [...pages.values()].map((page) => file(addressOf(page.path, page.kind), documentOfPage(page, titles)));
  for (const path of pictures) files.push({ path, bytes: await Deno.readFile(new URL(path, ROOT_URL)) });
  const sections = documents.flatMap((page) => page.sections);
  files.push(file("search_sections.js", `globalThis.gateSections = ${scriptJson(sections)};\n`));
  files.push(file("site.css", SITE_STYLE));
  files.push(file("icon.svg", SITE_ICON));
  files.push(file("playground/index.html", documentOfPlayground(await playgroundBody(), titles)));
  for (const [name, entry] of Object.entries(SCRIPTS)) {
    const script = await bundleScript(new URL(entry, ROOT_URL));
    files.push(file(name, name === "kernel.js" ? startedTwice(script) : script));
  }
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

/** A script as a function whose text the page can hand to a worker, and that the page starts too. */
function startedTwice(script: string): string {
  return `globalThis.gateProgram = () => {\n${script}};\ngateProgram();\n`;
}

/** JSON as an expression of a script: two separators end a line there. */
function scriptJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029");
}

/** Writes the site to a folder. It must not exist. */
export async function writeSite(output: string): Promise<readonly SiteFile[]> {
  const files = await siteFiles();
  await Deno.mkdir(output);
  for (const { path, bytes } of files) {
    await Deno.mkdir(dirname(join(output, path)), { recursive: true });
    await Deno.writeFile(join(output, path), bytes, { createNew: true });
  }
  return files;
}

if (import.meta.main) {
  const [output, ...rest] = Deno.args;
  if (output === undefined || rest.length > 0) {
    console.error("Usage: deno task site OUTPUT");
    Deno.exit(2);
  }
  // Tasks run in the folder of `deno.json`.
  const files = await writeSite(resolve(Deno.env.get("INIT_CWD") ?? Deno.cwd(), output));
  const bytes = files.reduce((total, file) => total + file.bytes.length, 0);
  console.log(`${files.length} files, ${(bytes / 1e6).toFixed(1)} MB; open ${join(output, "index.html")}`);
}
