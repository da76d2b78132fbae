/** Bodies of HTTP responses, read within bounds: one JSON message, or the event of a stream that answers a request. */

import { collectBytes } from "../../canonical/collect_bytes.ts";
import { type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { decodeUtf8Strict } from "../../canonical/utf8.ts";
import { ExternalFailure } from "./failure.ts";
import { createReplyLines } from "./reply_lines.ts";
import { readMessageText, REPLY_BYTES_MAXIMUM } from "./messages.ts";

/** The chunks of a body; ends early or throws where the connection does. */
export type BodyChunks = AsyncIterable<Uint8Array>;

function replyTooLarge(): ExternalFailure {
  return new ExternalFailure("response_too_large", `The reply of the provider exceeds ${REPLY_BYTES_MAXIMUM} bytes`);
}

/**
 * Reads a whole body as text.
 *
 * @param announced The value of `content-length`
 * @throws {ExternalFailure} `response_too_large` before reading where the header exceeds the limit, else where the bytes do
 */
export async function readText(chunks: BodyChunks, announced: string | undefined): Promise<string> {
  if (announced !== undefined && Number(announced) > REPLY_BYTES_MAXIMUM) throw replyTooLarge();
  const whole = collectBytes(REPLY_BYTES_MAXIMUM);
  for await (const chunk of chunks) if (!whole.add(chunk)) throw replyTooLarge();
  const text = decodeUtf8Strict(whole.bytes());
  if (text === null) throw new ExternalFailure("provider_protocol_error", "The reply of the provider is not UTF-8");
  return text;
}

/**
 * Reads a stream (HTML, "Server-sent events") up to the event whose data is the response to a request; skips other
 * events.
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
    if (length > REPLY_BYTES_MAXIMUM) throw replyTooLarge();
    await lines.push(chunk);
    if (found !== null) return found;
  }
  throw new ExternalFailure("response_truncated", "The reply of the provider ended early");
}
