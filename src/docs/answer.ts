/** The answer to a search in the documentation: ranked sections with their roles, and suggested follow-up questions. */

import { createSearchIndex } from "./search_index.ts";
import { type Doc, DOC_ROLES, type DocRole, type Section } from "./types.ts";

/** Sections of an answer by default. */
export const SECTIONS_DEFAULT = 3;

/** A document as an entry of `docs_covered`. */
export interface CoveredDoc {
  readonly doc_id: string;
  readonly doc_role: DocRole;
  readonly doc_title: string;
}

/** One section of an answer. */
export interface FoundSection extends CoveredDoc {
  readonly content: string;
  readonly heading: string;
  /** 0 for the best section. */
  readonly rank: number;
}

/** The answer to a search. */
export interface DocsAnswer {
  /** The documents of the sections, in the order in which they first appear. */
  readonly docs_covered: readonly CoveredDoc[];
  readonly sections: readonly FoundSection[];
  readonly suggested_followups: readonly string[];
}

/** Answers a query with at most `limit` sections. */
export type SearchDocs = (query: string, limit: number) => DocsAnswer;

/** The follow-up question for each role that an answer does not contain, in the order of suggestion. */
const FOLLOWUPS: readonly (readonly [role: DocRole, question: string])[] = [
  ["decision", "Ask which tool to call next, and what to do with each outcome."],
  ["reasoning", "Ask for reasons: trust, evidence, security and the three promises."],
  ["pattern", "Ask for a worked example, such as a stage or an evidence-use policy to copy."],
  ["ontology", "Ask what a term means: scenario, stage, condition, predicate, provider, schema."],
];

const REFINE = "Ask for something specific, such as a tool, an outcome, an error code or a term.";
const NOTHING_FOUND = "No section has these words: ask with other words, or with an empty query for an overview.";

/** Creates the search over documents and their sections. */
export function createSearch(docs: readonly Doc[], sections: readonly Section[]): SearchDocs {
  const index = createSearchIndex(
    sections.map(({ doc, heading, parent, content }) => ({ heading, parent, title: doc.doc_title, content })),
  );
  return (query, limit) => {
    if (query.trim() === "") return overview(docs, sections, limit);
    const found = index.find(query, limit).flatMap((at) => sections[at] ?? []);
    return answerWith(found, found.length === 0 ? [NOTHING_FOUND] : followupsOf(found));
  };
}

/** The first section of the first document of each role. */
function overview(docs: readonly Doc[], sections: readonly Section[], limit: number): DocsAnswer {
  const found = DOC_ROLES.flatMap((role) => {
    const first = docs.find(({ doc_role }) => doc_role === role);
    return sections.find(({ doc }) => doc === first) ?? [];
  });
  return answerWith(found.slice(0, limit), [REFINE]);
}

function followupsOf(found: readonly Section[]): readonly string[] {
  const roles = new Set(found.map(({ doc }) => doc.doc_role));
  return FOLLOWUPS.filter(([role]) => !roles.has(role)).map(([, question]) => question);
}

function answerWith(found: readonly Section[], suggested_followups: readonly string[]): DocsAnswer {
  return {
    docs_covered: [...new Set(found.map(({ doc }) => doc))].map(covered),
    sections: found.map(({ doc, heading, content }, rank) => {
      const { doc_id, doc_role, doc_title } = doc;
      return { content, doc_id, doc_role, doc_title, heading, rank };
    }),
    suggested_followups,
  };
}

function covered({ doc_id, doc_role, doc_title }: Doc): CoveredDoc {
  return { doc_id, doc_role, doc_title };
}
