/** What the evidence of a stage can do in two laws: complete it in one alone, or only in both. */

import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { Unit } from "./asked_law.ts";
import { literalsOf, negationOf, solve, substitute } from "./formulas.ts";
import type { Pair, Side, StageFinding, World, WorldEvidence } from "./law_pair.ts";

/** A direction of a comparison: evidence that completes `from` and not the other law. */
export interface Direction {
  readonly pair: Pair;
  readonly world: World;
  readonly from: Side;
  readonly other: Side;
  readonly optimistic: boolean;
}

/** A condition's literal in the numbers of both laws. */
function inPair({ pair }: Direction, side: Side, literal: Literal): Literal {
  return side === "old" ? literal : literal + 2 * pair.old.conditions.length;
}

/** What a stage does in one direction. */
export function findStage(direction: Direction, stageId: string): StageFinding {
  const { world, from, optimistic } = direction;
  const key = `${from} ${optimistic} ${stageId}`;
  const known = world.stages.get(key);
  if (known !== undefined) return known;
  const finding = {
    alone: isImplied(direction, stageId) ? null : stageEvidence(direction, stageId, true),
    own: stageEvidence(direction, stageId, false),
  };
  world.stages.set(key, finding);
  return finding;
}

/**
 * Whether a stage has the same formula in both laws, and all evidence that makes a literal true in `from` makes the
 * same literal true in the other law.
 */
function isImplied(direction: Direction, stageId: string): boolean {
  const { pair, world, from, other } = direction;
  const own = pair[from].stages[pair[from].stageNumbers.get(stageId) ?? -1];
  const there = pair[other].stages[pair[other].stageNumbers.get(stageId) ?? -1];
  if (own === undefined || there === undefined || !world.accepts[other]) return false;
  const twins = new Map<Literal, Literal>();
  for (const literal of literalsOf(own.needs)) {
    const twin = world.twins[from].get(inPair(direction, from, literal));
    if (twin === undefined) return false;
    twins.set(literal, other === "old" ? twin : twin - 2 * pair.old.conditions.length);
  }
  const renamed = substitute(own.needs, pair.meter, (literal) => twins.get(literal) ?? literal);
  return renamed !== null && formulaText(renamed) === formulaText(there.needs);
}

function formulaText(formula: Formula): string {
  if (typeof formula === "number") return `${formula}`;
  return `${formula.minimum}(${formula.operands.map(formulaText).sort().join()})`;
}

/**
 * Literals of evidence that completes a stage of `from`; with `alone`, evidence that does not complete the stage of
 * the other law. Each literal is a variable: plain if the evidence makes it true, negated if it does not.
 */
function stageEvidence(direction: Direction, stageId: string, alone: boolean): readonly Literal[] | null {
  const { pair, world, from, other } = direction;
  const { meter } = pair;
  const needs = (side: Side): Formula | null => {
    const number = pair[side].stageNumbers.get(stageId);
    const stage = number === undefined || !world.accepts[side] ? undefined : pair[side].stages[number];
    return stage === undefined
      ? null
      : substitute(stage.needs, meter, (literal) => inPair(direction, side, literal) * 2);
  };
  const own = needs(from);
  if (own === null) return null;
  const opposed = alone ? needs(other) : null;
  const parts = opposed === null ? [own] : [own, negationOf(opposed)];
  const read = new Set(parts.flatMap((part) => [...literalsOf(part)].map((variable) => variable >> 1)));
  const rules = world.units.flatMap((unit) => unitRule(direction, unit, read) ?? []);
  return solve(threshold(parts.length + rules.length, [...parts, ...rules]), meter);
}

/** That the literals of a unit are those of one of its evidences, or none; null if that says nothing. */
function unitRule(direction: Direction, unit: Unit, read: ReadonlySet<Literal>): Formula | null {
  const { pair, from } = direction;
  const count = pair.old.conditions.length;
  const isOwn = (literal: Literal): boolean => (variableOf(literal) < count) === (from === "old");
  const all = unit.conditions.flatMap((number) => [number * 2, number * 2 + 1]).filter((one) => read.has(one));
  if (all.length === 0) return null;
  const cases = evidencesOf(direction, unit).map(({ literals }) =>
    all.flatMap((literal): Formula[] => {
      if (isOwn(literal)) return literals.has(literal) ? [] : [literal * 2 + 1];
      return literals.has(literal) ? [literal * 2] : [];
    })
  );
  const none = all.filter(isOwn).map((literal) => literal * 2 + 1);
  const sets = [...cases, none];
  if (sets.some((set) => set.length === 0)) return null;
  return threshold(1, sets.map((set) => threshold(set.length, set)));
}

/** The evidence of a unit; what is not known to be impossible is possible to an optimist. */
function evidencesOf({ pair, world, from, optimistic }: Direction, unit: Unit): readonly WorldEvidence[] {
  const found = world.evidence.get(unit) ?? [];
  if (!optimistic || unit.values.exact) return found;
  const count = pair.old.conditions.length;
  const own = unit.conditions.filter((number) => number < count === (from === "old"));
  const signs = own.reduce<readonly (readonly Literal[])[]>(
    (sets, number) => sets.length > 64 ? sets : sets.flatMap((set) => [[...set, number * 2], [...set, number * 2 + 1]]),
    [[]],
  );
  return [...found, ...signs.map((set) => ({ literals: new Set(set), value: null, by: [], stale: false }))];
}
