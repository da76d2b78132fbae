/** The documents and their pages as MCP resources: `gate://docs/<suffix>`. */

import { nearestNames } from "../../canonical/nearest.ts";
import type { Doc } from "../../docs/types.ts";
import type { EdgeError } from "../process/edge_error.ts";

/** A resource as `resources/list` shows it. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  /** The size in bytes, if known. */
  readonly size?: number;
}

/** A family of resources as `resources/templates/list` shows it. */
export interface ListedTemplate extends Omit<ListedResource, "uri" | "size"> {
  readonly uriTemplate: string;
}

/** The result of `resources/read`. */
export interface ResourceText {
  readonly uri: string;
  readonly mimeType: string;
  readonly text: string;
}

/** The result of `resources/read` for bytes. */
export interface ResourceBlob extends Omit<ResourceText, "text"> {
  /** Base64. */
  readonly blob: string;
}

/** Media type of every document. */
const MARKDOWN = "text/markdown";

/** The variable of every template. */
export const PAGE_VARIABLE = "page";

/** The entries of the documents. */
export function listResources(docs: readonly Doc[]): ListedResource[] {
  return docs.map(({ uri, doc_id, doc_title, description, bytes }) => ({
    uri,
    name: doc_id,
    title: doc_title,
    description,
    mimeType: MARKDOWN,
    size: bytes,
  }));
}

/** The templates of documents with pages. */
export function listTemplates(docs: readonly Doc[]): ListedTemplate[] {
  return docs.filter(({ pages }) => pages.length > 0).map(({ uri, doc_id, doc_title, description }) => ({
    uriTemplate: `${uri}/{${PAGE_VARIABLE}}`,
    name: `${doc_id}_page`,
    title: `${doc_title}: one page`,
    description,
    mimeType: MARKDOWN,
  }));
}

/** The names of pages that begin with a text; empty for another template. */
export function completePage(docs: readonly Doc[], uriTemplate: string, begun: string): string[] {
  const doc = docs.find(({ uri }) => `${uri}/{${PAGE_VARIABLE}}` === uriTemplate);
  return (doc?.pages ?? []).map(({ name }) => name).filter((name) => name.startsWith(begun));
}

/** The document or page of a URI, or null. */
export function readResource(docs: readonly Doc[], uri: string): ResourceText | null {
  for (const doc of docs) {
    if (doc.uri === uri) return { uri, mimeType: MARKDOWN, text: doc.text };
    if (!uri.startsWith(`${doc.uri}/`)) continue;
    const page = doc.pages.find(({ name }) => `${doc.uri}/${name}` === uri);
    if (page !== undefined) return { uri, mimeType: MARKDOWN, text: page.text };
  }
  return null;
}

/** The longest URI in an error, in UTF-16 code units. */
const SHOWN_CHARACTERS = 256;

/** Every URI of the documents and of their pages. */
export function resourceUris(docs: readonly Doc[]): string[] {
  return docs.flatMap(({ uri, pages }) => [uri, ...pages.map(({ name }) => `${uri}/${name}`)]);
}

/**
 * The error of an unknown resource.
 *
 * @param known All known URIs
 */
export function unknownResource(uri: string, known: readonly string[]): EdgeError {
  const shown = uri.length > SHOWN_CHARACTERS ? `${uri.slice(0, SHOWN_CHARACTERS)}...` : uri;
  const near = nearestNames(uri, known).map((one) => JSON.stringify(one));
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return {
    kind: "invalid_params",
    message: `Unknown resource ${JSON.stringify(shown)}: resources/list shows which there are${hint}`,
    path: "$.params.uri",
    uri: shown,
  };
}
