/**
 * The neutral shape of a tool: what a dispatcher needs to list and call it, whatever the transport and protocol revision.
 *
 * @module
 */

import type { JsonObject } from "../canonical/json.ts";
import type { Principal } from "../access/types.ts";

/** Tool names with a handler in this build are the keys of the table in `table.ts`. */
export type ToolName = string;

/** The four hints of MCP tool annotations, all set on every tool. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** What surrounds one call. */
export interface Call {
  readonly principal: Principal;
  /** Aborted when the caller is gone; an append that is enqueued is not undone by it. */
  readonly signal: AbortSignal;
  readonly correlationId: string | null;
}

/** Kinds of domain errors (`isError` results). */
export type ToolErrorKind =
  | "invalid_request"
  | "not_found"
  | "conflict"
  | "unauthorized"
  | "limit"
  | "unavailable"
  | "internal";

/** A next step that a refusal suggests. */
export interface NextStep {
  readonly tool: string;
  readonly arguments_hint: JsonObject;
  readonly why: string;
}

/** A domain failure, told as an `isError` result `{error: {...}}`. */
export interface ToolError {
  /** Closed list, see `errors.ts`. */
  readonly code: string;
  readonly kind: ToolErrorKind;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: JsonObject;
}

/** What a tool answers. `text`, where given, is the JSON text of the result, so that it is written only once. */
export type ToolAnswer =
  | { readonly ok: true; readonly result: JsonObject; readonly text?: string }
  | { readonly ok: false; readonly error: ToolError };

/** One MCP tool. */
export interface Tool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly hints: ToolHints;
  /** Role group of decisions.md 6. */
  readonly group: "Authoring" | "Run" | "Read" | "Audit";
  /** Closed JSON Schema (2020-12) of the arguments. */
  readonly inputSchema: JsonObject;
  /** `{type: "object", oneOf: [<result>, {error}]}`. */
  readonly outputSchema: JsonObject;
  /** Decodes, authorises on namespace and registry, acts. Never throws for bad input; what it throws is an internal error. */
  readonly handle: (input: JsonObject, call: Call) => Promise<ToolAnswer>;
}
