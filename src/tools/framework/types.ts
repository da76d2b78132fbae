/** The shape of a tool that a dispatcher lists and calls. It does not depend on transport and protocol revision. */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";

/** The name of a tool; `table.ts` has the tools of this build. */
export type ToolName = string;

/** The four hints of MCP tool annotations, all set on every tool. */
export interface ToolHints {
  readonly readOnlyHint: boolean;
  readonly destructiveHint: boolean;
  readonly idempotentHint: boolean;
  readonly openWorldHint: boolean;
}

/** The origin of a call, for the audit log. */
export interface CallOrigin {
  readonly transport: "stdio" | "http" | "sse";
  /** IP address of the peer; null on stdio. */
  readonly peer_address: string | null;
  /** The correlation id of the client, validated; null where the client sends none. */
  readonly correlation_id: string | null;
  /** The correlation id of this process; unique. */
  readonly server_correlation_id: string;
  /** `traceparent` of W3C Trace Context, validated; null without one. */
  readonly traceparent: string | null;
}

/** The context of one call. */
export interface Call {
  readonly principal: Principal;
  /** Aborted when the caller disconnects; an append in the queue is still committed. */
  readonly signal: AbortSignal;
  readonly correlationId: string | null;
  /** Absent for a call that came over no transport. */
  readonly origin?: CallOrigin;
  /** Writes the call to the audit log; absent where calls are not audited. */
  readonly auditor?: CallAuditor;
  /** Asks the client; absent for a tool that asks nothing. */
  readonly asking?: Asking;
  /** Admits an operation of a list as a call of its own; absent where calls are not admitted. */
  readonly admitOperation?: (tool: string, input: JsonObject) => Promise<AdmittedOperation>;
}

/** An operation of a list: what a call of its own would be. */
export interface AdmittedOperation {
  /** The error of a call that is refused before it runs; null where it runs. */
  readonly refused: JsonObject | null;
  readonly call: Call;
  /** Audits the answer. Resolves once it may be sent. */
  readonly answered: (answer: ToolAnswer) => Promise<void>;
}

/** The questions of one call to its client. */
export interface Asking {
  /** The capabilities that the client declares. */
  readonly capabilities: JsonObject;
  /** The state of the earlier round that this call continues, as {@link Asking.ask} was given it; null in the first round. */
  readonly state: JsonObject | null;
  /** The responses that came with this round, by the keys of their requests. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /**
   * Sends requests to the client. Null where the client repeats the call with its responses: the answer of the tool is
   * then not sent.
   *
   * @param requests Requests of MCP by key
   * @param state What the next round needs to know
   */
  readonly ask: (
    requests: JsonObject,
    state: JsonObject,
  ) => Promise<Readonly<Record<string, JsonObject>> | null>;
}

/** An access decision on a call, for the audit log. */
export interface CallDecision {
  readonly decision: "role" | "namespace" | "registry";
  readonly allowed: boolean;
  /** One word: the role that grants access, or the rule that decides. */
  readonly reason: string;
  readonly namespace_id: number | null;
}

/** The result of one query of a provider, for the audit log. */
export interface CallAcquisition {
  readonly binding_id: string;
  readonly provider_id: string;
  readonly check_id: string;
  /** `answered`, the code of an observed error, or the code of a failed query. */
  readonly reason: string;
  readonly failed: boolean;
}

/** Writes a call to the audit log. */
export interface CallAuditor {
  /** Records a decision. */
  readonly decided: (decision: CallDecision) => void;
  /** Writes the result of a query. */
  readonly acquired: (acquisition: CallAcquisition) => void;
  /**
   * Writes that the call begins, before it changes anything or queries a provider. False = not written, so it must not
   * begin.
   */
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

/** A next step of a refusal. */
export interface NextStep {
  readonly tool: string;
  readonly arguments_hint: JsonObject;
  readonly why: string;
}

/** A domain error, returned as an `isError` result `{error: {...}}`. */
export interface ToolError {
  /** Closed list, see `errors.ts`. */
  readonly code: string;
  readonly kind: ToolErrorKind;
  readonly message: string;
  readonly retryable: boolean;
  readonly details?: JsonObject;
}

/** The answer of a tool. */
export type ToolAnswer =
  | {
    readonly ok: true;
    readonly result: JsonObject;
    /** The JSON text of the result, so that it is serialised once. */
    readonly text?: string;
    /** The text that clients without structured content read, as a JSON string; the text of the result unless given. */
    readonly quoted?: string;
    /** A sentence for people, beside the result. */
    readonly note?: string;
  }
  | { readonly ok: false; readonly error: ToolError };

/** The full description and schemas of a tool; the list of tools shortens them. Both schemas are closed everywhere. */
export interface ToolReference {
  /** What the tool does, at length. */
  readonly details: string;
  readonly input: JsonObject;
  /** A document: its `$defs` has every type that it references. */
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
  /** The group of tools that a role may grant (docs/guide/operations.md, "Who may do what"). */
  readonly group: "Authoring" | "Run" | "Read" | "Audit";
  readonly audit: ToolAuditKind;
  /** Closed JSON Schema (2020-12) of the arguments. */
  readonly inputSchema: JsonObject;
  /** `{type: "object", oneOf: [<result>, {error}]}`; the members of a result have only their types and outcomes. */
  readonly outputSchema: JsonObject;
  /** The full reference; the listed schemas are full unless given. */
  readonly reference?: () => Promise<ToolReference>;
  /** How its calls become tasks; absent where they never do. */
  readonly task?: () => Promise<TaskRule>;
  /** Decodes, authorises and acts. Invalid input is an answer; a rejection is an internal error. */
  readonly handle: (input: JsonObject, call: Call) => Promise<ToolAnswer>;
}

/** The state of a call that became a task. */
export type TaskStanding =
  /** The answer is final. */
  | { readonly status: "completed"; readonly answer: ToolAnswer }
  /** The call waits for something other than its client. */
  | { readonly status: "working"; readonly message: string }
  /** The call waits for responses of its client, by the keys of their requests. */
  | { readonly status: "input_required"; readonly message: string; readonly requests: JsonObject };

/** What is known of a call whose answer exists. */
export interface AnsweredCall {
  readonly input: JsonObject;
  readonly answer: ToolAnswer;
  /** Whether the call has just been made: it becomes a task where its answer is not final. */
  readonly isFirst: boolean;
  /** The capabilities that the client declares now. */
  readonly capabilities: JsonObject;
  /** Responses to the requests of the task that this process received. */
  readonly responses: Readonly<Record<string, JsonObject>>;
  /** Calls a tool for the same caller. */
  readonly call: (tool: string, input: JsonObject) => Promise<ToolAnswer>;
}

/**
 * How calls of a tool become tasks (extension `io.modelcontextprotocol/tasks`). The tool is idempotent: a task stores
 * nothing, and another server makes the same call again to find out how it went.
 */
export interface TaskRule {
  /** How long a call may take until it becomes a task, in milliseconds. */
  readonly patience: number;
  /** Suggested interval between two looks at a task, in milliseconds. */
  readonly pollInterval: number;
  readonly standing: (answered: AnsweredCall) => Promise<TaskStanding>;
}

/** Namespaces that a caller may use. */
export interface NamespaceList {
  /** In ascending order. */
  readonly ids: readonly number[];
  /** False where there may be more. */
  readonly isWhole: boolean;
}

/** One metric of the runtime. */
export interface Measure {
  /** A Prometheus metric name. */
  readonly name: string;
  readonly type: "gauge" | "counter";
  readonly help: string;
  /** Values of closed sets: names of the configuration, and words of this program. */
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads a runpack: without a part what it has, with one the bytes of the part. Null where the caller may see none. */
export type ReadPack = (
  identity: Identity,
  part: number | null,
  isOffered: (tool: string) => boolean,
  call: Call,
) => Promise<JsonObject | Uint8Array | null>;
