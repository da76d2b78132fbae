/** What a change of a law does: whether evidence that completes one of two laws completes the other one too. */

import { BudgetSpent, type Meter, QUESTION_VISITS } from "./formulas.ts";
import { type Difference, differenceBetween } from "./differences.ts";
import { type Pair, readPair, type Side } from "./law_pair.ts";
import type { NamedLaw } from "./paired_conditions.ts";

/** What a change does to a stage or to the run. */
export type ChangeVerdict = "equivalent" | "stricter" | "looser" | "incomparable" | "undecided";

/** What a change does to one stage, or to the run. */
export interface Change {
  readonly verdict: ChangeVerdict;
  /** Evidence that completes it in the new law alone. */
  readonly looser?: Difference;
  /** Evidence that completes it in the old law alone. */
  readonly stricter?: Difference;
}

/** The comparison of two laws. */
export interface Comparison {
  readonly run: Change;
  /** The stages of either law, by id: whether a stage is completed after all that opens it. */
  readonly stages: ReadonlyMap<string, Change>;
}

/** How laws are compared. */
export interface CompareOptions {
  /** Whether the comparisons of one name have one value in an attempt. */
  readonly oneValue?: boolean | undefined;
  readonly visits?: number | undefined;
}

/** Compares two laws. */
export function compareLaws(old: NamedLaw, next: NamedLaw, options: CompareOptions = {}): Comparison {
  const meter: Meter = { left: options.visits ?? QUESTION_VISITS };
  const ids = [...new Set([...old.law.stages, ...next.law.stages].map(({ stage_id }) => stage_id))];
  const pair = readPair(old, next, options.oneValue === true, meter);
  const change = (target: string | null): Change => {
    const looser = pair === null ? "undecided" : differenceIn(pair, "new", target);
    const stricter = pair === null ? "undecided" : differenceIn(pair, "old", target);
    return {
      verdict: verdictOf(looser, stricter),
      ...isDifference(looser) ? { looser } : {},
      ...isDifference(stricter) ? { stricter } : {},
    };
  };
  return { run: change(null), stages: new Map(ids.map((id) => [id, change(id)])) };
}

type Found = Difference | "none" | "undecided";

function isDifference(found: Found): found is Difference {
  return typeof found !== "string";
}

function verdictOf(looser: Found, stricter: Found): ChangeVerdict {
  if (isDifference(looser) && isDifference(stricter)) return "incomparable";
  if (looser === "undecided" || stricter === "undecided") return "undecided";
  if (isDifference(looser)) return "looser";
  return isDifference(stricter) ? "stricter" : "equivalent";
}

function differenceIn(pair: Pair, from: Side, target: string | null): Found {
  const other = from === "old" ? "new" : "old";
  try {
    for (const world of pair.worlds) {
      const found = differenceBetween({ pair, world, from, other, optimistic: false }, target);
      if (found !== null) return found;
    }
    const isExact = pair.exact && [pair.old, pair.new].every(({ support }) => support.every((one) => one.exact));
    if (!isExact) return "undecided";
    const inexact = pair.worlds.filter(({ units }) => units.some(({ values }) => !values.exact));
    const might = inexact.some((world) =>
      differenceBetween({ pair, world, from, other, optimistic: true }, target) !== null
    );
    return might ? "undecided" : "none";
  } catch (error) {
    if (error instanceof BudgetSpent) return "undecided";
    throw error;
  }
}
