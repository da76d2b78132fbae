/**
 * RFC 3339 timestamps, read strictly and compared exactly: date-times with an offset as instants, full-dates as days.
 */

import type { Order } from "./decimal.ts";

/** Maximum digits of a fraction of a second. */
const MAXIMUM_FRACTION_DIGITS = 1000;

/**
 * A point in time that can be compared with others of its kind.
 *
 * `seconds` counts from 1970-01-01T00:00:00Z without leap seconds; a full-date has the seconds of its midnight. `leap`
 * is 1 within a leap second, whose `seconds` are those of the previous second. `fraction` has the digits after the
 * point without zeros at their end, so that string order is the order of the fractions.
 */
export interface Timestamp {
  readonly kind: "date" | "date_time";
  readonly seconds: number;
  readonly leap: 0 | 1;
  readonly fraction: string;
}

const DATE_LENGTH = 10;
const SECONDS_LENGTH = 19;
const OFFSET_LENGTH = 6;
const MAXIMUM_LENGTH = SECONDS_LENGTH + 1 + MAXIMUM_FRACTION_DIGITS + OFFSET_LENGTH;
const SECONDS_OF_DAY = 86_400;
const MILLIS_OF_SECOND = 1000;

const PLUS = 0x2b;
const HYPHEN = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Reads a timestamp by the grammar and the rules of RFC 3339 section 5.6 and 5.7; null for any other text.
 *
 * A date-time needs an offset, from -23:59 to +23:59 or `Z`; `-00:00` is read as UTC. The letters may be lower case, as
 * the RFC allows. The optional space in place of `T` is rejected. Years are 0000 to 9999 in the Gregorian calendar. A
 * leap second is accepted at 23:59:60 UTC on the last day of any month. The table of actual leap seconds changes, and a
 * verdict must not change with it.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { parseTimestamp } from "@/law/value/timestamp.ts";
 *
 * assert.deepEqual(parseTimestamp("1970-01-01T01:00:00.50+01:00"), {
 *   kind: "date_time",
 *   seconds: 0,
 *   leap: 0,
 *   fraction: "5",
 * });
 * assert.equal(parseTimestamp("2023-02-29"), null);
 * ```
 */
export function parseTimestamp(text: string): Timestamp | null {
  if (text.length < DATE_LENGTH || text.length > MAXIMUM_LENGTH) return null;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (!(year >= 0 && text.charCodeAt(4) === HYPHEN && text.charCodeAt(7) === HYPHEN)) return null;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return null;
  const midnight = daysSinceEpoch(year, month, day) * SECONDS_OF_DAY;
  if (text.length === DATE_LENGTH) return { kind: "date", seconds: midnight, leap: 0, fraction: "" };
  return parseTime(text, midnight, day, daysInMonth(year, month));
}

/**
 * The order of two timestamps; null if one is a date and the other a date-time, since a day is no instant.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { compareTimestamps, parseTimestamp } from "@/law/value/timestamp.ts";
 *
 * const utc = parseTimestamp("2024-06-01T10:00:00Z");
 * const local = parseTimestamp("2024-06-01T12:00:00.000+02:00");
 * const date = parseTimestamp("2024-06-01");
 * assert.ok(utc !== null && local !== null && date !== null);
 * assert.equal(compareTimestamps(utc, local), 0);
 * assert.equal(compareTimestamps(utc, date), null);
 * ```
 */
export function compareTimestamps(left: Timestamp, right: Timestamp): Order | null {
  if (left.kind !== right.kind) return null;
  if (left.seconds !== right.seconds) return left.seconds < right.seconds ? -1 : 1;
  if (left.leap !== right.leap) return left.leap < right.leap ? -1 : 1;
  if (left.fraction === right.fraction) return 0;
  return left.fraction < right.fraction ? -1 : 1;
}

/**
 * The instant of some Unix milliseconds. Milliseconds beyond the years of {@link parseTimestamp} order after or before
 * every text, so the sum of two safe integers needs no exact form.
 */
export function timestampOfMillis(millis: number): Timestamp {
  const rest = ((millis % MILLIS_OF_SECOND) + MILLIS_OF_SECOND) % MILLIS_OF_SECOND;
  const fraction = String(rest).padStart(3, "0").replace(/0+$/, "");
  return { kind: "date_time", seconds: (millis - rest) / MILLIS_OF_SECOND, leap: 0, fraction };
}

/**
 * The first Unix millisecond that is not before a date-time; null for any other text. A leap second counts as the end
 * of its minute.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { firstMillisFrom } from "@/law/value/timestamp.ts";
 *
 * assert.equal(firstMillisFrom("1970-01-01T00:00:00.0010Z"), 1);
 * assert.equal(firstMillisFrom("1970-01-01T00:00:00.0011Z"), 2);
 * assert.equal(firstMillisFrom("1970-01-01"), null);
 * ```
 */
export function firstMillisFrom(text: string): number | null {
  const read = parseTimestamp(text);
  if (read?.kind !== "date_time") return null;
  const { seconds, leap, fraction } = read;
  if (leap === 1) return (seconds + 1) * MILLIS_OF_SECOND;
  return seconds * MILLIS_OF_SECOND + Number(fraction.slice(0, 3).padEnd(3, "0")) + (fraction.length > 3 ? 1 : 0);
}

/** The Unix millisecond of a date-time that is exact to the millisecond; null for any other text. */
export function exactMillis(text: string): number | null {
  const read = parseTimestamp(text);
  const isExact = read?.kind === "date_time" && read.leap === 0 && read.fraction.length <= 3;
  return isExact ? firstMillisFrom(text) : null;
}

/** The same text for every spelling of a day or instant, as a key of timestamps. */
export function timestampKey(timestamp: Timestamp): string {
  return `${timestamp.kind}:${timestamp.seconds}:${timestamp.leap}:${timestamp.fraction}`;
}

function parseTime(text: string, midnight: number, day: number, monthLength: number): Timestamp | null {
  const letter = text.charCodeAt(DATE_LENGTH) | 0x20;
  if (letter !== 0x74 || text.charCodeAt(13) !== COLON || text.charCodeAt(16) !== COLON) return null;
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (!(hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 && second >= 0 && second <= 60)) return null;

  let offsetAt = SECONDS_LENGTH;
  let fraction = "";
  if (text.charCodeAt(SECONDS_LENGTH) === POINT) {
    offsetAt = digitsEnd(text, SECONDS_LENGTH + 1);
    const digits = offsetAt - SECONDS_LENGTH - 1;
    if (digits < 1 || digits > MAXIMUM_FRACTION_DIGITS) return null;
    fraction = withoutEndZeros(text, SECONDS_LENGTH + 1, offsetAt);
  }
  const offset = parseOffset(text, offsetAt);
  if (Number.isNaN(offset)) return null;

  const leap = second === 60 ? 1 : 0;
  const secondOfDay = hour * 3600 + minute * 60 + second - leap - offset;
  if (leap === 1 && !isLastSecondOfMonth(secondOfDay, day, monthLength)) return null;
  return { kind: "date_time", seconds: midnight + secondOfDay, leap, fraction };
}

/** The offset from UTC in seconds if the text ends with one at the index, else NaN. */
function parseOffset(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if ((code | 0x20) === 0x7a) return text.length === at + 1 ? 0 : Number.NaN;
  if ((code !== PLUS && code !== HYPHEN) || text.length !== at + OFFSET_LENGTH) return Number.NaN;
  const hours = twoDigits(text, at + 1);
  const minutes = twoDigits(text, at + 4);
  if (text.charCodeAt(at + 3) !== COLON) return Number.NaN;
  if (!(hours >= 0 && hours <= 23 && minutes >= 0 && minutes <= 59)) return Number.NaN;
  const seconds = hours * 3600 + minutes * 60;
  return code === PLUS ? seconds : -seconds;
}

/** Whether a second, counted in UTC from the midnight of a local day, is the last of its day and month in UTC. */
function isLastSecondOfMonth(secondOfDay: number, day: number, monthLength: number): boolean {
  const shift = Math.floor(secondOfDay / SECONDS_OF_DAY);
  const utcDay = day + shift;
  // Day 0 is the last day of the previous month.
  return secondOfDay - shift * SECONDS_OF_DAY === SECONDS_OF_DAY - 1 && (utcDay === monthLength || utcDay === 0);
}

/** Two decimal digits as a number. Negative for any other text, which every range check rejects. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at);
  const ones = text.charCodeAt(at + 1);
  return tens >= ZERO && tens <= NINE && ones >= ZERO && ones <= NINE ? (tens - ZERO) * 10 + ones - ZERO : -10_000;
}

function digitsEnd(text: string, start: number): number {
  let end = start;
  while (text.charCodeAt(end) >= ZERO && text.charCodeAt(end) <= NINE) end += 1;
  return end;
}

function withoutEndZeros(text: string, start: number, stop: number): string {
  let end = stop;
  while (end > start && text.charCodeAt(end - 1) === ZERO) end -= 1;
  return text.slice(start, end);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from 1970-01-01. Years are counted from March, so that the leap day is the last day of a year. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const shiftedYear = month <= 2 ? year - 1 : year;
  const monthFromMarch = month <= 2 ? month + 9 : month - 3;
  const leapDays = Math.floor(shiftedYear / 4) - Math.floor(shiftedYear / 100) + Math.floor(shiftedYear / 400);
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  return shiftedYear * 365 + leapDays + dayOfYear - 719_468;
}

/** Whether a text is a date-time with its offset, so that it is one instant. */
export function isInstant(text: string): boolean {
  return parseTimestamp(text)?.kind === "date_time";
}
