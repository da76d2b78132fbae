/** Evidence that completes a stage or the run in one of two laws, and not in the other one. */

import type { ParameterValues } from "../expand.ts";
import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { TypedValue } from "../value/types.ts";
import type { AskedLaw } from "./asked_law.ts";
import { isTrue, literalsOf, negationOf, solve, substitute } from "./formulas.ts";
import type { Side, StageFinding } from "./law_pair.ts";
import type { Party } from "./parties.ts";
import { routesIn } from "./routes.ts";
import { type Direction, findStage } from "./stage_findings.ts";

/** Evidence that both laws get. */
export interface SharedEvidence {
  /** The conditions that are judged by it, in the old law and in the new one. */
  readonly old: readonly string[];
  readonly new: readonly string[];
  /** Null: the sources find nothing. */
  readonly value: TypedValue | null;
  readonly by: readonly Party[];
  /** Whether it is older than the smaller of the two maximum ages. */
  readonly stale: boolean;
}

/** An attempt at a stage with the same evidence in both laws. */
export interface SharedStep {
  readonly stage_id: string;
  readonly evidence: readonly SharedEvidence[];
}

/** Evidence that completes one law and not the other one. */
export interface Difference {
  readonly parameters: ParameterValues;
  readonly steps: readonly SharedStep[];
}

/** Evidence that completes a target in `from` and not in the other law; null for the run. */
export function differenceBetween(direction: Direction, target: string | null): Difference | null {
  const { pair, world, from, other } = direction;
  if (!world.accepts[from]) return null;
  const goal = goalOf(pair[from], target);
  if (goal === null || isSameTowards(direction, goal, target)) return null;
  const greedy = greedyDifference(direction, goal, target);
  if (greedy !== null) return greedy;
  const { meter } = pair;
  const own = pair[from];
  const others = pair[other];
  const done = (side: Side, stage: number): number => (side === from ? stage : own.stages.length + stage) * 2;
  const over = (side: Side) => (formula: Formula): Formula =>
    substitute(formula, meter, (literal) => done(side, variableOf(literal))) ?? formula;
  const parts: Formula[] = [over(from)(goal)];
  for (const stage of relevantStages(own, goal)) {
    const { stage_id, opens } = own.stages[stage] ?? { stage_id: "", opens: null };
    const { alone, own: able } = findStage(direction, stage_id);
    if (alone === null && able === null) parts.push(done(from, stage) + 1);
    if (opens !== null) parts.push(threshold(1, [done(from, stage) + 1, over(from)(opens)]));
    const number = others.stageNumbers.get(stage_id);
    const there = number === undefined ? undefined : others.stages[number];
    if (alone !== null || able === null || there === undefined || number === undefined) continue;
    const closed = there.opens === null ? [] : [negationOf(over(other)(there.opens))];
    parts.push(threshold(1, [done(from, stage) + 1, done(other, number), ...closed]));
  }
  const opposed = world.accepts[other] ? goalOf(others, target) : null;
  if (opposed !== null) parts.push(negationOf(over(other)(opposed)));
  if (target !== null) {
    // The run of the law must not be complete before.
    const number = own.stageNumbers.get(target) ?? -1;
    const before = substitute(
      own.goal,
      meter,
      (literal) => variableOf(literal) === number ? null : done(from, variableOf(literal)),
    );
    if (before !== null) parts.push(negationOf(before));
  }
  const found = solve(threshold(parts.length, parts), meter);
  return found === null ? null : describeDifference(direction, found, target);
}

function goalOf({ goal, stageNumbers }: AskedLaw, target: string | null): Formula | null {
  if (target === null) return goal;
  const number = stageNumbers.get(target);
  return number === undefined ? null : number * 2;
}

/** The stages that a formula names, and those that open them. */
function relevantStages({ stages }: AskedLaw, goal: Formula): readonly number[] {
  const found = new Set<number>();
  const enter = (formula: Formula): void => {
    for (const literal of literalsOf(formula)) {
      const stage = variableOf(literal);
      if (found.has(stage)) continue;
      found.add(stage);
      const opens = stages[stage]?.opens ?? null;
      if (opens !== null) enter(opens);
    }
  };
  enter(goal);
  return [...found];
}

/** Whether what completes a goal in `from` completes it in the other law, stage by stage. */
function isSameTowards(direction: Direction, goal: Formula, target: string | null): boolean {
  const { pair, world, other } = direction;
  const opposed = goalOf(pair[other], target);
  if (!world.accepts[other] || opposed === null) return false;
  return isSameBelow(direction, goal) && implies(direction, goal, opposed);
}

/** Whether a formula over stages of `from` implies one over stages of the other law, where stages are those of one id. */
function implies({ pair, from, other }: Direction, own: Formula, opposed: Formula): boolean {
  const { stageNumbers, stages } = pair[from];
  const renamed = substitute(opposed, pair.meter, (literal) => {
    const { stage_id = "" } = pair[other].stages[variableOf(literal)] ?? {};
    return (stageNumbers.get(stage_id) ?? stages.length + variableOf(literal)) * 2;
  });
  return renamed === null || solve(threshold(2, [own, negationOf(renamed)]), pair.meter) === null;
}

function isSameBelow(direction: Direction, formula: Formula): boolean {
  return [...literalsOf(formula)].every((literal) => isSameStage(direction, variableOf(literal)));
}

/** Whether a stage and all that opens it are the same. */
function isSameStage(direction: Direction, stage: number): boolean {
  const { pair, world, from, other, optimistic } = direction;
  const { stage_id, opens } = pair[from].stages[stage] ?? { stage_id: "", opens: null };
  const key = `${from} ${optimistic} ${stage_id}`;
  const known = world.same.get(key);
  if (known !== undefined) return known;
  const there = pair[other].stages[pair[other].stageNumbers.get(stage_id) ?? -1];
  const isOpen = there !== undefined &&
    (there.opens === null || opens !== null && isSameBelow(direction, opens) && implies(direction, opens, there.opens));
  const isSame = isOpen && findStage(direction, stage_id).alone === null;
  world.same.set(key, isSame);
  return isSame;
}

/**
 * A difference by the cheapest route that prefers stages which the other law does not complete; null if the other law
 * reaches the target too.
 */
function greedyDifference(direction: Direction, goal: Formula, target: string | null): Difference | null {
  const { pair, world, from, other } = direction;
  const own = pair[from];
  const others = pair[other];
  const findingOf = (stage: number): StageFinding => findStage(direction, own.stages[stage]?.stage_id ?? "");
  const cost = (stage: number): number => {
    const { alone, own: able } = findingOf(stage);
    return alone !== null ? 1 : able === null ? Infinity : own.stages.length;
  };
  const key = `${from} ${direction.optimistic}`;
  const routes = world.routes.get(key) ?? routesIn(own, pair.meter, cost);
  world.routes.set(key, routes);
  const order = routes.towards(goal);
  if (order === null) return null;
  const done = new Set<number>();
  const there = new Set<number>();
  for (const stage of order) {
    if (isTrue(own.goal, (literal) => done.has(variableOf(literal)))) return null;
    done.add(stage);
  }
  for (let changed = true; changed;) {
    changed = false;
    for (const stage of order) {
      const number = others.stageNumbers.get(own.stages[stage]?.stage_id ?? "");
      if (number === undefined || there.has(number) || findingOf(stage).alone !== null || !world.accepts[other]) {
        continue;
      }
      const opens = others.stages[number]?.opens ?? null;
      if (opens !== null && !isTrue(opens, (literal) => there.has(variableOf(literal)))) continue;
      there.add(number);
      changed = true;
    }
  }
  const opposed = goalOf(others, target);
  if (opposed !== null && isTrue(opposed, (literal) => there.has(variableOf(literal)))) return null;
  return describeDifference(direction, order.map((stage) => stage * 2), target);
}

function describeDifference(direction: Direction, found: readonly Literal[], target: string | null): Difference {
  const { pair, world, from } = direction;
  const own = pair[from];
  const completed = new Set(
    found.filter((literal) => (literal & 1) === 0).map(variableOf)
      .filter((stage) => stage < own.stages.length),
  );
  const order: number[] = [];
  const enter = (stage: number): void => {
    if (!completed.has(stage) || order.includes(stage)) return;
    const opens = own.stages[stage]?.opens ?? null;
    if (opens !== null) { for (const literal of literalsOf(opens)) enter(variableOf(literal)); }
    order.push(stage);
  };
  // The target comes last.
  for (const stage of completed) if (own.stages[stage]?.stage_id !== target) enter(stage);
  for (const stage of completed) enter(stage);
  const steps = order.map((stage): SharedStep => {
    const stage_id = own.stages[stage]?.stage_id ?? "";
    const { alone, own: able } = findStage(direction, stage_id);
    return { stage_id, evidence: evidenceFor(direction, stage_id, alone ?? able ?? []) };
  });
  return { parameters: world.parameters, steps };
}

/** The evidence that makes the literals of a solution as they are. */
function evidenceFor(direction: Direction, stageId: string, solution: readonly Literal[]): readonly SharedEvidence[] {
  const { pair, world, from } = direction;
  const count = pair.old.conditions.length;
  const wanted = new Set(solution.filter((one) => (one & 1) === 0).map((one) => one >> 1));
  const unwanted = new Set(solution.filter((one) => (one & 1) === 1).map((one) => one >> 1));
  const isOwn = (literal: Literal): boolean => (variableOf(literal) < count) === (from === "old");
  return world.units.flatMap((unit): SharedEvidence[] => {
    const own = unit.conditions.flatMap((number) => [number * 2, number * 2 + 1]).filter((one) =>
      wanted.has(one) && isOwn(one)
    );
    if (own.length === 0) return [];
    const found = (world.evidence.get(unit) ?? []).find(({ literals }) =>
      own.every((one) => literals.has(one)) && [...literals].every((one) => isOwn(one) || !unwanted.has(one))
    );
    if (found === undefined) return [];
    const asked = (side: Side): string[] => {
      const law = pair[side];
      const conditions = law.stages[law.stageNumbers.get(stageId) ?? -1]?.conditions ?? [];
      const numbers = unit.conditions.map((number) => side === "old" ? number : number - count)
        .filter((number) => number >= 0 && conditions.includes(number));
      return numbers.flatMap((number) => law.conditions[number]?.condition_id ?? []);
    };
    const by = [...new Set(found.by)].flatMap((party) => pair.table.parties[party] ?? []);
    return [{ old: asked("old"), new: asked("new"), value: found.value, by, stale: found.stale }];
  });
}
