/**
 * What the headers of a request may be, whoever gives them: the configuration or a query.
 *
 * @module
 */

/**
 * Headers that belong to the protocol or to gate: they frame the message, choose the host, carry credentials, speak for
 * somebody else, or turn the answer into a part of it.
 */
export const RESERVED_HEADERS: readonly string[] = [
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
];

/** What the names of further such headers begin with. */
export const RESERVED_PREFIXES: readonly string[] = ["proxy-", "sec-", "x-forwarded-", "x-gate-"];

/** Whether a header is not for others to set. */
export function isReservedHeader(name: string): boolean {
  const key = name.toLowerCase();
  return RESERVED_HEADERS.includes(key) || RESERVED_PREFIXES.some((prefix) => key.startsWith(prefix));
}

/** The value of a header: visible ASCII, inside also spaces and tabs. */
export const HEADER_VALUE = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** Whether a text can stand as the value of a header. */
export function isHeaderValue(text: string): boolean {
  return HEADER_VALUE.test(text);
}

/** The variable that `env:NAME` refers to; null for a literal. */
export function referencedVariable(value: string): string | null {
  return value.startsWith("env:") ? value.slice(4) : null;
}
