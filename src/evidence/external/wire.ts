/**
 * Messages on their way between a provider and the protocol library: each is scanned as text before anything parses it, and
 * the result of a tool call is taken out of it untouched. The library's own reader would lose duplicate names and round
 * numbers, and it copies what it reads; so it is handed a ticket in place of the result, and whoever holds the ticket gets
 * the result as it was on the wire.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { ExternalFailure } from "./failure.ts";

/** Bytes of one message of a provider. */
export const REPLY_BYTES_MAXIMUM = 1024 * 1024;

/** The results that the library has tickets for. */
export interface Cloakroom {
  /** A tool call goes out: the result that comes back under its id will be kept. */
  readonly expect: (id: JsonValue) => void;
  /** What the library gets in place of a message. */
  readonly check: (message: JsonObject) => JsonObject;
  /** The result behind what the library gave back, once; null where there is none. */
  readonly redeem: (result: unknown) => JsonObject | null;
  /** Forgets what nobody asked for. */
  readonly forget: (id: JsonValue) => void;
}

/** Members of a result that the library itself goes by. */
const PROTOCOL_MEMBERS = ["resultType", "isError"];

/** An empty cloakroom. */
export function createCloakroom(): Cloakroom {
  const awaited = new Set<JsonValue>();
  const kept = new Map<string, JsonObject>();
  const ticketOf = (id: JsonValue): string => `result ${JSON.stringify(id)}`;
  return {
    expect: (id) => void awaited.add(id),
    check: (message) => {
      const id = member(message, "id");
      if (id === undefined || !awaited.delete(id) || isErrorResponse(message)) return message;
      // What is no result at all gets a ticket too, behind which there is nothing: the library would wait for another.
      const result = member(message, "result");
      if (isJsonObject(result)) kept.set(ticketOf(id), result);
      const own = Object.entries(isJsonObject(result) ? result : {}).filter(([name]) =>
        PROTOCOL_MEMBERS.includes(name)
      );
      const content = [{ type: "text", text: ticketOf(id) }];
      return { jsonrpc: "2.0", id, result: { ...Object.fromEntries(own), content } };
    },
    redeem: (result) => {
      const content = isJsonObject(result as JsonValue) ? member(result as JsonObject, "content") : undefined;
      const first = isJsonArray(content) ? content[0] : undefined;
      const ticket = isJsonObject(first) ? member(first, "text") : undefined;
      const found = typeof ticket === "string" ? kept.get(ticket) : undefined;
      if (typeof ticket === "string") kept.delete(ticket);
      return found ?? null;
    },
    forget: (id) => {
      awaited.delete(id);
      kept.delete(ticketOf(id));
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
 * @throws {ExternalFailure} `provider_protocol_error` where it is no strict JSON, or no object
 */
export function readMessageText(text: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok) {
    const { message, path } = parsed.fault;
    throw new ExternalFailure("provider_protocol_error", `Cannot read reply of provider: ${message} at ${path}`);
  }
  if (!isJsonObject(parsed.value)) {
    throw new ExternalFailure("provider_protocol_error", "Cannot read reply of provider: it is no message");
  }
  return parsed.value;
}
