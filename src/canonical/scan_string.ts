/** Strings in raw JSON text: skips valid parts, and explains the first fault. */

/** What is wrong within a string. */
export interface StringFault {
  readonly code: "syntax" | "lone_surrogate";
  readonly offset: number;
  readonly message: string;
}

/**
 * The position of the first quote, backslash, control character or lone surrogate from `start` on; the length of the
 * text if there is no such code unit.
 */
export function skipPlain(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22 || unit === 0x5c || unit < 0x20) return at;
    if (unit >= 0xd800 && unit <= 0xdfff) {
      if (!isPair(unit, text.charCodeAt(at + 1))) return at;
      at++;
    }
  }
  return at;
}

/** The position after the escape or escaped surrogate pair at `at`; negative if there is no valid one. */
export function skipEscape(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x5c) return -1;
  switch (text.charCodeAt(at + 1)) {
    case 0x22: // "
    case 0x5c: // \
    case 0x2f: // /
    case 0x62: // b
    case 0x66: // f
    case 0x6e: // n
    case 0x72: // r
    case 0x74: // t
      return at + 2;
    case 0x75: { // u
      const unit = escapedUnit(text, at);
      if (unit < 0) return -1;
      if (unit < 0xd800 || unit > 0xdfff) return at + 6;
      return isPair(unit, escapedUnit(text, at + 6)) ? at + 12 : -1;
    }
    default:
      return -1;
  }
}

/** The fault at a position without a plain code unit, an escape or the closing quote. */
export function explainString(text: string, at: number): StringFault {
  const unit = text.charCodeAt(at);
  if (at >= text.length) return syntax(at, "Expected the closing quote of a string, found end of text");
  if (unit < 0x20) return syntax(at, `Expected ${escapeOf(unit)} to be escaped within a string`);
  if (unit !== 0x5c) return lone(at, unit);
  if (text.charCodeAt(at + 1) !== 0x75) {
    const found = at + 1 < text.length ? JSON.stringify(text.slice(at, at + 2).toWellFormed()) : "end of text";
    return syntax(at, `Expected an escape, found ${found}`);
  }
  const escaped = escapedUnit(text, at);
  return escaped < 0 ? syntax(at, 'Expected four hex digits after "\\u"') : lone(at, escaped);
}

/** The code unit of the `\uXXXX` at `at`; negative for any other text. */
function escapedUnit(text: string, at: number): number {
  if (text.charCodeAt(at) !== 0x5c || text.charCodeAt(at + 1) !== 0x75) return -1;
  let unit = 0;
  for (let index = at + 2; index < at + 6; index++) {
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

function hexDigit(unit: number): number {
  if (unit >= 0x30 && unit <= 0x39) return unit - 0x30;
  if (unit >= 0x41 && unit <= 0x46) return unit - 0x37;
  if (unit >= 0x61 && unit <= 0x66) return unit - 0x57;
  return -1;
}

function isPair(high: number, low: number): boolean {
  return high >= 0xd800 && high <= 0xdbff && low >= 0xdc00 && low <= 0xdfff;
}

function syntax(offset: number, message: string): StringFault {
  return { code: "syntax", offset, message };
}

function lone(offset: number, unit: number): StringFault {
  return { code: "lone_surrogate", offset, message: `Surrogate ${escapeOf(unit)} stands alone` };
}

function escapeOf(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}
