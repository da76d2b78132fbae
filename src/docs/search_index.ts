/**
 * Ranks sections for a query with BM25 over weighted fields (Robertson and Zaragoza, "The Probabilistic Relevance
 * Framework", 2009). What a term is worth in a section does not depend on the query, so it is computed once.
 *
 * @module
 */

import { termsOf, WORD } from "./words.ts";

/** What is indexed of a section. */
export interface IndexedText {
  readonly heading: string;
  readonly parent: string;
  readonly title: string;
  readonly content: string;
}

/** How much a word counts, by where it stands. */
const WEIGHTS = { heading: 4, parent: 1.5, title: 1, content: 1 } as const;

/** How soon a word that stands often stops to count more, and how much long sections are held back. */
const SATURATION = 1.2;
const LENGTH_PENALTY = 0.5;

/** How much of the score is lost where a section has none of the terms; with all of them nothing is. */
const COVERAGE = 0.5;

/** Distinct terms of a query that are looked at. */
export const QUERY_TERMS_MAXIMUM = 64;

/** Sections ready to be searched. */
export interface SearchIndex {
  /**
   * The positions of the best sections, best first; of equal ones the earlier comes first. Sections without any term
   * are not among them.
   */
  readonly find: (query: string, limit: number) => readonly number[];
}

/** What was counted of the texts. */
interface Counts {
  /** The number of each term. */
  readonly terms: Map<string, number>;
  /** The terms of each word, as it was written. */
  readonly words: Map<string, readonly number[]>;
  /** Of each term: the sections that have it, in order. */
  readonly sections: number[][];
  /** Beside `sections`: how much it stands there, fields weighted. */
  readonly frequencies: number[][];
  /** Words of each section's content. */
  readonly lengths: number[];
}

function countTexts(texts: readonly IndexedText[]): Counts {
  const counts: Counts = { terms: new Map(), words: new Map(), sections: [], frequencies: [], lengths: [] };
  for (const [section, text] of texts.entries()) {
    addField(counts, section, text.heading, WEIGHTS.heading);
    addField(counts, section, text.parent, WEIGHTS.parent);
    addField(counts, section, text.title, WEIGHTS.title);
    counts.lengths.push(addField(counts, section, text.content, WEIGHTS.content));
  }
  return counts;
}

/** Counts the words of one field; returns how many there are. */
function addField(counts: Counts, section: number, text: string, weight: number): number {
  const found = text.match(WORD) ?? [];
  for (const word of found) {
    for (const term of counts.words.get(word) ?? learnWord(counts, word)) {
      const sections = counts.sections[term] as number[];
      const frequencies = counts.frequencies[term] as number[];
      const last = sections.length - 1;
      if (sections[last] === section) frequencies[last] = (frequencies[last] as number) + weight;
      else {
        sections.push(section);
        frequencies.push(weight);
      }
    }
  }
  return found.length;
}

function learnWord(counts: Counts, word: string): readonly number[] {
  const numbers = termsOf(word).map((term) => {
    let number = counts.terms.get(term);
    if (number === undefined) {
      number = counts.terms.size;
      counts.terms.set(term, number);
      counts.sections.push([]);
      counts.frequencies.push([]);
    }
    return number;
  });
  counts.words.set(word, numbers);
  return numbers;
}

/** What each term adds to the score of each section that has it, beside `sections`. */
function scoreTerms(counts: Counts): readonly Float64Array[] {
  const { lengths, sections, frequencies } = counts;
  const total = lengths.length;
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, total) || 1;
  return sections.map((having, term) => {
    const rarity = Math.log(1 + (total - having.length + 0.5) / (having.length + 0.5));
    return Float64Array.from(having, (section, at) => {
      const frequency = frequencies[term]?.[at] ?? 0;
      const length = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (lengths[section] ?? 0) / average;
      return rarity * frequency * (SATURATION + 1) / (frequency + SATURATION * length);
    });
  });
}

/** Makes the index of some sections. */
export function createSearchIndex(texts: readonly IndexedText[]): SearchIndex {
  const counts = countTexts(texts);
  const worths = scoreTerms(counts);
  const sections = counts.sections.map((having) => Uint32Array.from(having));
  const scores = new Float64Array(texts.length);
  const matched = new Uint8Array(texts.length);

  const find = (query: string, limit: number): readonly number[] => {
    const terms = queryTerms(counts, query);
    const touched: number[] = [];
    for (const term of terms.known) {
      const having = sections[term] as Uint32Array;
      const worth = worths[term] as Float64Array;
      for (let at = 0; at < having.length; at++) {
        const section = having[at] as number;
        if (matched[section] === 0) touched.push(section);
        scores[section] = (scores[section] as number) + (worth[at] as number);
        matched[section] = (matched[section] as number) + 1;
      }
    }
    const best = takeBest(touched, limit, (section) => {
      const coverage = 1 - COVERAGE + COVERAGE * (matched[section] as number) / terms.count;
      return (scores[section] as number) * coverage;
    });
    for (const section of touched) scores[section] = matched[section] = 0;
    return best;
  };
  return { find };
}

/** The known terms of a query, each once, and how many different ones it has in all. */
function queryTerms(counts: Counts, query: string): { readonly known: readonly number[]; readonly count: number } {
  const known = new Set<number>();
  const unknown = new Set<string>();
  for (const word of query.match(WORD) ?? []) {
    if (known.size + unknown.size >= QUERY_TERMS_MAXIMUM) break;
    const numbers = counts.words.get(word);
    if (numbers !== undefined) { for (const number of numbers) known.add(number); }
    else {
      for (const term of termsOf(word)) {
        const number = counts.terms.get(term);
        if (number === undefined) unknown.add(term);
        else known.add(number);
      }
    }
  }
  return { known: [...known], count: known.size + unknown.size };
}

/** The best few of some numbers, best first; of equal ones the smaller number comes first. */
function takeBest(candidates: readonly number[], limit: number, scoreOf: (candidate: number) => number): number[] {
  const best: number[] = [];
  const scores: number[] = [];
  for (const candidate of candidates) {
    const score = scoreOf(candidate);
    let at = best.length;
    while (at > 0 && isBefore(score, candidate, scores[at - 1] as number, best[at - 1] as number)) at--;
    if (at >= limit) continue;
    best.splice(at, 0, candidate);
    scores.splice(at, 0, score);
    if (best.length > limit) {
      best.pop();
      scores.pop();
    }
  }
  return best;
}

function isBefore(score: number, candidate: number, otherScore: number, other: number): boolean {
  return score === otherScore ? candidate < other : score > otherScore;
}
