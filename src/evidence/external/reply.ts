/**
 * Decodes the replies of external providers strictly: known members only, each of its type and within its limits. Any
 * other reply is not evidence, not even of absence.
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { decodeBase64 } from "../../canonical/base64.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { below, type JsonPath, pathOf } from "../../canonical/path.ts";
import {
  anything,
  boundedText,
  closed,
  contentHash,
  matching,
  oneOf,
  orNull,
  type Reader,
  readFirst,
  type ShapeFault,
  variant,
} from "../../canonical/shape.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { isMediaType } from "../../law/content_type.ts";
import { quote } from "../../law/suggest.ts";
import type { EvidenceResult } from "../types.ts";

/** Bytes of the parts of a reply other than its value. */
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

/** A decoded reply, or path and fault of an invalid one. */
export type DecodedReply =
  | { readonly ok: true; readonly result: EvidenceResult }
  | { readonly ok: false; readonly message: string };

/**
 * Decodes the JSON form of an evidence result. An absent member is null; an absent `lane` is `verified`. `value` is
 * required without an error: a result that nothing was found is evidence too and has to be explicit.
 */
export function decodeReply(reply: JsonValue): DecodedReply {
  const read = readFirst(readResult, reply);
  return read.ok ? { ok: true, result: read.value } : { ok: false, message: explain(read.fault, read.path) };
}

/** A string that is not empty. */
function string(maximumBytes: number): Reader<string> {
  return boundedText(1, maximumBytes);
}

const isBase64 = (value: JsonValue): value is string => typeof value === "string" && decodeBase64(value) !== null;
const isType = (value: JsonValue): value is string => typeof value === "string" && isMediaType(value);
const isVisible = (value: JsonValue): value is string => /^[\x21-\x7e]+$/.test(`${value}`);
const isInstant = (value: JsonValue): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

const readVisible = matching("of visible ASCII characters", isVisible);
const readCode: Reader<string> = (faults, value, path) => {
  const code = string(REPLY_LIMITS.errorCode)(faults, value, path);
  return code === undefined ? undefined : readVisible(faults, code, path);
};
const readDetails: Reader<JsonValue> = (faults, value, path) => {
  const bytes = utf8Length(canonicalize(value));
  if (bytes <= REPLY_LIMITS.errorDetails) return value;
  faults.add({ kind: "bytes", minimum: 0, maximum: REPLY_LIMITS.errorDetails, bytes }, path);
  return undefined;
};

const readMembers = closed({}, {
  value: orNull(variant("kind", {
    json: closed({ kind: oneOf("json"), value: anything }),
    bytes: closed({ kind: oneOf("bytes"), base64: matching("the base64 of some bytes", isBase64) }),
  })),
  lane: orNull(oneOf("verified", "asserted")),
  error: orNull(closed({ code: readCode, message: string(REPLY_LIMITS.errorMessage) }, { details: readDetails })),
  evidence_hash: orNull(contentHash),
  evidence_ref: orNull(closed({ uri: string(REPLY_LIMITS.uri) })),
  evidence_anchor: orNull(closed({
    anchor_type: string(REPLY_LIMITS.anchorType),
    anchor_value: string(REPLY_LIMITS.anchorValue),
  })),
  signature: orNull(closed({
    scheme: oneOf("ed25519"),
    key_id: string(REPLY_LIMITS.keyId),
    signature: string(REPLY_LIMITS.signature),
  })),
  content_type: orNull(matching("a media type", isType)),
  observed_at: orNull(matching("Unix milliseconds", isInstant)),
});

/** Reads the members, then checks the rules between them. */
const readResult: Reader<EvidenceResult> = (faults, value, path) => {
  const given = readMembers(faults, value, path);
  if (given === undefined) return undefined;
  const { error = null, observed_at = null } = given;
  const reject = (name: string, expected: string): void =>
    faults.add({ kind: "form", expected, value: null }, below(path, name));
  if (error === null && given.value === undefined) reject("value", "present; null states that nothing was found");
  for (const name of ["value", "evidence_hash", "content_type"] as const) {
    if (error !== null && (given[name] ?? null) !== null) reject(name, "null where there is an error");
  }
  const { code, message, details = null } = error ?? { code: "", message: "" };
  const observed = details === null ? { code, message } : { code, message, details };
  return {
    value: given.value ?? null,
    lane: given.lane ?? "verified",
    error: error === null ? null : observed,
    evidence_hash: given.evidence_hash ?? null,
    evidence_ref: given.evidence_ref ?? null,
    evidence_anchor: given.evidence_anchor ?? null,
    signature: given.signature ?? null,
    content_type: given.content_type ?? null,
    ...observed_at === null ? {} : { observed_at },
  };
};

/** The message for a fault. */
function explain(fault: ShapeFault, path: JsonPath): string {
  switch (fault.kind) {
    case "missing":
      return `${pathOf(below(path, fault.name))}: is missing`;
    case "unknown":
      return `${pathOf(path)}: member ${quote(fault.name)} is unknown`;
    case "object":
      return `${pathOf(path)}: must be an object`;
    case "choice":
      return `${pathOf(path)}: must be ${fault.known.map((one) => JSON.stringify(one)).join(" or ")}`;
    case "bytes":
      if (fault.bytes < fault.minimum) return `${pathOf(path)}: must be a string that is not empty`;
      return `${pathOf(path)}: must have at most ${fault.maximum} bytes`;
    case "type":
    case "form":
      return `${pathOf(path)}: must be ${fault.expected}`;
    case "duplicate":
      return `${pathOf(path)}: is repeated`;
    case "items":
    case "integer":
      return `${pathOf(path)}: must be from ${fault.minimum} to ${fault.maximum}`;
  }
}

/**
 * Decodes the evidence result in the raw result of `tools/call`: `structuredContent`, or the first item
 * `{type: "json", json}` of older providers.
 *
 * @returns The decoded reply, or the message of the tool's error or of an invalid result
 */
export function decodeToolResult(result: JsonObject): DecodedReply {
  if (member(result, "isError") === true) {
    return { ok: false, message: `the provider's tool failed: ${reasonIn(result)}` };
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

function reasonIn(result: JsonObject): string {
  const content = member(result, "content");
  const first = isJsonArray(content) ? content[0] : undefined;
  const text = isJsonObject(first) ? member(first, "text") : undefined;
  return typeof text === "string" ? oneLine(text) : "it stated no reason";
}

/** A text from outside as a message may quote it: one line, without control characters, at most 200 characters. */
export function oneLine(text: string): string {
  const line = text.slice(0, 1000).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ").toWellFormed().trim();
  return line.length > 200 ? `${line.slice(0, 200).toWellFormed()}…` : line;
}
