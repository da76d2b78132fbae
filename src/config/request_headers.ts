/**
 * What the headers of a request may be, whoever gives them: the configuration or a query.
 *
 * @module
 */

/**
 * Headers that belong to the protocol or to gate: they frame the message, choose the host, carry credentials, speak for
 * somebody else, or turn the answer into a part of it.
 */
const RESERVED = new Set([
  "accept-encoding",
  "authorization",
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "cookie",
  "cookie2",
  "expect",
  "forwarded",
  "host",
  "http2-settings",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "keep-alive",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "via",
]);
const RESERVED_PREFIXES = ["proxy-", "sec-", "x-forwarded-", "x-gate-"];

/** Whether a header is not for others to set. */
export function isReservedHeader(name: string): boolean {
  const key = name.toLowerCase();
  return RESERVED.has(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** Whether a text can stand as the value of a header: visible ASCII, inside also spaces and tabs. */
export function isHeaderValue(text: string): boolean {
  return /^(?:[!-~](?:[\t -~]*[!-~])?)?$/.test(text);
}

/** The variable that `env:NAME` refers to; null for a literal. */
export function referencedVariable(value: string): string | null {
  return value.startsWith("env:") ? value.slice(4) : null;
}
