/**
 * Bodies of requests: counted while they come in, and strictly UTF-8.
 *
 * @module
 */

import type { IncomingMessage } from "node:http";
import type { BodyReading } from "./request.ts";

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
  const chunks: Uint8Array[] = [];
  let size = 0;
  let settled = false;
  const settle = (reading: BodyReading): void => {
    if (settled) return;
    settled = true;
    chunks.length = 0;
    resolve(reading);
  };
  message.on("data", (chunk: Uint8Array) => {
    if (settled) return;
    size += chunk.length;
    if (size > maximumBytes) settle({ ok: false, fault: "too_large" });
    else if (!hasRoom(size)) settle({ ok: false, fault: "no_room" });
    else chunks.push(chunk);
  });
  message.on("end", () => settle(decode(chunks, size)));
  message.on("error", () => settle({ ok: false, fault: "incomplete" }));
  message.on("close", () => settle({ ok: false, fault: "incomplete" }));
  return promise;
}

function decode(chunks: readonly Uint8Array[], size: number): BodyReading {
  try {
    return { ok: true, text: decoder.decode(joined(chunks, size)) };
  } catch {
    return { ok: false, fault: "not_utf8" };
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = chunks;
  if (chunks.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
