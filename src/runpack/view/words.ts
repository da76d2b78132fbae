/**
 * Parts of a pack in words.
 *
 * @module
 */

import type { Requirement } from "../../law/types.ts";
import type { RecordedEvidence } from "../../run/types.ts";
import type { PackView, PartView } from "../material_view.ts";

/** A requirement in words. */
export function requirementText(requirement: Requirement): string {
  if ("Condition" in requirement) return requirement.Condition;
  if ("Not" in requirement) return `not ${requirementText(requirement.Not)}`;
  if ("RequireGroup" in requirement) {
    const { min, reqs } = requirement.RequireGroup;
    return `${min} of (${reqs.map(requirementText).join(", ")})`;
  }
  const [operands, word] = "And" in requirement ? [requirement.And, "and"] : [requirement.Or, "or"];
  return operands.length === 1
    ? operands.map(requirementText).join("")
    : `(${operands.map(requirementText).join(` ${word} `)})`;
}

const DAY = 86_400_000;
/** The first and last millisecond of the years from 0000 to 9999. */
const [EARLIEST, LATEST] = [-62_167_219_200_000, 253_402_300_799_999];

const digits = (value: number, count: number): string => `${value}`.padStart(count, "0");

/**
 * Unix milliseconds as RFC 3339 in UTC; as a number where they are beyond its years.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { instantText } from "@/runpack/view/words.ts";
 *
 * assert.equal(instantText(1_709_210_096_007), "2024-02-29T12:34:56.007Z");
 * ```
 */
export function instantText(millis: number): string {
  if (!(millis >= EARLIEST && millis <= LATEST)) return `${millis} ms`;
  const days = Math.floor(millis / DAY);
  const rest = millis - days * DAY;
  const time = [rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60].map((part) => digits(Math.floor(part), 2));
  return `${dateText(days)}T${time.join(":")}.${digits(rest % 1000, 3)}Z`;
}

/** The date so many days after 1970-01-01. Years are counted from March, so that the leap day is the last of its year. */
function dateText(days: number): string {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(day, 2)}`;
}

/** The first characters of a text, and that there are more. */
export function cut(value: string, characters: number): string {
  const points = [...value.slice(0, 2 * characters + 2)];
  return points.length <= characters ? value : `${points.slice(0, characters).join("")}…`;
}

/** What cannot be shown of a pack, and why. */
export function gapText({ reason, named, part }: PartView): string {
  const code = reason === "budget_exhausted" ? reason : reason.code;
  const why = reason === "budget_exhausted" || reason.place === null ? code : `${code}: ${reason.place}`;
  if (named === null) return `There is no manifest to go by (${why}), so nothing of this runpack can be shown.`;
  if (part === null) return `Its law cannot be read (${why}), so neither its stages nor its decisions can be shown.`;
  const { revision } = named.manifest.head;
  return `Only ${part.records.length} of ${counted(revision, "record")} can be shown: it is not whole (${why}).`;
}

/** Why the value of an item is not shown. */
export function absenceText({ manifest }: PackView, { retention, condition_id }: RecordedEvidence): string {
  if (retention === "RetainDigestOnly") return "kept as a digest alone";
  return manifest.withheld_conditions.includes(condition_id) ? "withheld" : "not in the pack";
}

/** A count with its noun. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
