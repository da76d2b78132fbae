/**
 * The types of results, from the message schemas of the official package. Only types are imported, so nothing is
 * loaded.
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
import type { JsonObject } from "../../canonical/json.ts";

/** A type whose members and items are not written. */
type Unwritten<T> = T extends (infer Item)[] ? readonly Unwritten<Item>[]
  : T extends object ? { readonly [Name in keyof T]: Unwritten<T[Name]> }
  : T;

/** The result of `initialize`. */
export type InitializeAnswer = Unwritten<InitializeResult>;

/** The result of `server/discover`. */
export type DiscoverAnswer = Unwritten<DiscoverResult>;

/** The result of a request that the client repeats with responses to questions. */
export interface QuestionAnswer {
  /** Requests of MCP by key. */
  readonly inputRequests: JsonObject;
  readonly requestState: string;
}

/** The result of a request for documents, prompts or completions. */
export type DocumentAnswer = Unwritten<
  | ListResourcesResult
  | ListResourceTemplatesResult
  | ReadResourceResult
  | ListPromptsResult
  | GetPromptResult
  | CompleteResult
>;
