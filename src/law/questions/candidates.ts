/**
 * Values that stand for all values of a domain when they are compared with given constants: the constants, their
 * neighbours, the bounds, and enough others.
 */

import { isJsonArray, type JsonValue } from "../../canonical/json.ts";
import { INTEGER_MAXIMUM } from "../limits.ts";
import { canonicalDecimal, compareDecimals } from "../value/decimal.ts";
import { exactMillis, firstMillisFrom, parseTimestamp } from "../value/timestamp.ts";
import { checkInDomain } from "../value/typed_value.ts";
import type { ObservationDomain, TypedValue } from "../value/types.ts";

const MILLIS_OF_DAY = 86_400_000;

/**
 * The instant of an attempt in answers about a law, in Unix milliseconds: 2026-01-01T00:00:00Z. What is relative to the
 * evaluation time is the same at any instant.
 */
export const QUESTION_TIME = 1_767_225_600_000;

/**
 * Values of a domain, among them one for each order that a value can have with the constants.
 *
 * @param room How many values to name between two constants, where there are so many
 */
export function candidatesOf(
  domain: ObservationDomain,
  constants: readonly JsonValue[],
  room: number,
): readonly TypedValue[] {
  const found = [...boundsOf(domain), ...constants];
  const values = new Set([...constants, ...valuesOf(domain, found, room)]);
  return [...values].map((value): TypedValue => ({ value, value_type: domain.domain }))
    .filter((value) => checkInDomain(value, domain) === null);
}

function boundsOf(domain: ObservationDomain): JsonValue[] {
  if (domain.domain === "Integer") return [domain.minimum ?? -INTEGER_MAXIMUM, domain.maximum ?? INTEGER_MAXIMUM];
  if (domain.domain === "Decimal") return [domain.minimum, domain.maximum].filter((bound) => bound !== undefined);
  return [];
}

function valuesOf(domain: ObservationDomain, constants: readonly JsonValue[], room: number): JsonValue[] {
  switch (domain.domain) {
    case "Boolean":
      return [true, false];
    case "Integer":
      return [0, ...constants.flatMap((one) => around(room).map((step) => Number(one) + step))];
    case "Decimal":
      return decimalsAround(constants.map(String), room);
    case "Timestamp":
      return timesAround(constants.map(String), room);
    case "Digest":
      return fillers(constants.length + room + 1, (at) => at.toString(16).padStart(64, "0"));
    case "String":
      return textsAround(domain, constants.map(String), room);
    case "Json":
      return jsonAround(constants);
  }
}

/** The steps from `-room` to `room`. */
function around(room: number): number[] {
  return Array.from({ length: 2 * room + 1 }, (_, at) => at - room);
}

function fillers(count: number, valueAt: (at: number) => string): string[] {
  return Array.from({ length: count }, (_, at) => valueAt(at));
}

function decimalsAround(constants: readonly string[], room: number): string[] {
  const sorted = [...new Set(["0", ...constants].map(canonicalDecimal))].sort(compareDecimals);
  const digits = Math.max(...sorted.map((one) => one.split(".")[1]?.length ?? 0)) + 2;
  const scaled = sorted.map((one) => {
    const [whole = "0", fraction = ""] = one.split(".");
    return BigInt(whole + fraction.padEnd(digits, "0"));
  });
  const unit = 10n ** BigInt(digits);
  const edges = [(scaled[0] ?? 0n) - unit, ...scaled, (scaled.at(-1) ?? 0n) + unit];
  const points = edges.flatMap((edge, at) => {
    const gap = (edges[at + 1] ?? edge) - edge;
    return Array.from({ length: room + 1 }, (_, step) => edge + gap * BigInt(step) / BigInt(room + 1));
  });
  return points.map((point) => {
    const text = (point < 0n ? -point : point).toString().padStart(digits + 1, "0");
    return canonicalDecimal(`${point < 0n ? "-" : ""}${text.slice(0, -digits)}.${text.slice(-digits)}`);
  });
}

function timesAround(constants: readonly string[], room: number): string[] {
  const times = constants.flatMap((one) => {
    const isDay = parseTimestamp(one)?.kind === "date";
    const millis = exactMillis(isDay ? `${one}T00:00:00Z` : one) ?? firstMillisFrom(one) ?? QUESTION_TIME;
    return around(room).flatMap((step) => timeText(millis + step * (isDay ? MILLIS_OF_DAY : 1), isDay));
  });
  return [...times, ...timeText(QUESTION_TIME, false), ...timeText(QUESTION_TIME, true)];
}

/** An instant or a day as text; nothing beyond the years that a text can have. */
function timeText(millis: number, isDay: boolean): string[] {
  const date = new Date(millis);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) return [];
  return [date.toISOString().slice(0, isDay ? 10 : undefined)];
}

/** The visible characters of ASCII; those of words come first, since answers show the first text that fits. */
const LETTERS = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + (at + 64) % 94));

/** Bytes of the longest text that is tried. It is above every constant of a law, and no value of a packet is longer. */
const LONGEST_BYTES = 1_048_576;

function textsAround(
  { minimum_bytes: least, maximum_bytes }: Extract<ObservationDomain, { domain: "String" }>,
  constants: readonly string[],
  room: number,
): string[] {
  const most = Math.min(maximum_bytes, LONGEST_BYTES);
  if (least > most) return [];
  const count = Math.min(constants.length + room + 1, most < 2 ? 128 : LETTERS.length ** 2);
  const width = Math.max(least, 2);
  const texts = fillers(count, (at) => {
    if (most < 2) return String.fromCharCode((at + 0x61) % 128);
    const [first = "", second = ""] = [LETTERS[at % LETTERS.length], LETTERS[Math.floor(at / LETTERS.length)]];
    return least < 2 && at < LETTERS.length ? first : (first + second).padEnd(width, "a");
  });
  const near = constants.flatMap((one) => [`${one}~`, `~${one}`, one.slice(0, -1), one.padEnd(least, "~")]);
  const joined = constants.length > 16 ? [] : constants.flatMap((one) => constants.map((other) => one + other));
  const rest = ["", "\u{7f}", "\u{7ff}", "\u{ffff}"][most % 4] ?? "";
  const last = "\u{10ffff}".repeat(Math.floor(most / 4)) + rest;
  return [...texts, ...near, ...joined, "", ...constants.map((one) => `${one}\0`), "\0".repeat(least), last];
}

function jsonAround(constants: readonly JsonValue[]): JsonValue[] {
  const near = constants.flatMap((one): JsonValue[] => {
    if (typeof one === "number") return [one - 1, one + 1];
    if (typeof one === "string") {
      return [`${one}~`, `~${one}`, ...parseTimestamp(one) === null ? [] : timesAround([one], 1)];
    }
    return isJsonArray(one) ? [[...one, null], ...one] : [{}, { "": one }];
  });
  return [null, true, false, 0, 1, "", "~", [], {}, [null], ...near];
}
