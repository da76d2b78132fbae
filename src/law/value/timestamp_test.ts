import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import {
  compareTimestamps,
  exactMillis,
  firstMillisFrom,
  parseTimestamp,
  type Timestamp,
  timestampKey,
} from "./timestamp.ts";

function parsed(text: string): Timestamp {
  const timestamp = parseTimestamp(text);
  assert.ok(timestamp !== null, text);
  return timestamp;
}

const two = (number: number): string => String(number).padStart(2, "0");
const pick = (max: number): fc.Arbitrary<number> => fc.integer({ min: 0, max });

const offset = fc.oneof(
  fc.constantFrom("Z", "z", "-00:00", "+00:00"),
  fc.tuple(fc.constantFrom("+", "-"), pick(23), pick(59)).map(([sign, hours, minutes]) =>
    `${sign}${two(hours)}:${two(minutes)}`
  ),
);

/** Date-times in a few neighbouring hours, so that equal instants in different spellings occur. */
const dateTime = fc.tuple(
  fc.constantFrom("2024-02-29", "2024-03-01", "1970-01-01", "0000-01-01", "9999-12-31"),
  pick(23),
  fc.constantFrom("00:00", "30:59", "59:59"),
  fc.constantFrom("", ".0", ".5", ".50", ".05", ".123456789123456789"),
  offset,
).map(([date, hour, rest, fraction, zone]) => `${date}T${two(hour)}:${rest}${fraction}${zone}`);

Deno.test("parseTimestamp() accepts exactly RFC 3339 date-times with offset and full-dates", () => {
  const cases: readonly (readonly [text: string, kind: Timestamp["kind"] | null])[] = [
    ["2024-01-31", "date"],
    ["2024-02-29", "date"],
    ["2023-02-29", null],
    ["1900-02-29", null],
    ["2000-02-29", "date"],
    ["0000-02-29", "date"],
    ["0000-01-01", "date"],
    ["9999-12-31", "date"],
    ["2024-04-31", null],
    ["2024-00-10", null],
    ["2024-13-10", null],
    ["2024-01-00", null],
    ["2024-01-32", null],
    ["2024-1-2", null],
    ["20240102", null],
    ["+2024-01-02", null],
    ["-001-01-02", null],
    ["12024-01-02", null],
    ["2024-01-02 ", null],
    ["2024/01/02", null],
    ["2024-01-02T", null],
    ["", null],
    ["2024-01-02T03:04:05Z", "date_time"],
    ["2024-01-02t03:04:05z", "date_time"],
    ["2024-01-02 03:04:05Z", null],
    ["2024-01-02_03:04:05Z", null],
    ["2024-01-02T03:04:05", null],
    ["2024-01-02T03:04Z", null],
    ["2024-01-02T03:04:05.Z", null],
    ["2024-01-02T03:04:05,5Z", null],
    ["2024-01-02T03:04:05.5Z", "date_time"],
    ["2024-01-02T03:04:05.5", null],
    ["2024-01-02T24:00:00Z", null],
    ["2024-01-02T23:60:00Z", null],
    ["2024-01-02T23:59:61Z", null],
    ["2024-01-02T03:04:05+23:59", "date_time"],
    ["2024-01-02T03:04:05-23:59", "date_time"],
    ["2024-01-02T03:04:05+24:00", null],
    ["2024-01-02T03:04:05+01:60", null],
    ["2024-01-02T03:04:05-00:00", "date_time"],
    ["2024-01-02T03:04:05+0100", null],
    ["2024-01-02T03:04:05+01", null],
    ["2024-01-02T03:04:05+01:00 ", null],
    ["2024-01-02T03:04:05Z0", null],
    ["2024-01-02T-3:04:05Z", null],
    ["2024-01-02T03:04:05.1_Z", null],
    ["２024-01-02", null],
  ];
  for (const [text, kind] of cases) assert.equal(parseTimestamp(text)?.kind ?? null, kind, JSON.stringify(text));
});

Deno.test("parseTimestamp() accepts a leap second only at a possible instant", () => {
  const cases: readonly (readonly [text: string, accepted: boolean])[] = [
    ["2016-12-31T23:59:60Z", true],
    ["2016-12-31T23:59:60.999Z", true],
    ["2017-01-01T00:59:60+01:00", true],
    ["2016-12-31T15:59:60-08:00", true],
    ["2015-06-30T23:59:60Z", true],
    ["2024-02-29T23:59:60Z", true],
    ["2024-03-01T08:59:60+09:00", true],
    ["2023-02-28T18:59:60-05:00", true],
    ["2024-02-28T23:59:60Z", false],
    ["2016-12-30T23:59:60Z", false],
    ["2016-12-31T23:58:60Z", false],
    ["2016-12-31T22:59:60Z", false],
    ["2016-12-31T23:59:60+01:00", false],
    ["2017-01-01T23:59:60Z", false],
  ];
  for (const [text, accepted] of cases) assert.equal(parseTimestamp(text) !== null, accepted, text);
});

Deno.test("parseTimestamp() accepts fractions of up to 1000 digits", () => {
  const withDigits = (count: number, zone: string): string => `2024-01-02T03:04:05.${"7".repeat(count)}${zone}`;
  for (const zone of ["Z", "+01:00"]) {
    assert.ok(parseTimestamp(withDigits(999, zone)) !== null);
    assert.ok(parseTimestamp(withDigits(1000, zone)) !== null);
    assert.equal(parseTimestamp(withDigits(1001, zone)), null);
  }
});

Deno.test("compareTimestamps() orders instants and days, never one against the other", () => {
  const cases: readonly (readonly [left: string, right: string, order: -1 | 0 | 1 | null])[] = [
    ["2024-06-01T10:00:00Z", "2024-06-01T12:00:00+02:00", 0],
    ["2024-06-01T10:00:00Z", "2024-06-01T10:00:00.000Z", 0],
    ["2024-06-01T10:00:00Z", "2024-06-01T10:00:00-00:00", 0],
    ["2024-06-01T10:00:00.1Z", "2024-06-01T10:00:00.10z", 0],
    ["2024-06-01T10:00:00.1Z", "2024-06-01T10:00:00.09Z", 1],
    ["2024-06-01T10:00:00.1234567890123456789Z", "2024-06-01T10:00:00.123456789012345678Z", 1],
    ["2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z", 0],
    ["1969-12-31T23:59:59.9Z", "1970-01-01T00:00:00Z", -1],
    ["0000-01-01T00:00:00+23:59", "0000-01-01T00:00:00Z", -1],
    ["9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z", 1],
    ["2016-12-31T23:59:59.999Z", "2016-12-31T23:59:60Z", -1],
    ["2016-12-31T23:59:60.9Z", "2017-01-01T00:00:00Z", -1],
    ["2016-12-31T23:59:60Z", "2017-01-01T00:59:60+01:00", 0],
    ["2024-06-01", "2024-06-01", 0],
    ["2024-02-29", "2024-03-01", -1],
    ["2024-06-01", "2024-06-01T00:00:00Z", null],
    ["2024-06-02T00:00:00Z", "2024-06-01", null],
  ];
  for (const [left, right, order] of cases) {
    const mirrored = order === null || order === 0 ? order : -order;
    assert.equal(compareTimestamps(parsed(left), parsed(right)), order, `${left} and ${right}`);
    assert.equal(compareTimestamps(parsed(right), parsed(left)), mirrored, `${right} and ${left}`);
    assert.equal(timestampKey(parsed(left)) === timestampKey(parsed(right)), order === 0);
  }
});

Deno.test("parseTimestamp() counts the days of every year as the platform does", () => {
  for (let year = 0; year <= 9999; year += 1) {
    const date = `${String(year).padStart(4, "0")}-03-01`;
    assert.equal(parsed(date).seconds, Date.parse(`${date}T00:00:00Z`) / 1000, date);
  }
});

Deno.test("parseTimestamp() agrees with the platform on every millisecond it can read", () => {
  fc.assert(fc.property(fc.date({ min: new Date("0000-01-01T00:00:00Z"), noInvalidDate: true }), (date) => {
    fc.pre(date.getTime() <= Date.parse("9999-12-31T23:59:59.999Z"));
    const timestamp = parsed(date.toISOString());
    const millis = timestamp.seconds * 1000 + Number(timestamp.fraction.padEnd(3, "0"));
    assert.equal(millis, date.getTime());
  }));
});

Deno.test("compareTimestamps() is a total order on date-times: trichotomy and transitivity", () => {
  fc.assert(fc.property(dateTime, dateTime, dateTime, (first, second, third) => {
    const a = parsed(first);
    const b = parsed(second);
    const c = parsed(third);
    const ab = compareTimestamps(a, b);
    const bc = compareTimestamps(b, c);
    const ac = compareTimestamps(a, c);
    assert.ok(ab !== null && bc !== null && ac !== null);
    assert.equal(ab + (compareTimestamps(b, a) ?? NaN), 0);
    assert.equal(ab === 0, timestampKey(a) === timestampKey(b));
    if (ab <= 0 && bc <= 0) assert.ok(ac <= 0);
  }));
});

// Text, and the first millisecond that is not before it.
const FIRST_MILLIS: readonly (readonly [string, number | null])[] = [
  ["1970-01-01T00:00:00Z", 0],
  ["1970-01-01T00:00:00.001Z", 1],
  ["1970-01-01T00:00:00.0010000Z", 1],
  ["1970-01-01T00:00:00.0010001Z", 2],
  ["1970-01-01T00:00:00.9991Z", 1000],
  ["1969-12-31T23:59:59.9991Z", 0],
  ["1970-01-01t01:00:00.05+01:00", 50],
  ["2016-12-31T23:59:60Z", 1_483_228_800_000],
  ["2016-12-31T23:59:60.9Z", 1_483_228_800_000],
  ["1970-01-01", null],
  ["soon", null],
  ["", null],
];

for (const [text, expected] of FIRST_MILLIS) {
  Deno.test(`firstMillisFrom() of "${text}": ${expected}`, () => assert.equal(firstMillisFrom(text), expected));
}

Deno.test("parseTimestamp() never throws on any text", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    parseTimestamp(text);
    parseTimestamp(`2024-01-02T${text}`);
  }));
});

Deno.test("exactMillis() takes a date-time with up to three digits of a fraction, and no leap second or day", () => {
  assert.equal(exactMillis("1970-01-01T00:00:01.234Z"), 1234);
  assert.equal(exactMillis("1970-01-01T00:00:01.2340Z"), 1234);
  assert.equal(exactMillis("1969-12-31T23:59:59.5Z"), -500);
  for (const text of ["1970-01-01T00:00:01.2341Z", "2016-12-31T23:59:60Z", "1970-01-01", "soon"]) {
    assert.equal(exactMillis(text), null, text);
  }
});
