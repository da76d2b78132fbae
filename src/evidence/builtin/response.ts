/**
 * What `http` and `rest` send with every request, and how they read an answer's headers.
 *
 * @module
 */

import type { PinnedQuestion, PinnedResponse } from "../egress/pinned_request.ts";
import { type Finding, observed } from "./result.ts";

type Headers = PinnedQuestion["headers"];

/** The headers of every request: no compression is asked for, and the connection carries one request. */
export function baseHeaders(userAgent: string, accept: string): Headers {
  const agent: Headers = userAgent === "" ? [] : [["User-Agent", userAgent]];
  return [...agent, ["Accept", accept], ["Accept-Encoding", "identity"], ["Connection", "close"]];
}

/** The values of a header, joined as one list (RFC 9110, 5.3); null where the answer has none of that name. */
export function headerValue({ headers }: PinnedResponse, name: string): string | null {
  const key = name.toLowerCase();
  const values = headers.filter(([one]) => one.toLowerCase() === key).map(([, value]) => value);
  return values.length === 0 ? null : values.join(", ");
}

/** The error for a body that is encoded although nobody asked for that: its bytes are not the content's. */
export function refuseEncoding(response: PinnedResponse): Finding | null {
  const encoding = headerValue(response, "content-encoding");
  if (encoding === null || encoding.trim().toLowerCase() === "identity") return null;
  const message = "The body is encoded, although the request accepts none";
  return observed("content_encoding_unsupported", message, { content_encoding: encoding.slice(0, 256) });
}
