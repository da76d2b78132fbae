/**
 * Row 11: how good the first three sections are that a search in the documentation finds, against minisearch with its
 * defaults over the same sections with the same fields.
 *
 * @module
 */

import { DEFAULT_SETTINGS } from "../../../src/config/defaults.ts";
import { readDocuments } from "../../../src/docs/catalogue.ts";
import { createSearchIndex, type IndexedText } from "../../../src/docs/search_index.ts";
import { splitSections } from "../../../src/docs/sections.ts";
import { MiniSearch } from "../peers.ts";
import { type BenchRow, makeRow } from "../harness.ts";
import { meanGain, readQueries } from "../docs_queries.ts";

/** How many sections an answer has. */
const LIMIT = 3;

const PEER = "minisearch 7.2.0, its defaults";

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

/** Measures row 11. */
export async function run(): Promise<BenchRow[]> {
  const { texts, names } = await sectionsOfService();
  const queries = await readQueries();
  const gain = (find: Find): number => meanGain(queries, (query) => find(query).map((at) => names[at] ?? ""));
  return [
    makeRow(
      {
        row: "11",
        peer_name: PEER,
        name: "nDCG@3 of judged queries",
        unit: "nDCG",
        must: 1,
        goal: 1.1,
        direction: "higher",
      },
      { ours: [gain(ourIndex(texts))], peer: [gain(peerIndex(texts))] },
    ),
  ];
}
