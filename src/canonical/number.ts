/** A decimal value: `digits` x 10^`exponent`. Digits have no zeros at either end, and are empty for zero. */
interface Decimal {
  readonly digits: string;
  readonly exponent: number;
}

/**
 * Whether the decimal value of a JSON number literal equals that of the shortest ECMAScript form of its double. Such a
 * literal keeps its value when it is read and written again. `0.1`, `1.0`, `1e21` and `-0` pass;
 * `9007199254740993`, `1e400` and `0.1000000000000000000001` do not.
 *
 * @param literal A number by the grammar of RFC 8259 section 6
 * @returns False if the double has another decimal value, or is not finite
 */
export function isExactNumber(literal: string): boolean {
  const double = Number(literal);
  if (!Number.isFinite(double)) return false;
  const spelling = String(double);
  // Most programs write the shortest form, which needs no comparison.
  if (spelling === literal) return true;
  const written = decimalOf(literal);
  const shortest = decimalOf(spelling);
  return written.digits === shortest.digits && written.exponent === shortest.exponent;
}

/**
 * The decimal value of a literal in any spelling. An exponent is compared and never expanded. One that is too long to
 * be an exact number still differs from every shortest form.
 */
function decimalOf(literal: string): Decimal {
  const unsigned = literal.startsWith("-") ? literal.slice(1) : literal;
  const mark = unsigned.search(/[eE]/);
  const mantissa = mark < 0 ? unsigned : unsigned.slice(0, mark);
  const point = mantissa.indexOf(".");
  const places = point < 0 ? 0 : mantissa.length - point - 1;
  const all = point < 0 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  let start = 0;
  while (start < all.length && all.charCodeAt(start) === 0x30) start++;
  let end = all.length;
  while (end > start && all.charCodeAt(end - 1) === 0x30) end--;
  if (start === end) return { digits: "", exponent: 0 };
  const written = mark < 0 ? 0 : Number(unsigned.slice(mark + 1));
  return { digits: all.slice(start, end), exponent: written - places + (all.length - end) };
}
