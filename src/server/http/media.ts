/** Checks the media types of a request: of its body, and of the replies that it accepts. */

import type { RequestHeaders } from "../auth/types.ts";
import { ofLast } from "../process/of_last.ts";
import type { HttpError } from "./reply.ts";

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*"?utf-8"?[ \t]*)?$/i;

/** The error of a request that does not send and accept JSON, or null. */
export function mediaError(headers: RequestHeaders): HttpError | null {
  if (!JSON_TYPE.test(headers.get("content-type") ?? "")) {
    return mediaRefusal(415, "Cannot read request: Content-Type must be application/json in UTF-8");
  }
  const encoding = headers.get("content-encoding");
  if (encoding !== null && encoding.toLowerCase() !== "identity") {
    return mediaRefusal(415, "Cannot read request: Content-Encoding must be identity");
  }
  return acceptsJson(headers.get("accept"))
    ? null
    : mediaRefusal(406, "Cannot answer request: Accept must allow application/json");
}

/** Whether an `Accept` allows a media type (RFC 9110 section 12.5.1); an absent field allows all. */
export function accepts(accept: string | null, type: string): boolean {
  if (accept === null) return true;
  const family = `${type.split("/")[0]}/*`;
  return accept.toLowerCase().split(",").some((entry) => {
    const [range = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (range !== type && range !== family && range !== "*/*") return false;
    return !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

const acceptsJson = ofLast((accept: string | null) => accepts(accept, "application/json"));

function mediaRefusal(status: number, message: string): HttpError {
  return { status, error: { kind: "invalid_request", message } };
}
