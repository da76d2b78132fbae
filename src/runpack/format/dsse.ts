/**
 * Signatures over a pack: a DSSE envelope that holds an in-toto statement about the manifest (docs/format/runpack.md
 * "Signatures"). The host holds the keys and signs.
 */

import { decodeBase64, encodeBase64 } from "../../canonical/base64.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { decodeUtf8Strict, parseJson } from "../../canonical/scan.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { asJson, type Primitives } from "../../run/primitives.ts";
import { runpackIdentity } from "./manifest.ts";
import { ENVELOPE_SIGNATURES, type Manifest, PACK_DEPTH, type RunpackSignature, SIGNATURE_BYTES } from "./types.ts";

/** The type of the payload: an in-toto attestation. */
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";
/** The type of an in-toto statement, as its specification spells it. */
export const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
/** The type of the predicate of the statement. */
const PREDICATE_TYPE = "urn:gate:runpack-checkpoint:v1";

/** The key id of a public key: SHA-256 of its 32 bytes, in hex. */
export function keyIdOf(sha256: Sha256, publicKey: Uint8Array): Identity {
  return sha256(publicKey);
}

/**
 * The in-toto statement about a pack, in canonical JSON: its subject is the manifest as a file, its predicate the
 * checkpoint.
 *
 * @param bytes The manifest's bytes
 * @param manifest The decoded manifest
 */
export function statementOf(sha256: Sha256, bytes: Uint8Array, manifest: Manifest): string {
  const { format, head, record_tree, run_key } = manifest;
  return canonicalize({
    _type: STATEMENT_TYPE,
    subject: [{ name: "manifest.json", digest: { sha256: sha256(bytes) } }],
    predicateType: PREDICATE_TYPE,
    predicate: asJson({ format, head, record_tree, run_key, runpack_identity: runpackIdentity(sha256, bytes) }),
  });
}

/**
 * The signed text: the pre-authentication encoding of DSSE over a payload, which is text here.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { preAuthenticationEncoding } from "@/runpack/format/dsse.ts";
 *
 * const encoded = preAuthenticationEncoding("http://example.com/HelloWorld", "hello world");
 * assert.equal(encoded, "DSSEv1 29 http://example.com/HelloWorld 11 hello world");
 * ```
 */
export function preAuthenticationEncoding(payloadType: string, payload: string): string {
  return `DSSEv1 ${utf8Length(payloadType)} ${payloadType} ${utf8Length(payload)} ${payload}`;
}

/** The envelope of a statement with its signature, in canonical JSON. */
export function encodeEnvelope(statement: string, keyId: Identity, signature: Uint8Array): string {
  const envelope: RunpackSignature = {
    payloadType: PAYLOAD_TYPE,
    payload: encodeBase64(new TextEncoder().encode(statement)),
    signatures: [{ keyid: keyId, sig: encodeBase64(signature) }],
  };
  return canonicalize(asJson(envelope));
}

/** A decoded envelope; none of its signatures is verified yet. */
export interface DecodedEnvelope {
  /** The bytes of each signature, in order. The key ids beside them are hints that decide nothing. */
  readonly signatures: readonly Uint8Array[];
  /** The payload's text. */
  readonly payload: string;
}

/**
 * Decodes an envelope as DSSE describes it: JSON with its members in any order, one to {@link ENVELOPE_SIGNATURES}
 * signatures, key ids of any form, and either alphabet of base64. Other members are ignored. Null for anything else.
 */
export function decodeEnvelope(bytes: Uint8Array): DecodedEnvelope | null {
  const envelope = bytes.length > SIGNATURE_BYTES ? undefined : parseText(decodeUtf8Strict(bytes));
  if (!isJsonObject(envelope) || member(envelope, "payloadType") !== PAYLOAD_TYPE) return null;
  const given = member(envelope, "signatures");
  if (!isJsonArray(given) || given.length === 0 || given.length > ENVELOPE_SIGNATURES) return null;
  const signatures: Uint8Array[] = [];
  for (const one of given) {
    const signature = readBase64(isJsonObject(one) ? member(one, "sig") : undefined);
    if (signature === null) return null;
    signatures.push(signature);
  }
  const body = readBase64(member(envelope, "payload"));
  const payload = body === null ? null : decodeUtf8Strict(body);
  return payload === null ? null : { signatures, payload };
}

function parseText(text: string | null): JsonValue | undefined {
  const parsed = text === null ? null : parseJson(text, { maximumDepth: PACK_DEPTH });
  return parsed?.ok === true ? parsed.value : undefined;
}

/** The bytes of base64 in the standard or the URL alphabet, with padding. */
function readBase64(text: JsonValue | undefined): Uint8Array | null {
  if (typeof text !== "string") return null;
  if (!/[-_]/.test(text)) return decodeBase64(text);
  return /[+/]/.test(text) ? null : decodeBase64(text.replaceAll("-", "+").replaceAll("_", "/"));
}

/**
 * Whether an envelope is a signature of a pack under a key: one of its signatures verifies, and its statement has the
 * value of the one that follows from the manifest.
 *
 * @param envelope The envelope's bytes
 * @param bytes The manifest's bytes
 * @param manifest The decoded manifest
 * @param publicKey 32 bytes
 */
export function verifyEnvelope(
  { sha256, verifyEd25519 }: Primitives,
  envelope: Uint8Array,
  bytes: Uint8Array,
  manifest: Manifest,
  publicKey: Uint8Array,
): boolean {
  const decoded = decodeEnvelope(envelope);
  if (decoded === null) return false;
  const statement = parseText(decoded.payload);
  if (statement === undefined || canonicalize(statement) !== statementOf(sha256, bytes, manifest)) return false;
  const signed = preAuthenticationEncoding(PAYLOAD_TYPE, decoded.payload);
  return decoded.signatures.some((signature) => verifyEd25519(publicKey, signed, signature));
}
