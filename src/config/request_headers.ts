/** Rules on the request headers that the configuration or a query may set. */

import { words } from "../canonical/words.ts";

/**
 * Headers that only the protocol or gate may set. They frame the message, choose the host, carry credentials, name
 * another client, or make the response conditional or partial.
 */
export const RESERVED_HEADERS: readonly string[] = words(
  "accept-encoding authorization connection content-encoding content-length content-type cookie cookie2",
  "expect forwarded host http2-settings if-match if-modified-since if-none-match if-range",
  "if-unmodified-since keep-alive range te trailer transfer-encoding upgrade user-agent via",
);

/** The prefixes of further reserved headers. */
export const RESERVED_PREFIXES: readonly string[] = ["proxy-", "sec-", "x-forwarded-", "x-gate-"];

/** Reserved headers that may carry the key of an API, where the configuration names one of them. */
const KEY_HEADERS: readonly string[] = ["authorization", "cookie"];

/** Reserved headers that must not carry the key of an API: they frame the message, or choose its host or its form. */
export const KEYLESS_HEADERS: readonly string[] = RESERVED_HEADERS.filter((name) => !KEY_HEADERS.includes(name));

/** Whether a header is one of some reserved ones, or has a reserved prefix. */
export function isReservedHeader(name: string, headers: readonly string[] = RESERVED_HEADERS): boolean {
  const key = name.toLowerCase();
  return headers.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** A header value: visible ASCII, with spaces and tabs inside. */
export const HEADER_VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** Whether a text is a valid header value. */
export function isHeaderValue(text: string): boolean {
  return HEADER_VALUE.test(text);
}

/** The variable that `env:NAME` refers to; null for a literal. */
export function referencedVariable(value: string): string | null {
  return value.startsWith("env:") ? value.slice(4) : null;
}
