import type { DocsConfig } from "../config/types.ts";
import { createSearch, type DocsAnswer, type SearchDocs, SECTIONS_DEFAULT } from "./answer.ts";
import { splitSections, titleOf } from "./sections.ts";
import { type Doc, type DocPage, DOCS_PREFIX, DocsError, type Documents } from "./types.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { DEFAULT_DOCS, type DefaultDoc } from "./default_docs.ts";
import { readExtraDocs } from "./extra_docs.ts";

/** The base of the paths of {@link DEFAULT_DOCS}. */
const DOCS_FOLDER = new URL("../../docs/", import.meta.url);

/**
 * Reads every document.
 *
 * @throws {DocsError} When a path of `docs.extra_paths` does not exist or cannot be read
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
  return {
    doc_id: suffix.replace(/[-/]/g, "_"),
    doc_title: titleOf(text) ?? suffix,
    ...named,
    uri: DOCS_PREFIX + suffix,
    text,
    bytes: utf8Length(text),
    pages: pages.slice(1),
  };
}

/** A page of Markdown, or an example: a block of code that is named after the folder of its file. */
async function readPage(file: string): Promise<DocPage> {
  const text = await Deno.readTextFile(new URL(file, DOCS_FOLDER));
  const [folder = "", name = "", ending = ""] = /([^/]+)\/([^/.]+)\.([a-z]+)$/.exec(`docs/${file}`)?.slice(1) ?? [];
  if (ending === "md") return { name, text };
  return { name: folder, text: `# ${folder}\n\n\`\`\`${ending}\n${text.trimEnd()}\n\`\`\`\n` };
}

/** One document of several pages: the first page is unchanged, and each further page becomes one section. */
function joinPages([first, ...others]: readonly DocPage[]): string {
  const asSection = (text: string): string => text.replace(/^## /gm, "#### ").replace(/^# /gm, "## ");
  return [first?.text ?? "", ...others.map(({ text }) => asSection(text))].join("\n");
}

/** The documents, with a search. */
export interface Catalogue extends Documents {
  /**
   * Searches the documents. In one process, the same query always has the same answer.
   *
   * @param maximumSections The number of sections that the caller requests, at least 1; `docs.max_sections` limits it
   */
  readonly search: (query: string, maximumSections?: number) => DocsAnswer;
}

/**
 * Reads the documents that a configuration names. The first search splits and indexes them.
 *
 * @throws {DocsError} When a path of `docs.extra_paths` does not exist or cannot be read
 */
export async function openCatalogue(config: DocsConfig): Promise<Catalogue> {
  const documents = await readDocuments(config);
  let search: SearchDocs | undefined;
  return {
    ...documents,
    search: (query, maximumSections = SECTIONS_DEFAULT) => {
      search ??= createSearch(documents.docs, documents.docs.flatMap(splitSections));
      return search(query, Math.min(maximumSections, config.max_sections));
    },
  };
}
