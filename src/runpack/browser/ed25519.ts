/**
 * Strict, synchronous Ed25519 verification (RFC 8032, 5.1.7, without a cofactor): the kernel is synchronous, and
 * verification in browsers is asynchronous. The library supplies the arithmetic, not the equation: its `verify`
 * multiplies by the cofactor in every mode. So it accepts signatures of mixed order that the format rejects
 * (docs/decisions/browser_cryptography.md).
 */

import { Point } from "@noble/ed25519";
import { sha512 } from "@noble/hashes/sha2.js";
import { isStrictEd25519 } from "../../run/ed25519.ts";

const ORDER = Point.CURVE().n;

const encoder = new TextEncoder();

/**
 * Whether a signature over a message verifies under a public key; false for malformed input and for keys of small
 * order.
 */
export function verifyEd25519(publicKey: Uint8Array, message: string, signature: Uint8Array): boolean {
  if (!isStrictEd25519(publicKey, signature)) return false;
  const commitment = signature.subarray(0, 32);
  const key = decodePoint(publicKey);
  const point = decodePoint(commitment);
  if (key === null || point === null) return false;
  const hash = sha512.create().update(commitment).update(publicKey).update(encoder.encode(message)).digest();
  const challenge = littleEndian(hash) % ORDER;
  // No input is secret, so the faster arithmetic of the library is safe.
  const expected = Point.BASE.multiply(littleEndian(signature.subarray(32)), false);
  return expected.equals(point.add(key.multiply(challenge, false)));
}

function decodePoint(bytes: Uint8Array): Point | null {
  try {
    return Point.fromBytes(bytes);
  } catch {
    return null;
  }
}

function littleEndian(bytes: Uint8Array): bigint {
  return bytes.reduceRight((high, byte) => high << 8n | BigInt(byte), 0n);
}
