/**
 * The catalogue: the documents of a configuration, and the search over them.
 *
 * @module
 */

import type { DocsConfig } from "../config/types.ts";
import { createSearch, type DocsAnswer, type SearchDocs, SECTIONS_DEFAULT } from "./answer.ts";
import { readDocuments } from "./documents.ts";
import { splitSections } from "./sections.ts";
import type { Documents } from "./types.ts";

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
