/** Media types (RFC 9110, 8.3.1): their grammar, and which of them are JSON. */

import { SPEC_LIMITS } from "./limits.ts";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
// quoted-string of RFC 9110, 5.6.4, in the visible ASCII range, space and tab.
const QUOTED = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t !-~])*"';
const MEDIA_TYPE = new RegExp(`^(${TOKEN})/(${TOKEN})(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`);

/** Whether a text is a media type of at most 256 characters, with or without parameters. */
export function isMediaType(text: string): boolean {
  return text.length <= SPEC_LIMITS.contentTypeLength && MEDIA_TYPE.test(text);
}

/**
 * Whether a media type is JSON: `application/json`, or a subtype that ends in `+json` (RFC 6839, 3.1). Case and
 * parameters have no effect.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { isJsonContentType } from "@/law/content_type.ts";
 *
 * assert.ok(isJsonContentType("Application/JSON; charset=utf-8"));
 * assert.ok(isJsonContentType("application/vnd.release+json"));
 * assert.ok(!isJsonContentType("text/plain"));
 * ```
 */
export function isJsonContentType(text: string): boolean {
  const parts = text.length <= SPEC_LIMITS.contentTypeLength ? MEDIA_TYPE.exec(text) : null;
  if (parts === null) return false;
  const subtype = (parts[2] ?? "").toLowerCase();
  return subtype.endsWith("+json") || ((parts[1] ?? "").toLowerCase() === "application" && subtype === "json");
}
