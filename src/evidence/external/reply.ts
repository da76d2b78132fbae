/**
 * What an external provider replies, decoded strictly: every member known, of its type and within its bounds. A reply that
 * is anything else is no evidence, not even of absence.
 *
 * @module
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { decodeBase64 } from "../../canonical/base64.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { isMediaType } from "../../law/content_type.ts";
import type { ContentHash, EvidenceAnchor, EvidenceSignature, ObservedError } from "../../run/types.ts";
import type { EvidenceResult, EvidenceValue } from "../types.ts";

/** Bytes that the parts of a reply may have, beside its value. */
export const REPLY_LIMITS = {
  errorCode: 128,
  errorMessage: 2048,
  errorDetails: 16_384,
  uri: 4096,
  anchorType: 256,
  anchorValue: 16_384,
  keyId: 4096,
  signature: 256,
} as const;

/** A decoded reply, or what is wrong with it and where. */
export type DecodedReply =
  | { readonly ok: true; readonly result: EvidenceResult }
  | { readonly ok: false; readonly message: string };

/** What is wrong with a reply. */
class ReplyFault extends Error {}

/**
 * Decodes the JSON form of an evidence result. A member that is left out is null; `lane` is then `verified`. Only `value` has
 * to be there where there is no error: that nothing was found is evidence too, and has to be said.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeReply } from "@/evidence/external/reply.ts";
 *
 * const reply = decodeReply({ value: { kind: "json", value: 7 } });
 * assert.ok(reply.ok && reply.result.lane === "verified");
 * assert.deepEqual(decodeReply({ value: null, extra: 1 }), { ok: false, message: '$: member "extra" is unknown' });
 * ```
 */
export function decodeReply(reply: JsonValue): DecodedReply {
  try {
    return { ok: true, result: decodeResult(reply) };
  } catch (error) {
    if (error instanceof ReplyFault) return { ok: false, message: error.message };
    throw error;
  }
}

const MEMBERS = [
  "value",
  "lane",
  "error",
  "evidence_hash",
  "evidence_ref",
  "evidence_anchor",
  "signature",
  "content_type",
  "observed_at",
] as const;

function decodeResult(reply: JsonValue): EvidenceResult {
  const object = closed(reply, "$", MEMBERS);
  const result: EvidenceResult = {
    value: optional(object, "value", decodeValue),
    lane: optional(object, "lane", decodeLane) ?? "verified",
    error: optional(object, "error", decodeError),
    evidence_hash: optional(object, "evidence_hash", decodeHash),
    evidence_ref: optional(object, "evidence_ref", decodeReference),
    evidence_anchor: optional(object, "evidence_anchor", decodeAnchor),
    signature: optional(object, "signature", decodeSignature),
    content_type: optional(object, "content_type", decodeContentType),
  };
  if (result.error !== null) {
    for (const name of ["value", "evidence_hash", "content_type"] as const) {
      if (result[name] !== null) fault(`$.${name}`, "must be null where there is an error");
    }
  }
  const observedAt = optional(object, "observed_at", decodeInstant);
  if (result.error === null && member(object, "value") === undefined) {
    fault("$.value", "is missing: null says that nothing was found");
  }
  return observedAt === null ? result : { ...result, observed_at: observedAt };
}

function decodeValue(value: JsonValue, path: string): EvidenceValue {
  const object = closed(value, path, ["kind", "value", "base64"]);
  const kind = member(object, "kind");
  if (kind === "json") {
    closed(value, path, ["kind", "value"]);
    const inner = member(object, "value");
    if (inner === undefined) return fault(`${path}.value`, "is missing");
    return { kind, value: inner };
  }
  if (kind !== "bytes") return fault(`${path}.kind`, 'must be "json" or "bytes"');
  closed(value, path, ["kind", "base64"]);
  const base64 = member(object, "base64");
  if (typeof base64 !== "string" || decodeBase64(base64) === null) {
    return fault(`${path}.base64`, "must be the base64 of some bytes");
  }
  return { kind, base64 };
}

function decodeLane(value: JsonValue, path: string): "verified" | "asserted" {
  return value === "verified" || value === "asserted" ? value : fault(path, 'must be "verified" or "asserted"');
}

function decodeError(value: JsonValue, path: string): ObservedError {
  const object = closed(value, path, ["code", "message", "details"]);
  const code = text(object, "code", path, REPLY_LIMITS.errorCode);
  if (!/^[\x21-\x7e]+$/.test(code)) return fault(`${path}.code`, "must be of visible ASCII characters");
  const message = text(object, "message", path, REPLY_LIMITS.errorMessage);
  const details = member(object, "details");
  if (details === undefined || details === null) return { code, message };
  if (utf8Length(canonicalize(details)) > REPLY_LIMITS.errorDetails) {
    return fault(`${path}.details`, `must have at most ${REPLY_LIMITS.errorDetails} bytes`);
  }
  return { code, message, details };
}

function decodeHash(value: JsonValue, path: string): ContentHash {
  const object = closed(value, path, ["algorithm", "value"]);
  if (member(object, "algorithm") !== "sha256") return fault(`${path}.algorithm`, 'must be "sha256"');
  const digest = member(object, "value");
  if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest)) {
    return fault(`${path}.value`, "must be 64 lower-case hex digits");
  }
  return { algorithm: "sha256", value: digest };
}

function decodeReference(value: JsonValue, path: string): { readonly uri: string } {
  return { uri: text(closed(value, path, ["uri"]), "uri", path, REPLY_LIMITS.uri) };
}

function decodeAnchor(value: JsonValue, path: string): EvidenceAnchor {
  const object = closed(value, path, ["anchor_type", "anchor_value"]);
  return {
    anchor_type: text(object, "anchor_type", path, REPLY_LIMITS.anchorType),
    anchor_value: text(object, "anchor_value", path, REPLY_LIMITS.anchorValue),
  };
}

function decodeSignature(value: JsonValue, path: string): EvidenceSignature {
  const object = closed(value, path, ["scheme", "key_id", "signature"]);
  if (member(object, "scheme") !== "ed25519") return fault(`${path}.scheme`, 'must be "ed25519"');
  return {
    scheme: "ed25519",
    key_id: text(object, "key_id", path, REPLY_LIMITS.keyId),
    signature: text(object, "signature", path, REPLY_LIMITS.signature),
  };
}

function decodeContentType(value: JsonValue, path: string): string {
  return typeof value === "string" && isMediaType(value) ? value : fault(path, "must be a media type");
}

function decodeInstant(value: JsonValue, path: string): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0
    ? value
    : fault(path, "must be Unix milliseconds");
}

/** A member's value, decoded; null where it is left out or null. */
function optional<Value>(
  object: JsonObject,
  name: string,
  decode: (value: JsonValue, path: string) => Value,
): Value | null {
  const value = member(object, name);
  return value === undefined || value === null ? null : decode(value, `$.${name}`);
}

function text(object: JsonObject, name: string, path: string, maximumBytes: number): string {
  const value = member(object, name);
  if (typeof value !== "string" || value === "") return fault(`${path}.${name}`, "must be a string that is not empty");
  if (utf8Length(value) > maximumBytes) return fault(`${path}.${name}`, `must have at most ${maximumBytes} bytes`);
  return value;
}

/** An object that has no member but these. */
function closed(value: JsonValue, path: string, names: readonly string[]): JsonObject {
  if (!isJsonObject(value)) return fault(path, "must be an object");
  const unknown = Object.keys(value).find((name) => !names.includes(name));
  if (unknown !== undefined) return fault(path, `member ${JSON.stringify(unknown.slice(0, 64))} is unknown`);
  return value;
}

function fault(path: string, message: string): never {
  throw new ReplyFault(`${path}: ${message}`);
}

/**
 * The evidence result in the raw result of `tools/call`: as `structuredContent`, or as the one item `{type: "json", json}`
 * of older providers.
 *
 * @returns The decoded reply; the tool's own error, and anything else, as what is wrong.
 */
export function decodeToolResult(result: JsonObject): DecodedReply {
  if (member(result, "isError") === true) {
    return { ok: false, message: `the provider's tool failed: ${plainText(result)}` };
  }
  const structured = member(result, "structuredContent");
  if (structured !== undefined) return decodeReply(structured);
  const content = member(result, "content");
  const first = isJsonArray(content) ? content[0] : undefined;
  if (isJsonObject(first) && member(first, "type") === "json") {
    const json = member(first, "json");
    if (json !== undefined) return decodeReply(json);
  }
  return { ok: false, message: "the result has neither structuredContent nor an item of type json" };
}

function plainText(result: JsonObject): string {
  const content = member(result, "content");
  const first = isJsonArray(content) ? content[0] : undefined;
  const said = isJsonObject(first) ? member(first, "text") : undefined;
  return typeof said === "string" ? boundedText(said) : "it gave no reason";
}

/** A foreign text as a message may repeat it: one line, without control characters, at most 200 characters. */
export function boundedText(said: string): string {
  const line = said.slice(0, 1000).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").toWellFormed().trim();
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line;
}
