/**
 * Numbers that a seed decides, so that a failing round can be run again.
 *
 * @module
 */

/** A generator of numbers in [0, 1). */
export type Random = () => number;

/** The generator of a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** An identity of 32 hex digits. */
export function identityOf(random: Random): string {
  let identity = "";
  while (identity.length < 32) identity += Math.floor(random() * 2 ** 32).toString(16).padStart(8, "0");
  return identity;
}
