/** Decimal numbers as strings, compared exactly: no digit passes through a binary fraction. */

/** Maximum digits of a decimal number; sign and point do not count. */
export const MAXIMUM_DECIMAL_DIGITS = 1000;

/** The order of two operands: the first is below (-1), equal (0) or above (1). */
export type Order = -1 | 0 | 1;

const GRAMMAR = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;

/**
 * Why a text is not a decimal number, as a message with the expected form; null for a decimal number.
 *
 * The grammar is `-?(0|[1-9]\d*)(\.\d+)?` with at most {@link MAXIMUM_DECIMAL_DIGITS} digits. The length is checked
 * first, so that the cost of a refusal is bounded.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decimalFault } from "@/law/value/decimal.ts";
 *
 * assert.equal(decimalFault("-12.50"), null);
 * assert.equal(decimalFault("1e3"), 'Expected a decimal number such as "-12.50", got "1e3"');
 * ```
 */
export function decimalFault(text: string): string | null {
  if (text.length > MAXIMUM_DECIMAL_DIGITS + 2) {
    return `Expected a decimal number of at most ${MAXIMUM_DECIMAL_DIGITS} digits, got ${text.length} characters`;
  }
  if (!GRAMMAR.test(text)) return `Expected a decimal number such as "-12.50", got ${quoted(text)}`;
  const digits = text.length - (text.charCodeAt(0) === MINUS ? 1 : 0) - (text.includes(".") ? 1 : 0);
  if (digits > MAXIMUM_DECIMAL_DIGITS) {
    return `Expected a decimal number of at most ${MAXIMUM_DECIMAL_DIGITS} digits, got ${digits}`;
  }
  return null;
}

/** Whether a text is a decimal number within the limit of digits. */
export function isDecimal(text: string): boolean {
  return decimalFault(text) === null;
}

/**
 * The exact order of two decimal numbers that {@link isDecimal} accepted. Linear in their length.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareDecimals } from "@/law/value/decimal.ts";
 *
 * assert.equal(compareDecimals("1.50", "1.5"), 0);
 * assert.equal(compareDecimals("-0", "0.00"), 0);
 * assert.equal(compareDecimals("9007199254740993", "9007199254740992"), 1);
 * ```
 */
export function compareDecimals(left: string, right: string): Order {
  const leftStart = left.charCodeAt(0) === MINUS ? 1 : 0;
  const rightStart = right.charCodeAt(0) === MINUS ? 1 : 0;
  if (leftStart === rightStart) {
    const order = compareMagnitudes(left, leftStart, right, rightStart);
    return leftStart === 0 || order === 0 ? order : order === 1 ? -1 : 1;
  }
  if (isZero(left, leftStart) && isZero(right, rightStart)) return 0;
  return leftStart === 1 ? -1 : 1;
}

/**
 * The canonical text of a decimal number: no zeros at the end of the fraction, no minus before zero. {@link isDecimal}
 * must have accepted the number.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { canonicalDecimal } from "@/law/value/decimal.ts";
 *
 * assert.equal(canonicalDecimal("-1.500"), "-1.5");
 * assert.equal(canonicalDecimal("-0.0"), "0");
 * ```
 */
export function canonicalDecimal(text: string): string {
  let end = text.length;
  if (text.includes(".")) {
    while (text.charCodeAt(end - 1) === ZERO) end -= 1;
    if (text.charCodeAt(end - 1) === POINT) end -= 1;
  }
  const trimmed = text.slice(0, end);
  return trimmed === "-0" ? "0" : trimmed;
}

/**
 * A finite number as a decimal number: the shortest digits that ECMAScript writes for it, without an exponent.
 *
 * The longest result has 324 fraction digits, well below {@link MAXIMUM_DECIMAL_DIGITS}.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { decimalOfNumber } from "@/law/value/decimal.ts";
 *
 * assert.equal(decimalOfNumber(0.1), "0.1");
 * assert.equal(decimalOfNumber(1e21), "1000000000000000000000");
 * assert.equal(decimalOfNumber(1.5e-7), "0.00000015");
 * ```
 */
export function decimalOfNumber(number: number): string {
  const text = String(number);
  const exponentAt = text.indexOf("e");
  if (exponentAt < 0) return text;
  const exponent = Number(text.slice(exponentAt + 1));
  const sign = number < 0 ? "-" : "";
  const mantissa = text.slice(sign.length, exponentAt);
  const digits = mantissa.replace(".", "");
  // The point is after the first digit. ECMAScript uses an exponent only if all digits are on one side of the point.
  return exponent < 0
    ? `${sign}0.${"0".repeat(-exponent - 1)}${digits}`
    : `${sign}${digits}${"0".repeat(exponent + 1 - digits.length)}`;
}

/** The text in quotes, or only its length if it is long. */
function quoted(text: string): string {
  return text.length <= 64 ? JSON.stringify(text) : `${text.length} characters`;
}

function compareMagnitudes(left: string, leftStart: number, right: string, rightStart: number): Order {
  const leftPoint = integerEnd(left);
  const rightPoint = integerEnd(right);
  const integerDigits = leftPoint - leftStart;
  const lengthGap = integerDigits - (rightPoint - rightStart);
  // The grammar has no leading zeros, so a longer integer part is a larger number.
  if (lengthGap !== 0) return lengthGap < 0 ? -1 : 1;
  for (let index = 0; index < integerDigits; index += 1) {
    const gap = left.charCodeAt(leftStart + index) - right.charCodeAt(rightStart + index);
    if (gap !== 0) return gap < 0 ? -1 : 1;
  }
  return compareFractions(left, leftPoint + 1, right, rightPoint + 1);
}

function compareFractions(left: string, leftStart: number, right: string, rightStart: number): Order {
  const length = Math.max(left.length - leftStart, right.length - rightStart);
  for (let index = 0; index < length; index += 1) {
    const leftDigit = leftStart + index < left.length ? left.charCodeAt(leftStart + index) : ZERO;
    const rightDigit = rightStart + index < right.length ? right.charCodeAt(rightStart + index) : ZERO;
    if (leftDigit !== rightDigit) return leftDigit < rightDigit ? -1 : 1;
  }
  return 0;
}

function integerEnd(text: string): number {
  const point = text.indexOf(".");
  return point < 0 ? text.length : point;
}

function isZero(text: string, start: number): boolean {
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code !== ZERO && code !== POINT) return false;
  }
  return true;
}
