/** Base64 of RFC 4648 section 4, in canonical form only. */

/** The native decoder skips white space; RFC 4648 section 3.3 rejects it. */
const WHITE_SPACE = /[\t\n\f\r ]/;

/** The base64 of bytes: standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/**
 * The bytes of base64 text. Null if {@link encodeBase64} writes another text for them: no padding, unused bits that are
 * not zero, white space, or the URL alphabet.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decodeBase64 } from "@/canonical/base64.ts";
 *
 * assert.deepEqual(decodeBase64("Zg=="), new Uint8Array([0x66]));
 * assert.equal(decodeBase64("Zg"), null);
 * assert.equal(decodeBase64("Zh=="), null);
 * ```
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | null {
  if (WHITE_SPACE.test(text)) return null;
  try {
    return Uint8Array.fromBase64(text, { alphabet: "base64", lastChunkHandling: "strict" });
  } catch {
    return null;
  }
}
