/**
 * Finds the era of a request from its message and its MCP header fields, which must agree (MCP 2026-07-28, Streamable
 * HTTP).
 */

import { isJsonObject, member } from "../../canonical/json.ts";
import type { RequestHeaders } from "../auth/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { LEGACY_VERSIONS, MODERN_VERSION } from "../protocol/identity.ts";
import type { NotificationMessage, RequestMessage } from "../protocol/message.ts";
import { envelopeError, unsupportedVersion } from "../protocol/plan.ts";
import { type Envelope, isInitialize, isModernVersion } from "../protocol/protocol_era.ts";
import type { AnswerEra } from "../protocol/result_json.ts";

/** The era of a message, or the error of fields that do not fit it. */
export type EraReading =
  | { readonly ok: true; readonly era: AnswerEra }
  | { readonly ok: false; readonly error: EdgeError };

/** The parameter that `Mcp-Name` repeats, by method. */
const NAMED: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** Finds the era of a request. */
export function requestEra(headers: RequestHeaders, request: RequestMessage, envelope: Envelope): EraReading {
  const version = headers.get("mcp-protocol-version");
  const isModern = version !== null && isModernVersion(version);
  if (isInitialize(request.method, envelope)) {
    return isModern ? mismatch("initialize is not of the version in MCP-Protocol-Version") : LEGACY;
  }
  if (envelope.status === "none") {
    if (isModern) return { ok: false, error: envelopeError(envelope) };
    return legacyEra(version);
  }
  if (envelope.status === "malformed") return { ok: false, error: envelopeError(envelope) };
  const claimed = envelope.status === "valid" ? MODERN_VERSION : envelope.requested;
  const disagreement = disagreementOf(headers, request, claimed);
  if (disagreement !== null) return mismatch(disagreement);
  if (envelope.status === "unsupported") return { ok: false, error: unsupportedVersion(envelope.requested) };
  if (version === null) return mismatch("MCP-Protocol-Version is missing");
  if (headers.get("mcp-method") === null) return mismatch("Mcp-Method is missing");
  const name = nameDisagreement(headers.get("mcp-name"), request);
  return name === null ? MODERN : mismatch(name);
}

/** Finds the era of a notification. */
export function notificationEra(
  headers: RequestHeaders,
  notification: NotificationMessage,
  envelope: Envelope,
): EraReading {
  const version = headers.get("mcp-protocol-version");
  if (envelope.status === "none") {
    if (version === null || !isModernVersion(version)) return legacyEra(version);
    return noticeOf(headers, notification, version);
  }
  const claimed = envelope.status === "unsupported" ? envelope.requested : claimedVersion(notification);
  return claimed === null ? { ok: false, error: envelopeError(envelope) } : noticeOf(headers, notification, claimed);
}

/** The era of a notification that claims a version; fields of the modern era count only for such a version. */
function noticeOf(headers: RequestHeaders, notification: NotificationMessage, claimed: string): EraReading {
  const disagreement = isModernVersion(claimed)
    ? disagreementOf(headers, notification, claimed)
    : versionDisagreement(headers, claimed);
  if (disagreement !== null) return mismatch(disagreement);
  return claimed === MODERN_VERSION ? MODERN : { ok: false, error: unsupportedVersion(claimed) };
}

/** Finds the era of a response, which names no version itself. */
export function responseEra(headers: RequestHeaders): EraReading {
  const version = headers.get("mcp-protocol-version");
  return version !== null && isModernVersion(version) ? MODERN : legacyEra(version);
}

const LEGACY: EraReading = { ok: true, era: "legacy" };
const MODERN: EraReading = { ok: true, era: "modern" };

/** The version in a notification's envelope; null where it is not a string. */
function claimedVersion({ params }: NotificationMessage): string | null {
  const meta = member(params, "_meta");
  const version = isJsonObject(meta) ? member(meta, "io.modelcontextprotocol/protocolVersion") : null;
  return typeof version === "string" ? version : null;
}

/** Where a present version or method field differs from the message. */
function disagreementOf(
  headers: RequestHeaders,
  { method }: RequestMessage | NotificationMessage,
  claimed: string,
): string | null {
  const named = headers.get("mcp-method");
  return versionDisagreement(headers, claimed) ??
    (named !== null && named !== method ? "Mcp-Method is not the method of the message" : null);
}

function versionDisagreement(headers: RequestHeaders, claimed: string): string | null {
  const version = headers.get("mcp-protocol-version");
  return version !== null && version !== claimed ? "MCP-Protocol-Version is not the version of the message" : null;
}

function nameDisagreement(field: string | null, { method, params }: RequestMessage): string | null {
  const parameter = NAMED.get(method);
  if (parameter === undefined) return null;
  const value = member(params, parameter);
  const name = typeof value === "string" ? value : null;
  if (field === null) return name === null ? null : "Mcp-Name is missing";
  const decoded = decodeName(field);
  if (decoded === null) return "Mcp-Name is not valid Base64 of UTF-8";
  return name !== null && decoded !== name ? `Mcp-Name is not params.${parameter}` : null;
}

const ENCODED = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;

/** The text of a field: as it is, or Base64 of UTF-8 between `=?base64?` and `?=`. Null where that is malformed. */
function decodeName(field: string): string | null {
  if (!(field.startsWith("=?base64?") && field.endsWith("?="))) return field;
  const encoded = ENCODED.exec(field)?.[1];
  if (encoded === undefined) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(encoded));
  } catch {
    return null;
  }
}

function mismatch(what: string): EraReading {
  return { ok: false, error: { kind: "header_mismatch", message: `Header fields and message disagree: ${what}` } };
}

/** The older era, if the version in `MCP-Protocol-Version` is served. */
function legacyEra(version: string | null): EraReading {
  if (version === null || LEGACY_VERSIONS.includes(version)) return LEGACY;
  const requested = version.slice(0, 128);
  const message = `Unsupported protocol version in MCP-Protocol-Version: ${requested}`;
  const versions = { supported: LEGACY_VERSIONS, requested };
  return { ok: false, error: { kind: "unsupported_protocol_version", message, versions } };
}
