/** UTF-8 lengths and strict decoding. */

/**
 * The number of UTF-8 bytes of a string, without encoding it. A lone surrogate counts 3 bytes, those of the replacement
 * character.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { utf8Length } from "@/canonical/utf8.ts";
 *
 * assert.equal(utf8Length("a\u00e9\u20ac\u{1f600}"), 1 + 2 + 3 + 4);
 * ```
 */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) {
      bytes += 1;
    } else if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) {
      // The two units are counted as two bytes so far; a pair has four.
      bytes += 2;
      index++;
    } else {
      bytes += 2;
    }
  }
  return bytes;
}

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The text of UTF-8 bytes; null if they are not UTF-8, such as overlong forms and surrogates. A byte order mark stays
 * in the text, where the JSON scanner rejects it.
 */
export function decodeUtf8Strict(bytes: Uint8Array): string | null {
  const text = lenient.decode(bytes);
  // The runtime decodes several times faster without the check, and marks every fault with this character.
  if (!text.includes("\ufffd")) return text;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
