/**
 * Ranks sections for a query: minisearch (BM25+ over weighted fields) with the terms of `words.ts`.
 * docs/decisions/search_ranking.md says why these terms matter more than the engine.
 */

import MiniSearch from "minisearch";
import { termsOf, wordsOf } from "./words.ts";

/** The indexed fields of a section. */
export interface IndexedText {
  readonly heading: string;
  readonly parent: string;
  readonly title: string;
  readonly content: string;
}

const FIELDS = ["heading", "parent", "title", "content"] as const;

/** The factor for a section whose heading equals the query. */
const SAME_HEADING = 2;

/** Distinct terms of a query that are used. */
export const QUERY_TERMS_MAXIMUM = 64;

/** Sections ready to be searched. */
export interface SearchIndex {
  /**
   * The positions of the best sections, best first; of sections with equal scores the earlier comes first. Sections
   * without any term are omitted.
   */
  readonly find: (query: string, limit: number) => readonly number[];
}

/** Creates the index of sections. */
export function createSearchIndex(texts: readonly IndexedText[]): SearchIndex {
  const index = new MiniSearch<IndexedText & { readonly id: number }>({
    fields: [...FIELDS],
    tokenize: wordsOf,
    processTerm: (word) => [...termsOf(word)],
    searchOptions: { boost: { heading: 2 }, bm25: { k: 1.2, b: 0.65, d: 0.5 } },
  });
  index.addAll(texts.map((text, id) => ({ ...text, id })));
  const headings = texts.map(({ heading }) => normalized(wordsOf(heading)));

  const find = (query: string, limit: number): readonly number[] => {
    const words = wordsOf(query);
    const name = normalized(words);
    const terms = new Set(words.flatMap(termsOf));
    // The terms are final, so the library takes each as it is.
    return index.search([...terms].slice(0, QUERY_TERMS_MAXIMUM).join(" "), {
      tokenize: (text) => text.split(" "),
      processTerm: (term) => term,
    })
      .map(({ id, score }) => ({ id: id as number, score: headings[id] === name ? score * SAME_HEADING : score }))
      .sort((a, b) => b.score - a.score || a.id - b.id)
      .slice(0, limit)
      .map(({ id }) => id);
  };
  return { find };
}

/** The words of a heading, without case. */
function normalized(words: readonly string[]): string {
  return words.join(" ").toLowerCase();
}
