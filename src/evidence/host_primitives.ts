import { Buffer } from "node:buffer";
import { createPublicKey, hash, verify } from "node:crypto";
import { isStrictEd25519 } from "../run/ed25519.ts";
import type { Primitives } from "../run/primitives.ts";

/** SHA-256 of bytes, or of the UTF-8 form of a string, as 64 lower-case hex digits. */
export function sha256(data: string | Uint8Array): string {
  return hash("sha256", data, "hex");
}

/**
 * Strict RFC 8032 Ed25519 verification; false for a malformed key or signature. The runtime's library accepts keys of
 * small order, for which one signature is valid for many messages, so encodings are checked first.
 */
export function verifyEd25519(publicKey: Uint8Array, message: string, signature: Uint8Array): boolean {
  if (!isStrictEd25519(publicKey, signature)) return false;
  try {
    const x = Buffer.from(publicKey).toString("base64url");
    const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
    return verify(null, Buffer.from(message), key, signature);
  } catch {
    // A key that is not a point of the curve verifies nothing.
    return false;
  }
}

/** The runtime's hashing and signature verification, as the kernel receives them. */
export const HOST_PRIMITIVES: Primitives = { sha256, verifyEd25519 };
