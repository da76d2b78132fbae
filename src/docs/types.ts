/** Documents of the documentation, their roles and their sections. */

import { type ConfigProblem, formatProblem } from "../config/problems.ts";

/** The purpose of a document: reasons (`reasoning`), next actions (`decision`), examples (`pattern`) or terms (`ontology`). */
export type DocRole = "reasoning" | "decision" | "pattern" | "ontology";

/** Every role, in the order of an overview. */
export const DOC_ROLES: readonly DocRole[] = ["reasoning", "decision", "ontology", "pattern"];

/** A page of a document that can be read alone. */
export interface DocPage {
  /** The part of the page's URI after the document's URI and a `/`. */
  readonly name: string;
  /** Markdown, as in the file. */
  readonly text: string;
}

/** One document. */
export interface Doc {
  /** Unique in the catalogue: lower-case letters, digits and `_`. */
  readonly doc_id: string;
  readonly doc_role: DocRole;
  readonly doc_title: string;
  /** One line about the content. */
  readonly description: string;
  /** `gate://docs/<suffix>`. */
  readonly uri: string;
  /** Markdown. */
  readonly text: string;
  /** Bytes of the text in UTF-8. */
  readonly bytes: number;
  /** The further pages that the document contains; empty for a document of one file. */
  readonly pages: readonly DocPage[];
}

/** The part of a document under one heading. */
export interface Section {
  readonly doc: Doc;
  /** The heading; the title of the document for the text before its first heading. */
  readonly heading: string;
  /** For a heading of the third level: the heading of the second level above it; else empty. */
  readonly parent: string;
  /** Trimmed Markdown, never empty, without the heading itself. */
  readonly content: string;
}

/** The documents that a configuration names. */
export interface Documents {
  /** In the order of the catalogue: documents of the service, then documents of the operator. */
  readonly docs: readonly Doc[];
  /** Skipped files with the reason, in the order of reading. */
  readonly warnings: readonly string[];
}

/** The prefix of every document's URI. */
export const DOCS_PREFIX = "gate://docs/";

/** Configured documents that cannot be served. */
export class DocsError extends Error {
  override readonly name = "DocsError";
  readonly problems: readonly ConfigProblem[];

  /** Builds the error from at least one problem. */
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join("; "));
    this.problems = problems;
  }
}
