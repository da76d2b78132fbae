/**
 * Bodies of requests: counted while they come in, and strictly UTF-8.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import { collectBytes } from "../../canonical/collect_bytes.ts";
import type { BodyFault, BodyReading } from "./request.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Reads a body. The length that the client announces is believed only where it is too much.
 *
 * @param message The request; its body is not read yet
 * @param maximumBytes The most bytes that are kept
 * @param hasRoom Asked whether so many bytes may be kept, each time that there are more
 */
export function readBody(
  message: IncomingMessage,
  maximumBytes: number,
  hasRoom: (bytes: number) => boolean,
): Promise<BodyReading> {
  if (Number(message.headers["content-length"] ?? 0) > maximumBytes) {
    return Promise.resolve({ ok: false, fault: "too_large" });
  }
  const { promise, resolve } = Promise.withResolvers<BodyReading>();
  const collector = collectBytes(maximumBytes);
  let size = 0;
  let settled = false;
  const settle = (reading: () => BodyReading): void => {
    if (settled) return;
    settled = true;
    resolve(reading());
  };
  const fail = (fault: BodyFault) => (): void => settle(() => ({ ok: false, fault }));
  if (message.headers["transfer-encoding"] !== undefined) watchFraming(message, () => size, fail("framing_too_large"));
  message.on("data", (chunk: Uint8Array) => {
    if (settled) return;
    size += chunk.length;
    if (size > maximumBytes) fail("too_large")();
    else if (!hasRoom(size)) fail("no_room")();
    else collector.add(chunk);
  });
  message.on("end", () => settle(() => decode(collector.bytes())));
  message.on("error", fail("incomplete"));
  message.on("close", fail("incomplete"));
  return promise;
}

/** Bytes around its chunks that any body may have; what the next requests on the connection begin with is among them. */
const FRAMING_BYTES = 128 * 1024;

/** What stands around a chunk of one byte: its size, and two ends of lines. */
const FRAMING_OF_BYTE = 5;

/** How often it is looked at, in milliseconds; a body that is there whole is looked at once more. */
const LOOK_MILLISECONDS = 50;

/**
 * Calls a function where a body has far more bytes around its chunks than in them. The parser drops what it does not know of
 * a chunk, so that a sender could go on for ever without sending a body.
 */
function watchFraming(message: IncomingMessage, size: () => number, tooLarge: () => void): void {
  const { socket } = message;
  const before = socket.bytesRead;
  const look = (): void => {
    if (socket.bytesRead - before > FRAMING_BYTES + (1 + FRAMING_OF_BYTE) * size()) tooLarge();
  };
  const timer = setInterval(look, LOOK_MILLISECONDS);
  message.on("end", () => {
    clearInterval(timer);
    look();
  });
  message.on("close", () => clearInterval(timer));
}

function decode(bytes: Uint8Array): BodyReading {
  try {
    return { ok: true, text: decoder.decode(bytes) };
  } catch {
    return { ok: false, fault: "not_utf8" };
  }
}
