/**
 * Where in a spec a value stands: a chain of steps from the spec down, made into a path text only when a refusal needs
 * one.
 *
 * @module
 */

import { compareCodePoints } from "../canonical/order.ts";
import { formatPath } from "../canonical/path.ts";

/** One step below another place; null is the spec itself. */
export type Place = null | { readonly up: Place; readonly step: string | number };

/** The place of a member or an item. */
export function below(up: Place, step: string | number): Place {
  return { up, step };
}

/** The place at the end of several steps. */
export function placeAt(...steps: readonly (string | number)[]): Place {
  return steps.reduce<Place>(below, null);
}

/** The steps from the spec down to a place. */
export function stepsTo(place: Place): (string | number)[] {
  const steps: (string | number)[] = [];
  for (let at = place; at !== null; at = at.up) steps.push(at.step);
  return steps.reverse();
}

/** The JSON path of a place, `$` being the spec. */
export function pathOf(place: Place): string {
  return formatPath(stepsTo(place));
}

/** Compares two lists of steps: items by number, members by code point, what encloses before what it encloses. */
export function compareSteps(a: readonly (string | number)[], b: readonly (string | number)[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const left = a[index] as string | number;
    const right = b[index] as string | number;
    if (left === right) continue;
    if (typeof left === "number" && typeof right === "number") return left - right;
    return compareCodePoints(String(left), String(right));
  }
  return a.length - b.length;
}
