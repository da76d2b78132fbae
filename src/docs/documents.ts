/**
 * Reading the documents that a configuration names: those of the service, then those of the operator, which alone have limits.
 *
 * @module
 */

import { utf8Length } from "../canonical/utf8.ts";
import type { DocsConfig } from "../config/types.ts";
import { DEFAULT_DOCS, type DefaultDoc } from "./default_docs.ts";
import { readExtraDocs } from "./extra_docs.ts";
import { type Doc, type DocPage, DOCS_PREFIX, DocsError, type Documents } from "./types.ts";

/** The folder that the paths of {@link DEFAULT_DOCS} start from. */
const DOCS_FOLDER = new URL("../../docs/", import.meta.url);

/**
 * Reads every document.
 *
 * @throws {DocsError} When a path of `docs.extra_paths` is not there
 */
export async function readDocuments(config: DocsConfig): Promise<Documents> {
  if (!config.enabled) return { docs: [], warnings: [] };
  const defaults = config.include_default_docs ? await Promise.all(DEFAULT_DOCS.map(readDefault)) : [];
  const extra = await readExtraDocs(config, defaults);
  if (extra.problems.length > 0) throw new DocsError(extra.problems);
  return { docs: [...defaults, ...extra.docs], warnings: extra.warnings };
}

async function readDefault({ files, suffix, ...named }: DefaultDoc): Promise<Doc> {
  const pages = await Promise.all(files.map(readPage));
  const text = joinPages(pages);
  return { ...named, uri: DOCS_PREFIX + suffix, text, bytes: utf8Length(text), pages: pages.slice(1) };
}

/** A page of Markdown, or an example: a file that is called after its folder and stands as a block of code. */
async function readPage(file: string): Promise<DocPage> {
  const text = await Deno.readTextFile(new URL(file, DOCS_FOLDER));
  const [folder = "", name = "", ending = ""] = /([^/]+)\/([^/.]+)\.([a-z]+)$/.exec(`docs/${file}`)?.slice(1) ?? [];
  if (ending === "md") return { name, text };
  return { name: folder, text: `# ${folder}\n\n\`\`\`${ending}\n${text.trimEnd()}\n\`\`\`\n` };
}

/** One document of several pages: the first stands as it is, each of the others becomes one section of it. */
function joinPages([first, ...others]: readonly DocPage[]): string {
  const asSection = (text: string): string => text.replace(/^## /gm, "#### ").replace(/^# /gm, "## ");
  return [first?.text ?? "", ...others.map(({ text }) => asSection(text))].join("\n");
}
