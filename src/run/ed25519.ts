/**
 * The checks of strict Ed25519 on the bytes of a key and a signature (RFC 8032, 5.1.7). They precede any curve
 * arithmetic. Libraries differ here, so every host checks it first.
 */

/** The prime 2^255 - 19, little-endian. */
const FIELD_PRIME = littleEndian("7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffed");

/** The order of the base point, little-endian. */
const GROUP_ORDER = littleEndian("1000000000000000000000000000000014def9dea2f79cd65812631a5cf5d3ed");

/**
 * The y coordinates, written big-endian, of the eight points of small order. With such a key one signature verifies for
 * many messages, so it proves nothing.
 */
const SMALL_ORDER: readonly Uint8Array[] = [
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0000000000000000000000000000000000000000000000000000000000000001",
  "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffec",
  "7a03ac9277fdc74ec6cc392cfa53202a0f67100d760b3cba4fd84d3d706a17c7",
  "05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826",
].map(littleEndian);

function littleEndian(hex: string): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, at) => Number.parseInt(hex.slice(62 - 2 * at, 64 - 2 * at), 16));
}

/** Whether a little-endian number of 32 bytes is below a bound. */
function isBelow(number: Uint8Array, bound: Uint8Array): boolean {
  for (let at = 31; at >= 0; at--) {
    const digit = number[at] ?? 0;
    const limit = bound[at] ?? 0;
    if (digit !== limit) return digit < limit;
  }
  return false;
}

/** Whether 32 bytes are the canonical encoding of a y coordinate that no point of small order has. */
function isPointEncoding(bytes: Uint8Array): boolean {
  const y = bytes.slice();
  // The top bit is the sign of x and not part of y.
  y[31] = (y[31] ?? 0) & 0x7f;
  if (!isBelow(y, FIELD_PRIME)) return false;
  return !SMALL_ORDER.some((point) => point.every((byte, at) => byte === y[at]));
}

/**
 * Whether a key and a signature are well-formed: 32 and 64 bytes, both points in canonical encoding and not of small
 * order, and the scalar S below the group order. With a larger S a second signature could be made from the first. The
 * signature must still be verified.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { isStrictEd25519 } from "@/run/ed25519.ts";
 *
 * const key = Uint8Array.fromHex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
 * assert.ok(!isStrictEd25519(key, new Uint8Array(64)));
 * ```
 */
export function isStrictEd25519(publicKey: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  return isPointEncoding(publicKey) && isPointEncoding(signature.subarray(0, 32)) &&
    isBelow(signature.subarray(32), GROUP_ORDER);
}
