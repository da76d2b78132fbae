import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import {
  canonicalDecimal,
  compareDecimals,
  decimalFault,
  decimalOfNumber,
  isDecimal,
  MAXIMUM_DECIMAL_DIGITS,
  type Order,
} from "./decimal.ts";

const digit = fc.integer({ min: 0, max: 9 }).map(String);

/** Decimal numbers with few distinct digits, so that equal values in different spellings are common. */
const decimal = fc.tuple(
  fc.constantFrom("", "-"),
  fc.oneof(fc.constantFrom("0", "1", "10", "9"), fc.bigInt({ min: 0n, max: 10n ** 40n }).map(String)),
  fc.oneof(
    fc.constantFrom("", ".0", ".00", ".5", ".50", ".05", ".500000000000000000001"),
    fc.array(digit, { minLength: 1, maxLength: 40 }).map((digits) => `.${digits.join("")}`),
  ),
).map((parts) => parts.join(""));

/** The value times 10^80, which is an integer for every generated decimal number. */
function scaled(text: string): bigint {
  const negative = text.startsWith("-");
  const [integer = "", fraction = ""] = text.replace("-", "").split(".");
  const magnitude = BigInt(integer + fraction.padEnd(80, "0"));
  return negative ? -magnitude : magnitude;
}

Deno.test("isDecimal() accepts exactly the grammar", () => {
  const cases: readonly (readonly [text: string, accepted: boolean])[] = [
    ["0", true],
    ["-0", true],
    ["-0.0", true],
    ["7", true],
    ["10.00", true],
    ["-12.50", true],
    ["9007199254740993", true],
    ["", false],
    ["-", false],
    ["+1", false],
    ["01", false],
    ["-01", false],
    ["00", false],
    [".5", false],
    ["1.", false],
    ["1.2.3", false],
    ["1e3", false],
    ["1,5", false],
    [" 1", false],
    ["1\n", false],
    ["0x10", false],
    ["١", false],
    ["NaN", false],
  ];
  for (const [text, accepted] of cases) assert.equal(isDecimal(text), accepted, JSON.stringify(text));
});

Deno.test("isDecimal() counts digits without sign and point", () => {
  const limit = MAXIMUM_DECIMAL_DIGITS;
  const cases: readonly (readonly [text: string, accepted: boolean])[] = [
    ["9".repeat(limit - 1), true],
    ["9".repeat(limit), true],
    ["9".repeat(limit + 1), false],
    [`-${"9".repeat(limit)}`, true],
    [`-${"9".repeat(limit + 1)}`, false],
    [`-1.${"0".repeat(limit - 2)}`, true],
    [`-1.${"0".repeat(limit - 1)}`, true],
    [`-1.${"0".repeat(limit)}`, false],
    [`1.${"0".repeat(limit)}`, false],
  ];
  for (const [text, accepted] of cases) assert.equal(isDecimal(text), accepted, `${text.length} characters`);
  assert.equal(decimalFault("9".repeat(1001)), "Expected a decimal number of at most 1000 digits, got 1001");
  assert.equal(decimalFault("9".repeat(5000)), "Expected a decimal number of at most 1000 digits, got 5000 characters");
});

Deno.test("compareDecimals() orders by value", () => {
  const cases: readonly (readonly [left: string, right: string, order: Order])[] = [
    ["0", "0", 0],
    ["-0", "0", 0],
    ["-0.00", "0.0", 0],
    ["1.5", "1.50", 0],
    ["10", "10.0", 0],
    ["-1.5", "-1.500", 0],
    ["2", "10", -1],
    ["-2", "-10", 1],
    ["-1", "1", -1],
    ["1", "-1", 1],
    ["0.1", "0.09", 1],
    ["0.1", "0.10000000000000000000001", -1],
    ["-0.1", "-0.10000000000000000000001", 1],
    ["9007199254740993", "9007199254740992", 1],
    ["-0.0", "0.01", -1],
    ["-0.01", "0", -1],
  ];
  for (const [left, right, order] of cases) {
    assert.equal(compareDecimals(left, right), order, `${left} and ${right}`);
    assert.equal(compareDecimals(right, left), order === 0 ? 0 : -order, `${right} and ${left}`);
  }
});

Deno.test("compareDecimals() agrees with scaled integers", () => {
  fc.assert(fc.property(decimal, decimal, (left, right) => {
    const difference = scaled(left) - scaled(right);
    assert.equal(compareDecimals(left, right), difference === 0n ? 0 : difference < 0n ? -1 : 1);
  }));
});

Deno.test("compareDecimals() is a total order: trichotomy and transitivity", () => {
  fc.assert(fc.property(decimal, decimal, decimal, (a, b, c) => {
    assert.equal(compareDecimals(a, b) + compareDecimals(b, a), 0);
    assert.equal(compareDecimals(a, a), 0);
    if (compareDecimals(a, b) <= 0 && compareDecimals(b, c) <= 0) assert.ok(compareDecimals(a, c) <= 0);
  }));
});

Deno.test("canonicalDecimal() is the same for two numbers exactly when they are equal", () => {
  fc.assert(fc.property(decimal, decimal, (left, right) => {
    assert.equal(canonicalDecimal(left) === canonicalDecimal(right), compareDecimals(left, right) === 0);
    assert.ok(isDecimal(canonicalDecimal(left)));
    assert.equal(compareDecimals(canonicalDecimal(left), left), 0);
  }));
});

Deno.test("decimalOfNumber() writes the shortest digits without exponent", () => {
  const cases: readonly (readonly [number: number, decimal: string])[] = [
    [0, "0"],
    [-0, "0"],
    [1, "1"],
    [-42, "-42"],
    [0.1, "0.1"],
    [1e20, "100000000000000000000"],
    [1e21, "1000000000000000000000"],
    [-1.25e21, "-1250000000000000000000"],
    [1.234e23, "123400000000000000000000"],
    [1e-6, "0.000001"],
    [1e-7, "0.0000001"],
    [-1.5e-7, "-0.00000015"],
    [5e-324, `0.${"0".repeat(323)}5`],
    [Number.MAX_VALUE, `17976931348623157${"0".repeat(292)}`],
  ];
  for (const [number, text] of cases) assert.equal(decimalOfNumber(number), text);
});

Deno.test("decimalOfNumber() reads back as the same number and is a decimal", () => {
  fc.assert(fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
    const text = decimalOfNumber(number);
    assert.ok(isDecimal(text), text);
    assert.equal(Number(text), number === 0 ? 0 : number);
  }));
});
