/**
 * The types of results, from the message schemas of the official package. Only types are imported, so nothing is loaded.
 *
 * @module
 */

import type {
  CompleteResult,
  DiscoverResult,
  GetPromptResult,
  InitializeResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";

/** A type whose members and items are not written. */
type Unwritten<T> = T extends (infer Item)[] ? readonly Unwritten<Item>[]
  : T extends object ? { readonly [Name in keyof T]: Unwritten<T[Name]> }
  : T;

/** The result of `initialize`. */
export type InitializeAnswer = Unwritten<InitializeResult>;

/** The result of `server/discover`. */
export type DiscoverAnswer = Unwritten<DiscoverResult>;

/** The result of a request for documents, prompts or completions. */
export type DocumentAnswer = Unwritten<
  | ListResourcesResult
  | ListResourceTemplatesResult
  | ReadResourceResult
  | ListPromptsResult
  | GetPromptResult
  | CompleteResult
>;
