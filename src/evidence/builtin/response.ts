/** The headers that `http` and `rest` send with every request, and how they read those of a response. */

import type { PinnedQuestion, PinnedResponse } from "../egress/pinned_request.ts";
import { type Finding, observed } from "./result.ts";

type Headers = PinnedQuestion["headers"];

/** The headers of every request: no compression, one request for each connection. */
export function baseHeaders(userAgent: string, accept: string): Headers {
  const agent: Headers = userAgent === "" ? [] : [["User-Agent", userAgent]];
  return [...agent, ["Accept", accept], ["Accept-Encoding", "identity"], ["Connection", "close"]];
}

/** The values of a header, joined as one list (RFC 9110, 5.3); null where the response lacks the header. */
export function headerValue({ headers }: PinnedResponse, name: string): string | null {
  const key = name.toLowerCase();
  const values = headers.filter(([one]) => one.toLowerCase() === key).map(([, value]) => value);
  return values.length === 0 ? null : values.join(", ");
}

/** The error for a body with a content encoding that was not requested: its bytes are not those of the content. */
export function refuseEncoding(response: PinnedResponse): Finding | null {
  const encoding = headerValue(response, "content-encoding");
  if (encoding === null || encoding.trim().toLowerCase() === "identity") return null;
  const message = "The body has a content encoding, although the request accepts none";
  return observed("content_encoding_unsupported", message, { content_encoding: encoding.slice(0, 256) });
}
