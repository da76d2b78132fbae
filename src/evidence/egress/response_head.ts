/** The limit on the head of a provider's HTTP response. The parser of node's client counts names and values only. */

import type { IncomingMessage } from "node:http";

/** Bytes of the head of a response. */
export const HEAD_BYTES_MAXIMUM = 16_384;

/** Bytes of `HTTP/1.1 200 `, the end of that line, and the empty line. */
const FIXED_BYTES = 17;

/** Checks whether a head is too large: the status line and `name: value` lines, each with its end, and the empty line. */
export function isHeadTooLarge({ statusMessage = "", rawHeaders }: IncomingMessage): boolean {
  let bytes = FIXED_BYTES + statusMessage.length;
  // A name is followed by a colon and a space, a value by the end of the line.
  for (const part of rawHeaders) bytes += part.length + 2;
  return bytes > HEAD_BYTES_MAXIMUM;
}
