/**
 * Ranks sections for a query with BM25 over weighted fields (Robertson and Zaragoza, "The Probabilistic Relevance
 * Framework", 2009). The score of a term in a section does not depend on the query, so it is computed once.
 * docs/decisions/search_ranking.md compares it with a library.
 *
 * @module
 */

import { termsOf, wordsOf } from "./words.ts";

/** The indexed fields of a section. */
export interface IndexedText {
  readonly heading: string;
  readonly parent: string;
  readonly title: string;
  readonly content: string;
}

/** The weight of a word, by field. */
const WEIGHTS = { heading: 6, parent: 1, title: 2, content: 1 } as const;

/** A heading of this many words has the full weight; the words of shorter headings weigh more. */
const HEADING_WORDS = 4;

/** The parameters k1 and b of BM25: saturation of repeated words, and the penalty on long sections. */
const SATURATION = 2;
const LENGTH_PENALTY = 0.65;

/** The share of the score that depends on how many terms of the query a section has. */
const COVERAGE = 0.5;

/** The factor for a section whose heading equals the query. */
const SAME_HEADING = 2;

/** Distinct terms of a query that are used. */
export const QUERY_TERMS_MAXIMUM = 64;

/** Sections ready to be searched. */
export interface SearchIndex {
  /**
   * The positions of the best sections, best first; of sections with equal scores the earlier comes first. Sections without
   * any term are omitted.
   */
  readonly find: (query: string, limit: number) => readonly number[];
}

/** Counts over the texts. A posting is one term in one section; the arrays of postings are parallel. */
interface Counts {
  /** The number of each term. */
  readonly terms: Map<string, number>;
  /** The terms of each word as written. */
  readonly words: Map<string, readonly number[]>;
  /** For each term: its latest posting, and the number of sections that have it. */
  readonly latest: number[];
  readonly spread: number[];
  readonly postingTerms: number[];
  readonly postingSections: number[];
  /** The weighted frequency of the term in the section. */
  readonly postingFrequencies: number[];
  /** Words of each section's content. */
  readonly lengths: number[];
  /** The sections of each heading, by its normalised words. */
  readonly headings: Map<string, number[]>;
}

function countTexts(texts: readonly IndexedText[]): Counts {
  const counts: Counts = {
    terms: new Map(),
    words: new Map(),
    latest: [],
    spread: [],
    postingTerms: [],
    postingSections: [],
    postingFrequencies: [],
    lengths: [],
    headings: new Map(),
  };
  for (const [section, { heading, parent, title, content }] of texts.entries()) {
    const headingWords = wordsOf(heading);
    const name = normalizedHeading(headingWords);
    const named = counts.headings.get(name);
    if (named === undefined) counts.headings.set(name, [section]);
    else named.push(section);
    addWords(counts, section, headingWords, WEIGHTS.heading * 2 / (1 + headingWords.length / HEADING_WORDS));
    addWords(counts, section, wordsOf(parent), WEIGHTS.parent);
    addWords(counts, section, wordsOf(title), WEIGHTS.title);
    const words = wordsOf(content);
    addWords(counts, section, words, WEIGHTS.content);
    counts.lengths.push(words.length);
  }
  return counts;
}

/** The words of a heading, without case and punctuation. */
function normalizedHeading(words: readonly string[]): string {
  return words.join(" ").toLowerCase();
}

/** Counts the words of one field of a section. */
function addWords(counts: Counts, section: number, words: readonly string[], weight: number): void {
  const { latest, postingSections, postingFrequencies } = counts;
  // Counted loops: this runs once for each word of the documentation, and iterators would double its time.
  for (let at = 0; at < words.length; at++) {
    const word = words[at] as string;
    const terms = counts.words.get(word) ?? learnWord(counts, word);
    for (let each = 0; each < terms.length; each++) {
      const term = terms[each] as number;
      const posting = latest[term] as number;
      if (postingSections[posting] === section) {
        postingFrequencies[posting] = (postingFrequencies[posting] as number) + weight;
        continue;
      }
      latest[term] = postingSections.length;
      counts.spread[term] = (counts.spread[term] as number) + 1;
      counts.postingTerms.push(term);
      postingSections.push(section);
      postingFrequencies.push(weight);
    }
  }
}

function learnWord(counts: Counts, word: string): readonly number[] {
  const numbers = termsOf(word).map((term) => {
    let number = counts.terms.get(term);
    if (number === undefined) {
      number = counts.terms.size;
      counts.terms.set(term, number);
      counts.latest.push(-1);
      counts.spread.push(0);
    }
    return number;
  });
  counts.words.set(word, numbers);
  return numbers;
}

/** The postings by term, in the order of the sections: those of term t lie from `starts[t]` to `starts[t + 1]`. */
interface Postings {
  readonly starts: Uint32Array;
  readonly sections: Uint32Array;
  /** The score that the term adds to the section. */
  readonly scores: Float64Array;
}

function sortPostings(counts: Counts): Postings {
  const { lengths, spread, postingTerms, postingSections, postingFrequencies } = counts;
  const total = lengths.length;
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, total) || 1;
  const starts = new Uint32Array(spread.length + 1);
  for (let term = 0; term < spread.length; term++) {
    starts[term + 1] = (starts[term] as number) + (spread[term] as number);
  }
  const nextSlots = starts.slice();
  const sections = new Uint32Array(postingTerms.length);
  const scores = new Float64Array(postingTerms.length);
  for (let posting = 0; posting < postingTerms.length; posting++) {
    const term = postingTerms[posting] as number;
    const section = postingSections[posting] as number;
    const frequency = postingFrequencies[posting] as number;
    const sectionsWithTerm = spread[term] as number;
    const rarity = Math.log(1 + (total - sectionsWithTerm + 0.5) / (sectionsWithTerm + 0.5));
    const length = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (lengths[section] as number) / average;
    const slot = nextSlots[term] as number;
    nextSlots[term] = slot + 1;
    sections[slot] = section;
    scores[slot] = rarity * frequency * (SATURATION + 1) / (frequency + SATURATION * length);
  }
  return { starts, sections, scores };
}

/** Creates the index of sections. */
export function createSearchIndex(texts: readonly IndexedText[]): SearchIndex {
  const counts = countTexts(texts);
  const { starts, sections, scores: termScores } = sortPostings(counts);
  const scores = new Float64Array(texts.length);
  const matched = new Uint8Array(texts.length);

  const find = (query: string, limit: number): readonly number[] => {
    const words = wordsOf(query);
    const terms = queryTerms(counts, words);
    const touched: number[] = [];
    for (const term of terms.known) {
      const end = starts[term + 1] as number;
      for (let at = starts[term] as number; at < end; at++) {
        const section = sections[at] as number;
        if (matched[section] === 0) touched.push(section);
        scores[section] = (scores[section] as number) + (termScores[at] as number);
        matched[section] = (matched[section] as number) + 1;
      }
    }
    for (const section of counts.headings.get(normalizedHeading(words)) ?? []) {
      scores[section] = (scores[section] as number) * SAME_HEADING;
    }
    const best = takeBest(touched, limit, (section) => {
      const coverage = 1 - COVERAGE + COVERAGE * (matched[section] as number) / terms.count;
      return (scores[section] as number) * coverage;
    });
    for (const section of touched) {
      scores[section] = 0;
      matched[section] = 0;
    }
    return best;
  };
  return { find };
}

/** The known terms of a query without repeats, and the number of its different terms, unknown ones included. */
function queryTerms(
  counts: Counts,
  words: readonly string[],
): { readonly known: readonly number[]; readonly count: number } {
  const known = new Set<number>();
  const unknown = new Set<string>();
  for (const word of words) {
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

/** The best candidates, best first; of candidates with equal scores the smaller number comes first. */
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
