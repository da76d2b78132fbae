/** The JSON-RPC 2.0 messages that MCP clients send, read from checked JSON. */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import type { EdgeError, RequestId } from "../process/edge_error.ts";

/** A request. It is answered unless it is cancelled. */
export interface RequestMessage {
  readonly kind: "request";
  readonly id: RequestId;
  readonly method: string;
  /** Empty where the message has none. */
  readonly params: JsonObject;
  /** The whole message as it was received. */
  readonly raw: JsonObject;
}

/** A notification. It is never answered. */
export interface NotificationMessage {
  readonly kind: "notification";
  readonly method: string;
  readonly params: JsonObject;
  readonly raw: JsonObject;
}

/** A response, to a question of the server; any other is ignored. */
export interface ResponseMessage {
  readonly kind: "response";
  readonly raw: JsonObject;
}

/** Any message. */
export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** A message, or the fault of a value. */
export type MessageReading = { readonly ok: true; readonly message: Message } | MessageFault;

/** The fault of a value that is not a message; the id is null where it is not known. */
export interface MessageFault {
  readonly ok: false;
  readonly id: RequestId | null;
  readonly error: EdgeError;
}

const NO_PARAMS: JsonObject = Object.freeze({});
const REQUEST_MEMBERS = new Set(["jsonrpc", "id", "method", "params"]);

/** Whether a value can be a request id. */
export function isRequestId(value: JsonValue | undefined): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}

/**
 * Reads one message. The rules are those of the message schemas of every MCP revision: an object of known members,
 * `jsonrpc` is "2.0", ids are strings or integers, `params` is an object.
 */
export function readMessage(value: JsonValue): MessageReading {
  if (Array.isArray(value)) return messageFault(null, "$", "Cannot read message: batches are not supported");
  if (!isJsonObject(value)) return messageFault(null, "$", "Cannot read message: must be an object");
  const given = member(value, "id");
  const id = isRequestId(given) ? given : null;
  if (member(value, "jsonrpc") !== "2.0") {
    return messageFault(id, "$.jsonrpc", 'Cannot read message: jsonrpc must be "2.0"');
  }
  if (given !== undefined && id === null) {
    return messageFault(null, "$.id", "Cannot read message: id must be a string or an integer within 2^53-1");
  }
  const method = member(value, "method");
  if (method === undefined && (Object.hasOwn(value, "result") || Object.hasOwn(value, "error"))) {
    return { ok: true, message: { kind: "response", raw: value } };
  }
  if (typeof method !== "string") return messageFault(id, "$.method", "Cannot read message: method must be a string");
  for (const name of Object.keys(value)) {
    if (!REQUEST_MEMBERS.has(name)) return messageFault(id, "$", `Cannot read message: unknown member ${shown(name)}`);
  }
  const params = member(value, "params");
  if (params !== undefined && !isJsonObject(params)) {
    return messageFault(id, "$.params", "Cannot read message: params must be an object");
  }
  const fault = params === undefined ? null : metaFault(params);
  if (fault !== null) return { ok: false, id, error: fault };
  const rest = { method, params: params ?? NO_PARAMS, raw: value };
  return { ok: true, message: id === null ? { kind: "notification", ...rest } : { kind: "request", id, ...rest } };
}

/** The fault of `params._meta` by the rules of every revision, or null. */
function metaFault(params: JsonObject): EdgeError | null {
  const meta = member(params, "_meta");
  if (meta === undefined) return null;
  if (!isJsonObject(meta)) return invalidMeta("$.params._meta", "_meta must be an object");
  const token = member(meta, "progressToken");
  if (token !== undefined && !isRequestId(token)) {
    return invalidMeta("$.params._meta.progressToken", "progressToken must be a string or an integer");
  }
  const task = member(meta, RELATED_TASK);
  if (task !== undefined && !(isJsonObject(task) && typeof member(task, "taskId") === "string")) {
    return invalidMeta(`$.params._meta["${RELATED_TASK}"]`, "related-task must be an object with a taskId");
  }
  return null;
}

const RELATED_TASK = "io.modelcontextprotocol/related-task";

function invalidMeta(path: string, rule: string): EdgeError {
  return { kind: "invalid_params", message: `Cannot read message: ${rule}`, path };
}

function messageFault(id: RequestId | null, path: string, message: string): MessageReading {
  return { ok: false, id, error: { kind: "invalid_request", message, path } };
}

/** A name from outside, quoted and cut to 64 characters. */
function shown(name: string): string {
  return JSON.stringify(name.length > 64 ? `${name.slice(0, 64)}...` : name);
}
