/**
 * Signatures over a pack: a DSSE envelope that holds an in-toto statement about the manifest (docs/format/runpack.md
 * "Signatures"). The host holds the keys and signs.
 *
 * @module
 */

import { decodeBase64, encodeBase64 } from "../../canonical/base64.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity, Sha256 } from "../../canonical/identity.ts";
import { pathAt } from "../../canonical/path.ts";
import { decodeUtf8Strict } from "../../canonical/scan.ts";
import { closed, identity, listOf, oneOf, type Reader, text } from "../../canonical/shape.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import { asJson, type Primitives } from "../../run/primitives.ts";
import { runpackIdentity } from "./manifest.ts";
import { decodeCanonical, type Decoded } from "./decode_canonical.ts";
import { type Manifest, type RunpackSignature, SIGNATURE_BYTES } from "./types.ts";

/** The type of the payload: an in-toto attestation. */
export const PAYLOAD_TYPE = "application/vnd.in-toto+json";
/** The type of an in-toto statement, as its specification spells it. */
const STATEMENT_TYPE = "https://in-toto.io/Statement/v1";
/** The type of the predicate of the statement. */
const PREDICATE_TYPE = "urn:gate:runpack-checkpoint:v1";

const SIGNATURE_LENGTH = 64;
const NO_BYTES = new Uint8Array();

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

/** A valid envelope; its signature is not verified yet. */
export interface DecodedEnvelope {
  readonly keyId: Identity;
  readonly signature: Uint8Array;
  /** The payload's text. */
  readonly statement: string;
}

/** Decodes an envelope of at most {@link SIGNATURE_BYTES} bytes: one signature, canonical JSON, canonical base64. */
export function decodeEnvelope(bytes: Uint8Array): Decoded<DecodedEnvelope> {
  if (bytes.length > SIGNATURE_BYTES) {
    return { ok: false, fault: { code: "invalid", path: "$", message: `Expected at most ${SIGNATURE_BYTES} bytes` } };
  }
  return decodeCanonical(bytes, readEnvelope);
}

const base64: Reader<string> = (faults, value, path) => {
  const given = text(faults, value, path);
  if (given === undefined || decodeBase64(given) !== null) return given;
  faults.add({ kind: "form", expected: "base64", value }, path);
  return undefined;
};
const MEMBERS = closed({
  payload: base64,
  payloadType: oneOf(PAYLOAD_TYPE),
  signatures: listOf(closed({ keyid: identity, sig: base64 }), 1, 1),
});

const readEnvelope: Reader<DecodedEnvelope> = (faults, value, path) => {
  const envelope = MEMBERS(faults, value, path);
  const [given] = envelope?.signatures ?? [];
  if (envelope === undefined || given === undefined) return undefined;
  const statement = decodeUtf8Strict(decodeBase64(envelope.payload) ?? NO_BYTES);
  const signature = decodeBase64(given.sig) ?? NO_BYTES;
  if (statement === null) {
    faults.add({ kind: "form", expected: "UTF-8", value: envelope.payload }, pathAt("payload"));
    return undefined;
  }
  if (signature.length === SIGNATURE_LENGTH) return { keyId: given.keyid, signature, statement };
  faults.add({ kind: "form", expected: `${SIGNATURE_LENGTH} bytes`, value: given.sig }, pathAt("signatures", 0, "sig"));
  return undefined;
};

/**
 * Whether an envelope is a signature of a pack under a key: it names that key, its signature verifies, and its
 * statement is the one that follows from the manifest.
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
  if (!decoded.ok) return false;
  const { keyId, signature, statement } = decoded.value;
  return keyId === keyIdOf(sha256, publicKey) && statement === statementOf(sha256, bytes, manifest) &&
    verifyEd25519(publicKey, preAuthenticationEncoding(PAYLOAD_TYPE, statement), signature);
}
