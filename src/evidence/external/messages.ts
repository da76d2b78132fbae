/**
 * Messages between a provider and the protocol library. Each is parsed here first, as strict JSON text.
 *
 * The library's own parser would lose duplicate names, round numbers and copy what it reads. So the result of a tool
 * call is kept aside as it was on the wire. The library receives a placeholder, with which the caller retrieves the
 * result.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { ExternalFailure } from "./failure.ts";

/** Bytes of one message of a provider. */
export const REPLY_BYTES_MAXIMUM = 1024 * 1024;

/** Results of tool calls as they were on the wire, for which the library holds placeholders. */
export interface RawResults {
  /** Registers the id of a tool call that is sent: its result will be kept. */
  readonly expect: (id: JsonValue) => void;
  /** The message that the library receives in place of this one. */
  readonly substitute: (message: JsonObject) => JsonObject;
  /** The kept result of a placeholder that the library returned; a second call finds nothing and returns null. */
  readonly retrieve: (result: unknown) => JsonObject | null;
  /** Drops the result of a call that was cancelled. */
  readonly discard: (id: JsonValue) => void;
}

/** Members of a result that the library itself reads. */
const PROTOCOL_MEMBERS = ["resultType", "isError"];

/** Creates an empty store of results. */
export function createRawResults(): RawResults {
  const awaited = new Set<JsonValue>();
  const kept = new Map<string, JsonObject>();
  const keyOf = (id: JsonValue): string => `result ${JSON.stringify(id)}`;
  return {
    expect: (id) => void awaited.add(id),
    substitute: (message) => {
      const id = member(message, "id");
      // The provider numbers its own requests: such an id means nothing here.
      if (id === undefined || Object.hasOwn(message, "method")) return message;
      if (!awaited.delete(id)) {
        // The library accepts the text of a number as this id: the query ends without a result.
        awaited.delete(Number(id));
        return message;
      }
      if (isErrorResponse(message)) return message;
      // A malformed result gets a placeholder too: without one the library would wait for another response.
      const result = member(message, "result");
      // The library rejects a result of another type, so nothing would retrieve it.
      if (isJsonObject(result) && (member(result, "resultType") ?? "complete") === "complete") {
        kept.set(keyOf(id), result);
      }
      const own = Object.entries(isJsonObject(result) ? result : {}).filter(([name]) =>
        PROTOCOL_MEMBERS.includes(name)
      );
      const content = [{ type: "text", text: keyOf(id) }];
      return { jsonrpc: "2.0", id, result: { ...Object.fromEntries(own), content } };
    },
    retrieve: (result) => {
      const content = isJsonObject(result as JsonValue) ? member(result as JsonObject, "content") : undefined;
      const first = isJsonArray(content) ? content[0] : undefined;
      const key = isJsonObject(first) ? member(first, "text") : undefined;
      const found = typeof key === "string" ? kept.get(key) : undefined;
      if (typeof key === "string") kept.delete(key);
      return found ?? null;
    },
    discard: (id) => {
      awaited.delete(id);
      kept.delete(keyOf(id));
    },
  };
}

function isErrorResponse(message: JsonObject): boolean {
  const error = member(message, "error");
  return isJsonObject(error) && Number.isSafeInteger(member(error, "code")) &&
    typeof member(error, "message") === "string" && member(message, "result") === undefined;
}

/**
 * Parses the text of one message.
 *
 * @throws {ExternalFailure} `provider_protocol_error` where the text is not strict JSON or not an object
 */
export function readMessageText(text: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { message, path } = parsed.fault;
    throw new ExternalFailure("provider_protocol_error", `Cannot read reply of provider: ${message} at ${path}`);
  }
  if (!isJsonObject(parsed.value)) {
    throw new ExternalFailure("provider_protocol_error", "Cannot read reply of provider: it is not a message");
  }
  if (!isMessage(parsed.value)) {
    throw new ExternalFailure(
      "provider_protocol_error",
      "Cannot understand provider: its reply is not an MCP message; is it an MCP server?",
    );
  }
  return parsed.value;
}

/** Checks the members that decide what a message is. Only an error may lack the id of its request. */
function isMessage(message: JsonObject): boolean {
  if (member(message, "jsonrpc") !== "2.0") return false;
  if (Object.hasOwn(message, "method")) return true;
  const { id = null, result = null, error = null } = message;
  return (id !== null || error !== null) && (result === null || error === null);
}
