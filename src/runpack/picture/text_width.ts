/** Upper bounds for the width of text in a monospaced font, and texts that fit a width. */

/** Widths in units of the font size. Monospaced fonts have 0.55 to 0.61 for the first range. */
const NARROW = 0.62;
const MIDDLE = 0.8;
const WIDE = 1.05;
const WIDEST = 1.35;

/** Whether every character is one that monospaced fonts have; other fonts show the others, at widths of their own. */
export function isPlain(text: string): boolean {
  return /^[\u0020-\u024f\u2026]*$/.test(text);
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x250 || code === 0x2026) return NARROW;
  if (code < 0x2e80) return MIDDLE;
  return code < 0x10000 ? WIDE : WIDEST;
}

/** The width of a text at most, in the unit of `size`. */
export function textWidth(text: string, size: number): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return Math.ceil(width * size);
}

/**
 * A text of at most a width: the whole, or its beginning with an ellipsis.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { fitText } from "@/runpack/picture/text_width.ts";
 *
 * assert.equal(fitText("release", 10, 100), "release");
 * assert.equal(fitText("release", 10, 30), "rel…");
 * ```
 */
export function fitText(text: string, size: number, maximum: number): string {
  let width = NARROW * size;
  let kept = "";
  let isWhole = true;
  for (const character of text) {
    width += widthOf(character) * size;
    if (width > maximum) {
      isWhole = false;
      break;
    }
    kept += character;
  }
  return isWhole || textWidth(text, size) <= maximum ? text : `${kept}…`;
}
