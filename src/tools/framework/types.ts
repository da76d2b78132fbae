/**
 * The neutral shape of a tool: what a dispatcher needs to list and call it, whatever the transport and protocol revision.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";

/** Tool names with a handler in this build are the keys of the table in `table.ts`. */
export type ToolName = string;

/** The four hints of MCP tool annotations, all set on every tool. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** Whence a call came, for the audit log. */
export interface CallOrigin {
  readonly transport: "stdio" | "http" | "sse";
  /** IP address of the other end of the connection; null on stdio. */
  readonly peer_address: string | null;
  /** What the client calls its request, validated; null where it says nothing. */
  readonly correlation_id: string | null;
  /** What this process calls the request; unique. */
  readonly server_correlation_id: string;
  /** `traceparent` of W3C Trace Context, validated; null where there is none. */
  readonly traceparent: string | null;
}

/** What surrounds one call. */
export interface Call {
  readonly principal: Principal;
  /** Aborted when the caller is gone; an append that is enqueued is not undone by it. */
  readonly signal: AbortSignal;
  readonly correlationId: string | null;
  /** Absent where the call did not come over a transport. */
  readonly origin?: CallOrigin;
  /** Who writes the call to the audit log; absent where nobody does. */
  readonly witness?: CallWitness;
}

/** A decision on the way of a call, for the audit log. */
export interface CallDecision {
  readonly decision: "role" | "namespace" | "registry";
  readonly allowed: boolean;
  /** One word: the role that grants it, or the rule that decides. */
  readonly reason: string;
  readonly namespace_id: number | null;
}

/** What became of asking one provider, for the audit log. */
export interface CallAcquisition {
  readonly binding_id: string;
  readonly provider_id: string;
  readonly check_id: string;
  /** `answered`; the code of an error that was observed; or that of a failure to ask at all. */
  readonly reason: string;
  readonly failed: boolean;
}

/** Writes a call to the audit log. */
export interface CallWitness {
  /** Takes note of a decision. */
  readonly decided: (decision: CallDecision) => void;
  /** Writes what became of asking a provider. */
  readonly acquired: (acquisition: CallAcquisition) => void;
  /** Writes that the call begins, before it changes or reaches anything; false = it must not, it cannot be written. */
  readonly begin: () => Promise<boolean>;
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

/** What the list of tools shortens, whole. Both schemas are closed everywhere. */
export interface ToolReference {
  /** What the tool does, at length. */
  readonly details: string;
  readonly input: JsonObject;
  /** A document: what it names as `#/$defs/<type>` stands in its `$defs`. */
  readonly output: JsonObject;
}

/** The kind of the audit lines of a call: those of `AuditKind` that a tool may have. */
export type ToolAuditKind = "mutation" | "acquisition" | "precheck" | "discovery" | "registry" | "request";

/** One MCP tool. */
export interface Tool {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly hints: ToolHints;
  /** Group of tools that a role may be given (docs/guide/operations.md, "Who may do what"). */
  readonly group: "Authoring" | "Run" | "Read" | "Audit";
  readonly audit: ToolAuditKind;
  /** Closed JSON Schema (2020-12) of the arguments. */
  readonly inputSchema: JsonObject;
  /** `{type: "object", oneOf: [<result>, {error}]}`, of whose members only types and outcomes are listed. */
  readonly outputSchema: JsonObject;
  /** What the list shortens; what is listed is whole unless given. */
  readonly reference?: () => Promise<ToolReference>;
  /** Decodes, authorises on namespace and registry, acts. Never throws for bad input; what it throws is an internal error. */
  readonly handle: (input: JsonObject, call: Call) => Promise<ToolAnswer>;
}

/** Namespaces that a caller may use. */
export interface NamespaceList {
  /** In ascending order. */
  readonly ids: readonly number[];
  /** False where there may be more than were looked at. */
  readonly isWhole: boolean;
}

/** One number that the runtime tells of itself. */
export interface Measure {
  /** As Prometheus names metrics. */
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  /** Of closed sets: names that the configuration gives, and words of ours. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}
