/**
 * Ranks sections for a query with BM25 over weighted fields (Robertson and Zaragoza, "The Probabilistic Relevance
 * Framework", 2009). What a term is worth in a section does not depend on the query, so it is computed once.
 *
 * @module
 */

import { termsOf, wordsOf } from "./words.ts";

/** What is indexed of a section. */
export interface IndexedText {
  readonly heading: string;
  readonly parent: string;
  readonly title: string;
  readonly content: string;
}

/** How much a word counts, by where it stands. */
const WEIGHTS = { heading: 6, parent: 1, title: 2, content: 1 } as const;

/** Words of a heading at which it counts as much as its weight says: shorter ones say more of what they say. */
const HEADING_WORDS = 4;

/** How soon a word that stands often stops to count more, and how much long sections are held back. */
const SATURATION = 2;
const LENGTH_PENALTY = 0.65;

/** How much of the score is lost where a section has none of the terms; with all of them nothing is. */
const COVERAGE = 0.5;

/** How much more a section counts whose heading is the query. */
const SAME_HEADING = 2;

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

/** What was counted of the texts. A posting is one term in one section; the members about postings lie beside each other. */
interface Counts {
  /** The number of each term. */
  readonly terms: Map<string, number>;
  /** The terms of each word, as it was written. */
  readonly words: Map<string, readonly number[]>;
  /** Of each term its latest posting, and in how many sections it is. */
  readonly latest: number[];
  readonly spread: number[];
  readonly postingTerms: number[];
  readonly postingSections: number[];
  /** How much the term stands in the section, fields weighted. */
  readonly postingFrequencies: number[];
  /** Words of each section's content. */
  readonly lengths: number[];
  /** The sections that have a heading, by its words. */
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
    const name = nameOf(headingWords);
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

/** Words as they name a heading, whatever their case and what stands between them. */
function nameOf(words: readonly string[]): string {
  return words.join(" ").toLowerCase();
}

/** Counts the words of one field of a section. */
function addWords(counts: Counts, section: number, words: readonly string[], weight: number): void {
  const { latest, postingSections, postingFrequencies } = counts;
  // Counted loops: this runs once for each word of the documentation, and iterators take half of its time.
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
  /** What the term adds to the score of the section. */
  readonly worths: Float64Array;
}

function sortPostings(counts: Counts): Postings {
  const { lengths, spread, postingTerms, postingSections, postingFrequencies } = counts;
  const total = lengths.length;
  const average = lengths.reduce((sum, length) => sum + length, 0) / Math.max(1, total) || 1;
  const starts = new Uint32Array(spread.length + 1);
  for (let term = 0; term < spread.length; term++) {
    starts[term + 1] = (starts[term] as number) + (spread[term] as number);
  }
  const places = starts.slice();
  const sections = new Uint32Array(postingTerms.length);
  const worths = new Float64Array(postingTerms.length);
  for (let posting = 0; posting < postingTerms.length; posting++) {
    const term = postingTerms[posting] as number;
    const section = postingSections[posting] as number;
    const frequency = postingFrequencies[posting] as number;
    const having = spread[term] as number;
    const rarity = Math.log(1 + (total - having + 0.5) / (having + 0.5));
    const length = 1 - LENGTH_PENALTY + LENGTH_PENALTY * (lengths[section] as number) / average;
    const place = places[term] as number;
    places[term] = place + 1;
    sections[place] = section;
    worths[place] = rarity * frequency * (SATURATION + 1) / (frequency + SATURATION * length);
  }
  return { starts, sections, worths };
}

/** Makes the index of some sections. */
export function createSearchIndex(texts: readonly IndexedText[]): SearchIndex {
  const counts = countTexts(texts);
  const { starts, sections, worths } = sortPostings(counts);
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
        scores[section] = (scores[section] as number) + (worths[at] as number);
        matched[section] = (matched[section] as number) + 1;
      }
    }
    for (const section of counts.headings.get(nameOf(words)) ?? []) {
      scores[section] = (scores[section] as number) * SAME_HEADING;
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
