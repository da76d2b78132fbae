/**
 * The waits of `gate run --wait`.
 *
 * @module
 */

import { CliError } from "../terminal/cli_error.ts";

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

/** The first and the longest pause between two looks, in milliseconds. */
const FIRST_MILLIS = 2000;
const LONGEST_MILLIS = 60_000;

/** The longest wait, in milliseconds: 7 days. */
const WAIT_MAXIMUM = 7 * 24 * 3_600_000;

/**
 * A duration such as `30s`, `15m` or `2h`, in milliseconds.
 *
 * @throws {CliError} `usage`
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { durationOf } from "@/cli/pipeline/duration.ts";
 *
 * assert.equal(durationOf("15m"), 900_000);
 * ```
 */
export function durationOf(text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,6})([smh])$/.exec(text) ?? [];
  const millis = Number(digits) * (UNITS[unit] ?? NaN);
  if (digits !== "" && millis >= 1 && millis <= WAIT_MAXIMUM) return millis;
  throw new CliError(
    "usage",
    `Cannot use --wait "${text}": must be a duration from 1s to 168h, such as 30s, 15m or 2h`,
  );
}

/** The pause before the next look in milliseconds: 2 s, doubling up to 60 s, and never beyond the rest of the wait. */
export function pauseBefore(look: number, remainingMillis: number): number {
  return Math.min(FIRST_MILLIS * 2 ** Math.min(look, 10), LONGEST_MILLIS, remainingMillis);
}
