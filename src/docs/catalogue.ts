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

/** Documents that can be searched. */
export interface Catalogue extends Documents {
  /**
   * Searches them. The same query has the same answer as long as the process lives.
   *
   * @param maximumSections What the caller asks for, at least 1; at most `docs.max_sections` are given
   */
  readonly search: (query: string, maximumSections?: number) => DocsAnswer;
}

/**
 * Reads the documents that a configuration names. They are cut and indexed at the first search.
 *
 * @throws {DocsError} When a path of `docs.extra_paths` is not there
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
