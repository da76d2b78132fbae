/**
 * The shape of a capability contract: closed objects, bounded texts and lists, every fault with its path.
 *
 * @module
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { formatPath } from "../../canonical/path.ts";
import { utf8Length } from "../../canonical/utf8.ts";
import type { ContractProblem, ContractProblemCode } from "./problems.ts";

/** Where a value stands in the contract. */
export type Place = readonly (string | number)[];

/** Collects problems, at most {@link PROBLEMS_MAXIMUM}. */
export interface Report {
  readonly problems: ContractProblem[];
}

/** How many problems of one contract are told. */
const PROBLEMS_MAXIMUM = 100;

/** Notes a problem. */
export function note(report: Report, code: ContractProblemCode, place: Place, message: string): void {
  if (report.problems.length >= PROBLEMS_MAXIMUM) return;
  report.problems.push({ code, path: formatPath(place), message });
}

/** The value as an object with exactly these members, or null; what is missing or unknown is noted. */
export function closedObject(
  report: Report,
  value: JsonValue | undefined,
  place: Place,
  names: readonly string[],
): JsonObject | null {
  if (!isJsonObject(value)) {
    note(report, "type_invalid", place, `Expected an object, got ${describe(value)}`);
    return null;
  }
  for (const name of names) {
    if (member(value, name) === undefined) note(report, "member_missing", [...place, name], "Expected a value");
  }
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      note(
        report,
        "member_unknown",
        [...place, name],
        `Expected only ${names.map((known) => `"${known}"`).join(", ")}`,
      );
    }
  }
  return value;
}

/** A member as a text between `minimum` and `maximum` UTF-8 bytes. */
export function text(
  report: Report,
  object: JsonObject,
  name: string,
  place: Place,
  bounds: { readonly minimum: number; readonly maximum: number },
): string | null {
  const value = member(object, name);
  if (value === undefined) return null;
  return textValue(report, value, [...place, name], bounds);
}

function textValue(
  report: Report,
  value: JsonValue,
  place: Place,
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
): string | null {
  if (typeof value !== "string") {
    note(report, "type_invalid", place, `Expected a string, got ${describe(value)}`);
    return null;
  }
  const bytes = utf8Length(value);
  if (bytes >= minimum && bytes <= maximum) return value;
  note(report, "value_invalid", place, `Expected ${minimum} to ${maximum} bytes, got ${bytes}`);
  return null;
}

/** A member as an array of at most `maximum` items. */
export function list(
  report: Report,
  object: JsonObject,
  name: string,
  place: Place,
  maximum: number,
): readonly JsonValue[] | null {
  const value = member(object, name);
  if (value === undefined) return null;
  if (!isJsonArray(value)) {
    note(report, "type_invalid", [...place, name], `Expected an array, got ${describe(value)}`);
    return null;
  }
  if (value.length <= maximum) return value;
  note(report, "too_many", [...place, name], `Expected at most ${maximum} items, got ${value.length}`);
  return null;
}

/** A member as an array of texts, each once. */
export function textSet(
  report: Report,
  object: JsonObject,
  name: string,
  place: Place,
  bounds: { readonly items: number; readonly minimum: number; readonly maximum: number },
): readonly string[] | null {
  const items = list(report, object, name, place, bounds.items);
  if (items === null) return null;
  const seen = new Set<string>();
  items.forEach((item, index) => {
    const value = textValue(report, item, [...place, name, index], bounds);
    if (value !== null && seen.has(value)) {
      note(report, "duplicate", [...place, name, index], `"${value}" stands twice`);
    }
    if (value !== null) seen.add(value);
  });
  return [...seen];
}

/** A member that is one of some texts. */
export function oneOf(
  report: Report,
  object: JsonObject,
  name: string,
  place: Place,
  known: readonly string[],
): string | null {
  const value = member(object, name);
  if (value === undefined) return null;
  if (typeof value === "string" && known.includes(value)) return value;
  const expected = known.map((one) => `"${one}"`).join(", ");
  note(report, "value_invalid", [...place, name], `Expected one of ${expected}, got ${describe(value)}`);
  return null;
}

/** A member that is true or false. */
export function flag(report: Report, object: JsonObject, name: string, place: Place): void {
  const value = member(object, name);
  if (value === undefined || typeof value === "boolean") return;
  note(report, "type_invalid", [...place, name], `Expected true or false, got ${describe(value)}`);
}

/** What a value is, for messages; a long text is cut. */
export function describe(value: JsonValue | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isJsonArray(value)) return "an array";
  if (isJsonObject(value)) return "an object";
  if (typeof value === "string") return value.length > 64 ? `"${value.slice(0, 64)}..."` : `"${value}"`;
  return String(value);
}
