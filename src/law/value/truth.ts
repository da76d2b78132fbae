/** The three truth values of strong Kleene logic. */

/** A truth value of strong Kleene logic, as in JSON. */
export type Kleene = "true" | "false" | "unknown";

/** The code of false; the three codes are ordered, so And is the minimum and Or the maximum. */
export const FALSE = 0;

/** The code of unknown. */
export const UNKNOWN = 1;

/** The code of true. */
export const TRUE = 2;

/** A truth value as a small integer, for evaluation: {@link FALSE}, {@link UNKNOWN} or {@link TRUE}. Not is `2 - x`. */
export type Tri = typeof FALSE | typeof UNKNOWN | typeof TRUE;

const TRI_NAMES: readonly [Kleene, Kleene, Kleene] = ["false", "unknown", "true"];

/** The code of each truth value. */
export const TRI: Readonly<Record<Kleene, Tri>> = { false: FALSE, unknown: UNKNOWN, true: TRUE };

/**
 * The JSON text of a truth value's code.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { TRUE, triName } from "@/law/value/truth.ts";
 *
 * assert.equal(triName(TRUE), "true");
 * ```
 */
export function triName(tri: Tri): Kleene {
  return TRI_NAMES[tri];
}
