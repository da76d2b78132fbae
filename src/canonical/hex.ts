/**
 * Lower-case hexadecimal, the only spelling gate writes and reads.
 *
 * @module
 */

const UPPER_CASE = /[A-F]/;

/** Bytes as lower-case hex digits, two a byte. */
export function encodeHex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** The bytes of lower-case hex digits, or null where the text is anything else. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (UPPER_CASE.test(text)) return null;
  try {
    return Uint8Array.fromHex(text);
  } catch {
    return null;
  }
}
