/** Lower-case hexadecimal, the only form that gate reads and writes. */

const UPPER_CASE = /[A-F]/;

/** Bytes as lower-case hex digits, two for each byte. */
export function encodeHex(bytes: Uint8Array): string {
  return bytes.toHex();
}

/** The bytes of lower-case hex digits; null for any other text. */
export function decodeHex(text: string): Uint8Array<ArrayBuffer> | null {
  if (UPPER_CASE.test(text)) return null;
  try {
    return Uint8Array.fromHex(text);
  } catch {
    return null;
  }
}
