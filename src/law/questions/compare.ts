/**
 * What a change of a law does: whether evidence that completes one of two laws completes the other one too.
 *
 * Both laws get the same evidence: one value for each pair of comparisons, of parties who agree, fresh or older than one of
 * the laws accepts.
 *
 * @module
 */

import type { ParameterValues } from "../expand.ts";
import { type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { Condition } from "../types.ts";
import { FALSE, type Tri, UNKNOWN } from "../value/truth.ts";
import type { TypedValue } from "../value/types.ts";
import { type AskedLaw, askedLaw, supportFor, type Unit, unitsOf } from "./asked_law.ts";
import {
  BudgetSpent,
  isTrue,
  literalsOf,
  type Meter,
  negationOf,
  QUESTION_VISITS,
  solve,
  substitute,
} from "./formulas.ts";
import { type NamedLaw, pairConditions } from "./paired_conditions.ts";
import { type Routes, routesIn } from "./routes.ts";
import { type Declared, isIn, parameterChoices } from "./parameter_choices.ts";
import { type Party, type PartyTable, partyTable } from "./parties.ts";

/** What a change does to a stage or to the run. */
export type ChangeVerdict = "equivalent" | "stricter" | "looser" | "incomparable" | "undecided";

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

type Side = "old" | "new";

/** Two laws with numbers for their conditions: those of the old one first. */
interface Pair {
  readonly old: AskedLaw;
  readonly new: AskedLaw;
  readonly conditions: readonly Condition[];
  readonly table: PartyTable;
  readonly worlds: readonly World[];
  /** Whether no other values of parameters differ. */
  readonly exact: boolean;
  readonly meter: Meter;
}

/** Values of the parameters, and the evidence that there can be. */
interface World {
  readonly parameters: ParameterValues;
  /** The laws that accept these values. */
  readonly accepts: Readonly<Record<Side, boolean>>;
  readonly units: readonly Unit[];
  readonly evidence: ReadonlyMap<Unit, readonly WorldEvidence[]>;
  readonly twins: Readonly<Record<Side, ReadonlyMap<Literal, Literal>>>;
  readonly stages: Map<string, StageFinding>;
  readonly same: Map<string, boolean>;
  readonly routes: Map<string, Routes>;
}

/** Evidence for a unit, with the literals that it makes true, in numbers of both laws. */
interface WorldEvidence {
  readonly literals: ReadonlySet<Literal>;
  readonly value: TypedValue | null;
  readonly by: readonly number[];
  readonly stale: boolean;
}

function readPair(old: NamedLaw, next: NamedLaw, together: boolean, meter: Meter): Pair | null {
  const table = partyTable();
  const pair = { old: askedLaw(old.law, table, [next.law]), new: askedLaw(next.law, table, [old.law]) };
  const conditions = [...pair.old.conditions, ...pair.new.conditions];
  const groups = pairConditions(old, next, together);
  const groupOf = (condition: Condition): unknown => groups.get(condition);
  const ids = new Set([...old.law.parameters ?? [], ...next.law.parameters ?? []].map((one) => one.parameter_id));
  const declared = [...ids].map((parameter_id): Declared => ({
    parameter_id,
    domains: domainsOf(parameter_id, old, next),
  }));
  try {
    const { choices, exact } = parameterChoices(declared, conditions, meter, groupOf);
    const worlds = choices.map((parameters): World => {
      const { units } = unitsOf(conditions, parameters, groupOf);
      const evidence = new Map(units.map((unit) => [unit, evidenceOf({ ...pair, meter }, unit)]));
      const twins = {
        old: twinsOf(pair.old.conditions.length, units, evidence, "old"),
        new: twinsOf(pair.old.conditions.length, units, evidence, "new"),
      };
      const accepts = { old: isAccepted(old, parameters), new: isAccepted(next, parameters) };
      return { parameters, accepts, units, evidence, twins, stages: new Map(), same: new Map(), routes: new Map() };
    });
    return { ...pair, conditions, table, worlds, exact, meter };
  } catch (error) {
    if (error instanceof BudgetSpent) return null;
    throw error;
  }
}

function domainsOf(id: string, ...laws: readonly NamedLaw[]): Declared["domains"] {
  const found = laws.flatMap(({ law }) => law.parameters?.find((one) => one.parameter_id === id)?.domain ?? []);
  const [first, second] = found;
  return first !== undefined && second !== undefined && JSON.stringify(first) === JSON.stringify(second)
    ? [first]
    : found;
}

function isAccepted({ law }: NamedLaw, parameters: ParameterValues): boolean {
  return (law.parameters ?? []).every(({ parameter_id, domain }) => isIn(parameters.get(parameter_id), domain));
}

/** The evidence that a unit can have: each value, of parties who suffice in both laws or in one of them only. */
function evidenceOf(pair: Pick<Pair, "old" | "new" | "meter">, unit: Unit): readonly WorldEvidence[] {
  const count = pair.old.conditions.length;
  const found: WorldEvidence[] = [];
  for (const option of unit.values.options) {
    const literals = { old: [] as Literal[], new: [] as Literal[] };
    const supports = { old: [] as Formula[], new: [] as Formula[] };
    unit.conditions.forEach((number, at) => {
      const truth: Tri = option.truths[at] ?? UNKNOWN;
      if (truth === UNKNOWN) return;
      const side: Side = number < count ? "old" : "new";
      const support = pair[side].support[side === "old" ? number : number - count];
      const formula = support === undefined ? null : supportFor(support, truth, option);
      if (formula === null) return;
      literals[side].push(number * 2 + (truth === FALSE ? 1 : 0));
      supports[side].push(formula);
    });
    const whole = (side: Side): Formula | null =>
      supports[side].length === 0 ? null : threshold(supports[side].length, supports[side]);
    for (const given of givenBy(pair, unit, whole("old"), whole("new"))) {
      const own = [...given.sides.has("old") ? literals.old : [], ...given.sides.has("new") ? literals.new : []];
      if (own.length > 0) found.push({ literals: new Set(own), value: option.value, by: given.by, stale: given.stale });
    }
  }
  return found;
}

interface Given {
  readonly sides: ReadonlySet<Side>;
  readonly by: readonly number[];
  readonly stale: boolean;
}

/** The parties that suffice in both laws, and those that suffice in one of them only. */
function givenBy(
  pair: Pick<Pair, "old" | "new" | "meter">,
  unit: Unit,
  old: Formula | null,
  next: Formula | null,
): readonly Given[] {
  const { meter } = pair;
  const given: Given[] = [];
  const add = (formula: Formula | null, sides: readonly Side[], stale: boolean): void => {
    const found = solve(formula, meter);
    if (found === null) return;
    const by = found.filter((literal) => (literal & 1) === 0).map(variableOf);
    given.push({ sides: new Set(sides), by, stale });
  };
  if (old !== null && next !== null) add(threshold(2, [old, next]), ["old", "new"], false);
  const ages = { old: ageOf(pair, unit, "old"), new: ageOf(pair, unit, "new") };
  for (const [own, other, side] of [[old, next, "old"], [next, old, "new"]] as const) {
    if (own === null) continue;
    const isOlder = other !== null && ages[side] > ages[side === "old" ? "new" : "old"];
    add(other === null || isOlder ? own : threshold(2, [own, negationOf(other)]), [side], isOlder);
  }
  return given;
}

/** The maximum age of the evidence of a unit in a law. */
function ageOf(pair: Pick<Pair, "old" | "new">, { conditions }: Unit, side: Side): number {
  const count = pair.old.conditions.length;
  const own = conditions.filter((number) => number < count === (side === "old"));
  const ages = own.map((number) => {
    const { freshness } = pair[side].conditions[side === "old" ? number : number - count]?.evidence_use_policy ?? {};
    return freshness?.freshness === "MaximumAge" ? freshness.maximum_age_millis : Infinity;
  });
  return Math.min(...ages);
}

/** What the evidence of a stage can do: complete it in one law alone, or only in both. */
interface StageFinding {
  readonly alone: readonly Literal[] | null;
  readonly own: readonly Literal[] | null;
}

/** A direction of a comparison: evidence that completes `from` and not the other law. */
interface Direction {
  readonly pair: Pair;
  readonly world: World;
  readonly from: Side;
  readonly other: Side;
  readonly optimistic: boolean;
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

/** A condition's literal in the numbers of both laws. */
function inPair({ pair }: Direction, side: Side, literal: Literal): Literal {
  return side === "old" ? literal : literal + 2 * pair.old.conditions.length;
}

/** What a stage does in one direction. */
function findStage(direction: Direction, stageId: string): StageFinding {
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
 * Whether a stage has the same formula in both laws, and all evidence that makes a literal true in `from` makes the same
 * literal true in the other law.
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

/** By literal of a law: the literal of the other law that is true with it. */
function twinsOf(
  count: number,
  units: readonly Unit[],
  evidence: World["evidence"],
  from: Side,
): ReadonlyMap<Literal, Literal> {
  const twins = new Map<Literal, Literal>();
  for (const unit of units) {
    const own = unit.conditions.filter((number) => (number < count) === (from === "old"));
    const others = unit.conditions.filter((number) => (number < count) !== (from === "old"));
    const [one] = own;
    const [other] = others;
    if (own.length !== 1 || others.length !== 1 || one === undefined || other === undefined || !unit.values.exact) {
      continue;
    }
    for (const sign of [0, 1]) {
      const all = (evidence.get(unit) ?? []).every(({ literals }) =>
        !literals.has(one * 2 + sign) || literals.has(other * 2 + sign)
      );
      if (all) twins.set(one * 2 + sign, other * 2 + sign);
    }
  }
  return twins;
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

/** Evidence that completes a target in `from` and not in the other law; null for the run. */
function differenceBetween(direction: Direction, target: string | null): Difference | null {
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
  return found === null ? null : describe(direction, found, target);
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
  return describe(direction, order.map((stage) => stage * 2), target);
}

function describe(direction: Direction, found: readonly Literal[], target: string | null): Difference {
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
