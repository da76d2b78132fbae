/** Reads request bodies: bounded in size while they are received, and strictly UTF-8. */

import type { IncomingMessage } from "node:http";
import { decodeUtf8Strict } from "../../canonical/utf8.ts";
import { type ByteCollector, collectBytes } from "../../canonical/collect_bytes.ts";
import type { RequestHeaders } from "../auth/types.ts";
import type { BodyFault, BodyReading } from "./request.ts";

const NOTHING = new Uint8Array(0);

/**
 * Reads a body. An announced length rejects a body that is too long, and shows that a piece is the whole body.
 *
 * @param message The request; its body is not read yet
 * @param fields Its header fields
 * @param maximumBytes The most bytes of a body
 * @param hasRoom Called with the size so far at each chunk; false rejects the body
 * @param bytesBefore Bytes of the connection up to its head: authentication may have waited since, with framing arriving
 */
export function readBody(
  message: IncomingMessage,
  fields: RequestHeaders,
  maximumBytes: number,
  hasRoom: (bytes: number) => boolean,
  bytesBefore: number,
): Promise<BodyReading> {
  const announced = Number(fields.get("content-length") ?? NaN);
  if (announced > maximumBytes) return Promise.resolve({ ok: false, fault: "too_large" });
  const { promise, resolve } = Promise.withResolvers<BodyReading>();
  let collector: ByteCollector | null = null;
  let size = 0;
  let whole: Uint8Array | null = null;
  let settled = false;
  const settle = (reading: () => BodyReading): void => {
    if (settled) return;
    settled = true;
    resolve(reading());
  };
  const fail = (fault: BodyFault) => (): void => settle(() => ({ ok: false, fault }));
  if (fields.get("transfer-encoding") !== null) {
    watchFraming(message, bytesBefore, () => size, fail("framing_too_large"));
  }
  message.on("data", (chunk: Uint8Array) => {
    if (settled) return;
    size += chunk.length;
    if (size > maximumBytes) fail("too_large")();
    else if (!hasRoom(size)) fail("no_room")();
    // Most bodies are one piece. Its end follows at once, so that it needs no copy.
    else if (chunk.length === announced) whole = chunk;
    else (collector ??= collectBytes(maximumBytes)).add(chunk);
  });
  message.on("end", () => settle(() => decode(whole ?? collector?.bytes() ?? NOTHING)));
  message.on("error", fail("incomplete"));
  message.on("close", fail("incomplete"));
  return promise;
}

/** Bytes of chunk framing that any body may have. They include the start of later requests on the connection. */
const FRAMING_BYTES = 128 * 1024;

/** Framing of a chunk of one byte: its size and two line ends. */
const FRAMING_OF_BYTE = 5;

/** How often framing is checked, in milliseconds; once more at the end of a body. */
const LOOK_MILLISECONDS = 50;

/**
 * Calls a function when a body has far more framing than data. The parser drops chunk extensions, so a sender could
 * otherwise send them without end.
 */
function watchFraming(message: IncomingMessage, before: number, size: () => number, tooLarge: () => void): void {
  const { socket } = message;
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

function decode(utf8: Uint8Array): BodyReading {
  const text = decodeUtf8Strict(utf8);
  return text === null ? { ok: false, fault: "not_utf8" } : { ok: true, text, utf8 };
}
