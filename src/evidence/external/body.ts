/**
 * Bodies of HTTP answers, read within bounds: one JSON message, or the one event of a stream that answers a request.
 *
 * @module
 */

import { collectBytes } from "../../canonical/collect_bytes.ts";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { member } from "../../canonical/json.ts";
import { decodeUtf8Strict } from "../../canonical/utf8.ts";
import { ExternalFailure } from "./failure.ts";
import { createReplyLines } from "./reply_lines.ts";
import { readMessageText, REPLY_BYTES_MAXIMUM } from "./wire.ts";

/** The chunks of a body; ends early, or throws, where the connection does. */
export type BodyChunks = AsyncIterable<Uint8Array>;

function tooLarge(): ExternalFailure {
  return new ExternalFailure("response_too_large", `The reply of the provider exceeds ${REPLY_BYTES_MAXIMUM} bytes`);
}

/**
 * The text of a whole body.
 *
 * @param announced The length that its header announced
 * @throws {ExternalFailure} `response_too_large` before reading where the header says so, else at the first byte too many
 */
export async function readText(chunks: BodyChunks, announced: string | undefined): Promise<string> {
  if (announced !== undefined && Number(announced) > REPLY_BYTES_MAXIMUM) throw tooLarge();
  const whole = collectBytes(REPLY_BYTES_MAXIMUM);
  for await (const chunk of chunks) if (!whole.add(chunk)) throw tooLarge();
  const text = decodeUtf8Strict(whole.bytes());
  if (text === null) throw new ExternalFailure("provider_protocol_error", "The reply of the provider is no UTF-8");
  return text;
}

/**
 * The event of a stream (HTML, "Server-sent events") whose data is the response to a request; others are passed over.
 *
 * @param id Id of the request
 * @throws {ExternalFailure} `response_truncated` where the stream ends without it
 */
export async function readResponseEvent(chunks: BodyChunks, id: JsonValue | undefined): Promise<JsonObject> {
  let length = 0;
  let data: string[] = [];
  let found: JsonObject | null = null;
  const lines = createReplyLines((line) => {
    if (line.startsWith("data:")) data.push(line.slice(line[5] === " " ? 6 : 5));
    if (line !== "" || data.length === 0) return;
    const message = readMessageText(data.join("\n"));
    data = [];
    if (!Object.hasOwn(message, "method") && member(message, "id") === id) found ??= message;
  });
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > REPLY_BYTES_MAXIMUM) throw tooLarge();
    await lines.push(chunk);
    if (found !== null) return found;
  }
  throw new ExternalFailure("response_truncated", "The reply of the provider ended early");
}
