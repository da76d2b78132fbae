/** Checks of values in messages. They are open: MCP allows members that it does not name. */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";

/** Where a value differs from what is expected. */
export interface Misfit {
  /** The steps from the checked value to the one that differs. */
  readonly steps: readonly (string | number)[];
  /** What is expected there: "a string". */
  readonly expected: string;
}

/** Finds the first misfit of a value, or null. An absent member is undefined. */
export type Check = (value: JsonValue | undefined) => Misfit | null;

function expecting(expected: string, holds: (value: JsonValue | undefined) => boolean): Check {
  const misfit: Misfit = { steps: [], expected };
  return (value) => holds(value) ? null : misfit;
}

/** A string. */
export const TEXT: Check = expecting("a string", (value) => typeof value === "string");

/** true or false. */
export const BOOLEAN: Check = expecting("true or false", (value) => typeof value === "boolean");

/** A number. */
export const NUMBER: Check = expecting("a number", (value) => typeof value === "number");

/** An object with any members. */
export const OBJECT: Check = expecting("an object", isJsonObject);

/** One of the texts. */
export function oneOf(texts: readonly string[]): Check {
  return expecting(
    `one of ${texts.map((text) => JSON.stringify(text)).join(", ")}`,
    (value) => typeof value === "string" && texts.includes(value),
  );
}

/** A member that may be absent. */
export function optional(check: Check): Check {
  return (value) => value === undefined ? null : check(value);
}

/** An object whose named members pass their checks; it may have others. */
export function members(checks: Readonly<Record<string, Check>>): Check {
  const entries = Object.entries(checks);
  return (value) => {
    if (!isJsonObject(value)) return OBJECT(value);
    for (const [name, check] of entries) {
      const misfit = check(member(value, name));
      if (misfit !== null) return inside(name, misfit);
    }
    return null;
  };
}

/** An object whose members all pass a check. */
export function record(check: Check): Check {
  return (value) => isJsonObject(value) ? firstMisfit(Object.entries(value), check) : OBJECT(value);
}

/** An array whose items all pass a check. */
export function list(check: Check): Check {
  return (value) => isJsonArray(value) ? firstMisfit(value.entries(), check) : { steps: [], expected: "an array" };
}

function firstMisfit(items: Iterable<readonly [step: string | number, item: JsonValue]>, check: Check): Misfit | null {
  for (const [step, item] of items) {
    const misfit = check(item);
    if (misfit !== null) return inside(step, misfit);
  }
  return null;
}

function inside(step: string | number, { steps, expected }: Misfit): Misfit {
  return { steps: [step, ...steps], expected };
}
