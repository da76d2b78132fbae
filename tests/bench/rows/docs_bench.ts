/**
 * Row 11: search in the documentation against minisearch, over the same sections with the same fields: queries a second,
 * how good the first three sections are, and how long the index takes.
 *
 * @module
 */

import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../../src/config/defaults.ts";
import { readDocuments } from "../../../src/docs/documents.ts";
import { createSearchIndex, type IndexedText } from "../../../src/docs/search_index.ts";
import { splitSections } from "../../../src/docs/sections.ts";
import { MiniSearch } from "../peers.ts";
import { type BenchRow, compare, makeRow } from "../harness.ts";
import { meanGain, readQueries } from "../docs_queries.ts";

/** How many sections an answer has. */
const LIMIT = 3;

/** How long one round of one side takes, about. */
const ROUND_MILLIS = 200;

const PEER = "minisearch 7.2.0";

type Find = (query: string) => readonly number[];

/** The sections of the service's own documents, with their names. */
async function sectionsOfService(): Promise<
  { readonly texts: readonly IndexedText[]; readonly names: readonly string[] }
> {
  const { docs } = await readDocuments(DEFAULT_SETTINGS.docs);
  const sections = docs.flatMap(splitSections);
  return {
    texts: sections.map(({ doc, heading, parent, content }) => ({ heading, parent, title: doc.doc_title, content })),
    names: sections.map(({ doc, heading }) => `${doc.doc_id}#${heading}`),
  };
}

function ourIndex(texts: readonly IndexedText[]): Find {
  const index = createSearchIndex(texts);
  return (query) => index.find(query, LIMIT);
}

/** The peer as its guide sets it up: headings weigh more, the rest is its default (BM25+, any of the words). */
function peerIndex(texts: readonly IndexedText[]): Find {
  const index = new MiniSearch({
    fields: ["heading", "parent", "title", "content"],
    searchOptions: { boost: { heading: 3, parent: 1.5 } },
  });
  index.addAll(texts.map((text, id) => ({ ...text, id })));
  return (query) => index.search(query).slice(0, LIMIT).map(({ id }) => id as number);
}

/** Queries a second in one round. */
function throughput(find: Find, queries: readonly string[]): number {
  const start = performance.now();
  let done = 0;
  let found = 0;
  while (performance.now() - start < ROUND_MILLIS) {
    for (const query of queries) found += find(query).length;
    done += queries.length;
  }
  assert.ok(found > done);
  return done / (performance.now() - start) * 1000;
}

/** Milliseconds that one index takes. */
function indexTime(make: (texts: readonly IndexedText[]) => Find, texts: readonly IndexedText[]): number {
  const rounds = 5;
  const start = performance.now();
  for (let round = 0; round < rounds; round++) make(texts);
  return (performance.now() - start) / rounds;
}

/** Measures row 11. */
export async function run(): Promise<BenchRow[]> {
  const { texts, names } = await sectionsOfService();
  const queries = await readQueries();
  const asked = queries.map(({ query }) => query);
  const ours = ourIndex(texts);
  const peer = peerIndex(texts);
  const gain = (find: Find): number => meanGain(queries, (query) => find(query).map((at) => names[at] ?? ""));
  const row = { row: "11", peer_name: PEER } as const;
  const [ourGain, peerGain] = [gain(ours), gain(peer)];
  return [
    await compare({
      ...row,
      name: `documentation search, ${asked.length} queries over ${texts.length} sections`,
      unit: "queries/s",
      must: 1,
      goal: 2,
      direction: "higher",
      ours: () => throughput(ours, asked),
      peer: () => throughput(peer, asked),
    }),
    makeRow(
      { ...row, name: "nDCG@3 of judged queries", unit: "nDCG", must: 1, goal: 1.05, direction: "higher" },
      { ours: [ourGain], peer: [peerGain] },
    ),
    await compare({
      ...row,
      name: "index of the documentation",
      unit: "ms",
      must: 1,
      goal: 0.7,
      direction: "lower",
      ours: () => indexTime(ourIndex, texts),
      peer: () => indexTime(peerIndex, texts),
    }),
  ];
}
