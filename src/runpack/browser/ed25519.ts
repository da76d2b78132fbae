/**
 * Strict Ed25519 verification (RFC 8032, 5.1.7, without a cofactor) in the language alone: a browser's own answers later,
 * and the kernel does not wait. Nothing here is secret, so nothing here has to take the same time.
 *
 * @module
 */

import { isStrictEd25519 } from "../../run/ed25519.ts";
import { add, BASE, decode, isSame, multiply, number } from "../edwards25519.ts";
import { sha512 } from "./sha512.ts";

const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}

const encoder = new TextEncoder();

/** Whether a signature over a message verifies under a public key; false for whatever is malformed or of small order. */
export function verifyEd25519(publicKey: Uint8Array, message: string, signature: Uint8Array): boolean {
  if (!isStrictEd25519(publicKey, signature) || BASE === null) return false;
  const [key, commitment] = [decode(publicKey), decode(signature.subarray(0, 32))];
  if (key === null || commitment === null) return false;
  const hash = sha512(joined([signature.subarray(0, 32), publicKey, encoder.encode(message)]));
  const challenge = number(hash) % ORDER;
  return isSame(multiply(number(signature.subarray(32)), BASE), add(commitment, multiply(challenge, key)));
}
