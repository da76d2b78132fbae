/** Sets of parties as bit masks, and the smallest of them. A list of sets has no set that holds another one. */

import { type Formula, variableOf } from "../proof/formula.ts";
import { type Meter, spend } from "./formulas.ts";

/** A set of parties: bit `n` stands for party `n`. */
export type PartySet = bigint;

/** The smallest sets, none of which holds another one. */
export type SmallestSets = readonly PartySet[];

/** What needs no party. */
const NO_PARTY: SmallestSets = [0n];

function sizeOf(set: PartySet): number {
  let size = 0;
  for (let rest = set; rest > 0n; rest &= rest - 1n) size++;
  return size;
}

/** The sets without those that hold another one, smaller ones first. */
export function smallest(sets: Iterable<PartySet>, meter: Meter): SmallestSets {
  const sized = [...new Set(sets)].map((set) => ({ set, size: sizeOf(set) })).sort((a, b) => a.size - b.size);
  const kept: PartySet[] = [];
  for (const { set } of sized) {
    spend(meter, 1 + kept.length);
    if (!kept.some((one) => (one & set) === one)) kept.push(set);
  }
  return kept;
}

/** The smallest unions of a set of each list. */
function joined(left: SmallestSets, right: SmallestSets, meter: Meter): SmallestSets {
  if (left === NO_PARTY) return right;
  if (right === NO_PARTY) return left;
  spend(meter, left.length * right.length);
  return smallest(new Set(left.flatMap((one) => right.map((other) => one | other))), meter);
}

/** The smallest unions of sets of at least `minimum` lists. */
export function ofAtLeast(minimum: number, lists: readonly SmallestSets[], meter: Meter): SmallestSets {
  // By how many lists a union is of.
  let found: SmallestSets[] = [NO_PARTY];
  lists.forEach((list, index) => {
    const left = lists.length - index - 1;
    const next: SmallestSets[] = [];
    for (let count = Math.max(0, minimum - left); count <= Math.min(minimum, index + 1); count++) {
      const without = found[count] ?? [];
      const before = count === 0 ? [] : found[count - 1] ?? [];
      const own = before.length === 0 || list.length === 0 ? [] : joined(before, list, meter);
      next[count] = own.length === 0 ? without : without.length === 0 ? own : smallest([...without, ...own], meter);
    }
    found = next;
  });
  return found[minimum] ?? [];
}

/** The smallest sets of leaves that make a formula true, where each leaf has sets of its own. */
export function setsOf(formula: Formula, meter: Meter, leaf: (literal: number) => SmallestSets): SmallestSets {
  spend(meter, 1);
  if (typeof formula === "number") return leaf(formula);
  return ofAtLeast(formula.minimum, formula.operands.map((one) => setsOf(one, meter, leaf)), meter);
}

/** The smallest sets of parties that make a formula over parties true. */
export function partySets(formula: Formula, meter: Meter): SmallestSets {
  return setsOf(formula, meter, (literal) => [1n << BigInt(variableOf(literal))]);
}
