/**
 * Identities: names that follow from content.
 *
 * An identity is SHA-256 over a label of its kind, one zero byte, and the content, so no two kinds share an identity.
 * Callers pass the hash function, since this module has no dependency on a host.
 */

import { words } from "./words.ts";
import { canonicalize } from "./canonicalize.ts";
import type { JsonValue } from "./json.ts";

/** SHA-256 (FIPS 180-4) of bytes, or of a string's UTF-8 bytes, as 64 lower-case hex digits. */
export type Sha256 = (data: string | Uint8Array) => string;

/** 64 lower-case hex digits that name content by its kind and bytes. */
export type Identity = string;

/** Every kind of identity, as its label has it. */
export const IDENTITY_KINDS = words(
  "scenario-law scenario-graph run-record run-state invocation derived-operation evidence-value",
  "evidence-statement payload intent object runpack report request verdict contract schema operator-profile",
  "time-source principal runtime-profile provider-version",
);

/** A kind of identity. */
export type IdentityKind = typeof IDENTITY_KINDS[number];

/** A hash of content without a label: the one that `sha256sum` shows for the same bytes. */
export interface ContentHash {
  /** The only algorithm. */
  readonly algorithm: "sha256";
  /** 64 lower-case hex digits. */
  readonly value: string;
}

const IDENTITY = /^[0-9a-f]{64}$/;
const OPERATION_IDENTITY = /^[0-9a-f]{32}$/;
const encoder = new TextEncoder();

/**
 * The identity of a JSON value: SHA-256 over `gate:<kind>:v1`, one zero byte, and the canonical bytes.
 *
 * @throws {TypeError} As `canonicalize`
 * @throws {RangeError} As `canonicalize`
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHash } from "node:crypto";
 * import { identify } from "@/canonical/identity.ts";
 *
 * const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");
 * assert.equal(identify(sha256, "payload", { b: 1, a: 2 }), sha256('gate:payload:v1\0{"a":2,"b":1}'));
 * ```
 */
export function identify(sha256: Sha256, kind: IdentityKind, value: JsonValue): Identity {
  return identifyCanonical(sha256, kind, canonicalize(value));
}

/**
 * The identity of a canonical text, for callers that also store or sign that text. The text is not checked.
 */
export function identifyCanonical(sha256: Sha256, kind: IdentityKind, canonicalText: string): Identity {
  return sha256(`${label(kind)}${canonicalText}`);
}

/** The identity of plain bytes: SHA-256 over `gate:<kind>:v1`, one zero byte, and the bytes. */
export function identifyBytes(sha256: Sha256, kind: IdentityKind, bytes: Uint8Array): Identity {
  const prefix = encoder.encode(label(kind));
  const whole = new Uint8Array(prefix.length + bytes.length);
  whole.set(prefix);
  whole.set(bytes, prefix.length);
  return sha256(whole);
}

/** The unlabelled hash of bytes, or of a string's UTF-8 bytes. */
export function contentHash(sha256: Sha256, data: string | Uint8Array): ContentHash {
  return { algorithm: "sha256", value: sha256(data) };
}

/** Whether a value has the form of an identity: 64 lower-case hex digits. */
export function isIdentity(text: unknown): text is Identity {
  return typeof text === "string" && IDENTITY.test(text);
}

/** Whether a value has the form of a 128-bit identity: 32 lower-case hex digits. */
export function isOperationIdentity(text: unknown): text is string {
  return typeof text === "string" && OPERATION_IDENTITY.test(text);
}

/** The bytes before the content: an ASCII label with the kind, ended by a zero byte. */
function label(kind: IdentityKind): string {
  return `gate:${kind}:v1\0`;
}
