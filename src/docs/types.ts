/**
 * What the documentation is made of: documents with a role, cut into sections.
 *
 * @module
 */

import { type ConfigProblem, formatProblem } from "../config/problems.ts";

/** What a document is for: why things are so, what to do next, how others did it, what things are. */
export type DocRole = "reasoning" | "decision" | "pattern" | "ontology";

/** Every role, in the order in which ties and overviews take them. */
export const DOC_ROLES: readonly DocRole[] = ["reasoning", "decision", "ontology", "pattern"];

/** A page of a document that can be read by itself. */
export interface DocPage {
  /** What follows the document's URI and a `/`. */
  readonly name: string;
  /** Markdown, as it stands in the file. */
  readonly text: string;
}

/** One document. */
export interface Doc {
  /** Unique in the catalogue: lower-case letters, digits and `_`. */
  readonly doc_id: string;
  readonly doc_role: DocRole;
  readonly doc_title: string;
  /** One line on what is in it. */
  readonly description: string;
  /** `gate://docs/<suffix>`. */
  readonly uri: string;
  /** Markdown. */
  readonly text: string;
  /** Bytes of the text in UTF-8. */
  readonly bytes: number;
  /** The pages that it was put together from; none where it is one file. */
  readonly pages: readonly DocPage[];
}

/** A piece of a document: what stands under one heading. */
export interface Section {
  readonly doc: Doc;
  /** The heading; the title of the document for what stands before its first heading. */
  readonly heading: string;
  /** For a heading of the third level the one of the second above it, else empty. */
  readonly parent: string;
  /** Trimmed Markdown, never empty, without the heading itself. */
  readonly content: string;
}

/** The documents that a configuration names. */
export interface Documents {
  /** In the order of the catalogue: those of the service, then those of the operator. */
  readonly docs: readonly Doc[];
  /** What was left out, and why; in the order in which it was met. */
  readonly warnings: readonly string[];
}

/** What each URI of a document begins with. */
export const DOCS_PREFIX = "gate://docs/";

/** The documents cannot be served as they are configured. */
export class DocsError extends Error {
  override readonly name = "DocsError";
  readonly problems: readonly ConfigProblem[];

  /** Builds the error from at least one problem. */
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join("; "));
    this.problems = problems;
  }
}
