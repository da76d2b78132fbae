/**
 * Base64 as RFC 4648 section 4 defines it, in its one canonical spelling.
 *
 * @module
 */

/** What the native decoder would skip, RFC 4648 section 3.3 refuses. */
const WHITE_SPACE = /[\t\n\f\r ]/;

/** The base64 of bytes: standard alphabet, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64();
}

/**
 * The bytes of base64 text, or null where it is not the text that {@link encodeBase64} writes for them: padding left
 * out, bits left over, white space, the URL alphabet.
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
