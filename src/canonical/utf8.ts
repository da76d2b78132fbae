/**
 * UTF-8 lengths and strict decoding.
 *
 * @module
 */

/**
 * How many bytes a string takes in UTF-8, without encoding it. A lone surrogate counts 3, as the replacement
 * character that an encoder writes for it.
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
      // Two units so far counted as two bytes; the pair takes four.
      bytes += 2;
      index++;
    } else {
      bytes += 2;
    }
  }
  return bytes;
}

/**
 * The text of UTF-8 bytes, or null where they are not UTF-8 (overlong forms and surrogates included). A byte order
 * mark stays in the text, where the JSON scanner refuses it.
 */
export function decodeUtf8Strict(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
