/** Whether a law can be completed without what a claim says it needs. */

import { compileFormula, type Formula, type Literal, threshold, variableOf } from "../proof/formula.ts";
import type { Condition, Requirement, ScenarioLaw } from "../types.ts";
import { type AskedLaw, askedLaw, type GroupOf, unitsOf } from "./asked_law.ts";
import { BudgetSpent, isTrue, type Meter, negationOf, QUESTION_VISITS, solve, spend, substitute } from "./formulas.ts";
import { declaredIn, parameterChoices } from "./parameter_choices.ts";
import { type Party, type PartyTable, partyTable } from "./parties.ts";
import { type Routes, routesIn } from "./routes.ts";
import { type Restriction, type Setting, stageLiterals, stepOf, UNRESTRICTED, type Way } from "./ways.ts";

/** What a leaf of a claim names. */
export type ClaimAtom =
  /** A condition of the law: it was true in an attempt that completed a stage. Its negation: it was false in one. */
  | { readonly condition: string }
  /** Another comparison of the evidence of a condition, for values that are decided together. */
  | { readonly comparison: Condition }
  /** A stage that was completed before. */
  | { readonly stage: string }
  /** A party that counted: a caller's word, a key, or any source of a provider. */
  | { readonly caller: true }
  | { readonly key: string }
  | { readonly provider: string };

/** A claim: what a stage or the run cannot be completed without. */
export interface Claim {
  /** Over the ids of `atoms`. `Not` stands over conditions and comparisons only. */
  readonly needs: Requirement;
  readonly atoms: ReadonlyMap<string, ClaimAtom>;
  /** The stage whose own attempt has to show it; absent for the run. */
  readonly stage?: string;
}

/** How a question is decided. */
export interface QuestionOptions {
  /** If given, all conditions of one group have one value in an attempt. */
  readonly groupOf?: GroupOf | undefined;
  /** Most visits; {@link QUESTION_VISITS} by default. */
  readonly visits?: number | undefined;
}

/** The answer to a claim. */
export type ClaimAnswer =
  /** `vacuous`: nothing completes the stage or the run at all. */
  | { readonly verdict: "proved"; readonly vacuous: boolean }
  | { readonly verdict: "not_proved"; readonly way: Way }
  | { readonly verdict: "undecided" };

/**
 * Decides a claim.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { proveClaim } from "@/law/questions/prove.ts";
 * import type { ScenarioLaw } from "@/law/types.ts";
 *
 * declare const law: ScenarioLaw;
 * const claim = { needs: { Condition: "a" }, atoms: new Map([["a", { key: "alice" }]]) };
 * const check = (): void => assert.equal(proveClaim(law, claim).verdict, "proved");
 * ```
 */
export function proveClaim(law: ScenarioLaw, claim: Claim, options: QuestionOptions = {}): ClaimAnswer {
  const meter: Meter = { left: options.visits ?? QUESTION_VISITS };
  try {
    return decide(law, claim, options, meter);
  } catch (error) {
    if (error instanceof BudgetSpent) return { verdict: "undecided" };
    throw error;
  }
}

function decide(law: ScenarioLaw, claim: Claim, { groupOf }: QuestionOptions, meter: Meter): ClaimAnswer {
  const table = partyTable();
  const extra = [...claim.atoms.values()].flatMap((atom) => "comparison" in atom ? [atom.comparison] : []);
  const asked = withComparisons(askedLaw(law, table), extra);
  const { choices, exact } = parameterChoices(declaredIn(law), asked.conditions, meter, groupOf);
  const settings = choices.map((parameters): Setting => ({
    asked,
    units: unitsOf(asked.conditions, parameters, groupOf),
    parameters,
    table,
    meter,
    optimistic: false,
  }));
  const way = anyWay(settings, claim);
  if (way !== null) return { verdict: "not_proved", way };
  const inexact = settings.filter(({ units }) => !units.exact || asked.support.some((one) => !one.exact));
  if (!exact || anyWay(inexact.map((one) => ({ ...one, optimistic: true })), claim) !== null) {
    return { verdict: "undecided" };
  }
  const free = { needs: claim.needs, atoms: claim.atoms, ...claim.stage === undefined ? {} : { stage: claim.stage } };
  return { verdict: "proved", vacuous: settings.every((setting) => wayRound(setting, free, null) === null) };
}

function withComparisons(asked: AskedLaw, extra: readonly Condition[]): AskedLaw {
  if (extra.length === 0) return asked;
  const conditions = [...asked.conditions, ...extra];
  return { ...asked, conditions, conditionNumbers: new Map(conditions.map((one, at) => [one.condition_id, at])) };
}

/** The shortest way round a claim in any setting. */
function anyWay(settings: readonly Setting[], claim: Claim): Way | null {
  let best: Way | null = null;
  for (const setting of settings) {
    for (const literals of selections(refusalOf(claim), setting.meter)) {
      const way = wayRound(setting, claim, literals);
      if (way !== null && (best === null || sizeOf(way) < sizeOf(best))) best = way;
    }
  }
  return best;
}

function sizeOf({ steps }: Way): number {
  return steps.reduce((sum, { evidence }) => sum + 1 + evidence.length, 0);
}

/** That a claim is not satisfied, as a formula: an odd literal is an atom that is not true, an even one not false. */
function refusalOf({ needs, atoms }: Claim): Formula {
  const ids = [...atoms.keys()];
  return compileFormula(needs, (id) => ids.indexOf(id), true);
}

/** The selections of literals that make a formula true, without regard to their signs. */
function* selections(formula: Formula, meter: Meter): Generator<readonly Literal[]> {
  spend(meter, 1);
  if (typeof formula === "number") yield [formula];
  else yield* selectFrom(formula.operands, formula.minimum, meter);
}

function* selectFrom(operands: readonly Formula[], count: number, meter: Meter): Generator<readonly Literal[]> {
  if (count === 0) yield [];
  const [first, ...rest] = operands;
  if (count === 0 || first === undefined || operands.length < count) return;
  for (const own of selections(first, meter)) {
    for (const others of selectFrom(rest, count - 1, meter)) yield [...own, ...others];
  }
  yield* selectFrom(rest, count, meter);
}

interface Bars {
  readonly restriction: Restriction;
  readonly stages: ReadonlySet<number>;
}

/** What must not happen so that literals of a refused claim hold. */
function barsOf({ asked, table }: Setting, { atoms }: Claim, literals: readonly Literal[]): Bars {
  const list = [...atoms.values()];
  const truths = new Set<Literal>();
  const stages = new Set<number>();
  const parties: ((party: Party) => boolean)[] = [];
  for (const literal of literals) {
    const atom = list[variableOf(literal)];
    if (atom === undefined) continue;
    if ("condition" in atom || "comparison" in atom) {
      const id = "condition" in atom ? atom.condition : atom.comparison.condition_id;
      // The literal that is refused is the opposite one.
      truths.add((asked.conditionNumbers.get(id) ?? -1) * 2 + ((literal & 1) ^ 1));
    } else if ((literal & 1) === 0) throw new TypeError("Cannot claim that a stage or a party is not needed");
    else if ("stage" in atom) stages.add(asked.stageNumbers.get(atom.stage) ?? -1);
    else parties.push((party) => isParty(party, atom));
  }
  const barred = barredParties(table, parties);
  return { restriction: { truths, bars: (party) => barred.has(party) }, stages };
}

function barredParties({ parties }: PartyTable, tests: readonly ((party: Party) => boolean)[]): ReadonlySet<number> {
  return new Set(parties.flatMap((party, number) => tests.some((test) => test(party)) ? [number] : []));
}

function isParty(
  party: Party,
  atom: Extract<ClaimAtom, { caller: true } | { key: string } | { provider: string }>,
): boolean {
  if ("caller" in atom) return party.kind === "caller";
  if ("key" in atom) return party.kind === "key" && party.key_id === atom.key;
  return party.kind === "source" && party.provider_id === atom.provider;
}

/** A way to complete what a claim speaks of, with literals of its refusal; null for `literals` asks for any way. */
function wayRound(setting: Setting, claim: Claim, literals: readonly Literal[] | null): Way | null {
  const { asked } = setting;
  const { restriction, stages: barred } = literals === null
    ? { restriction: UNRESTRICTED, stages: new Set<number>() }
    : barsOf(setting, claim, literals);
  const target = claim.stage === undefined ? null : asked.stageNumbers.get(claim.stage) ?? -1;
  const before = target === null ? restriction : UNRESTRICTED;
  const progress = progressOf(setting, before, barred);
  const order = target === null ? progress.towards(asked.goal) : stagesBefore(setting, progress, target);
  if (order === null) return null;
  const steps = endsAt(asked, order).map((stage) => stepOf(setting, stage, progress.literals(stage) ?? [], before));
  if (target === null) return { parameters: setting.parameters, steps };
  const own = stageLiterals(setting, target, restriction);
  return own === null ? null : {
    parameters: setting.parameters,
    steps: [...steps, stepOf(setting, target, own, restriction)],
  };
}

/** The stages until the run is complete. */
function endsAt({ goal }: AskedLaw, order: readonly number[]): readonly number[] {
  const done = new Set<number>();
  const end = order.findIndex((stage) => isTrue(goal, (literal) => done.add(stage).has(variableOf(literal))));
  return end < 0 ? order : order.slice(0, end + 1);
}

interface Progress extends Routes {
  readonly literals: (stage: number) => readonly Literal[] | null;
}

/** Which stages can be completed. No evidence is used up. */
function progressOf(setting: Setting, restriction: Restriction, barred: ReadonlySet<number>): Progress {
  const found = new Map<number, readonly Literal[] | null>();
  const literals = (stage: number): readonly Literal[] | null => {
    const known = found.get(stage);
    if (known !== undefined) return known;
    const own = barred.has(stage) ? null : stageLiterals(setting, stage, restriction);
    found.set(stage, own);
    return own;
  };
  const routes = routesIn(setting.asked, setting.meter, (stage) => literals(stage) === null ? Infinity : 1);
  return { literals, ...routes };
}

/** Stages that open another one before the run is complete; null if there are none. */
function stagesBefore(setting: Setting, { isDone, towards }: Progress, target: number): readonly number[] | null {
  const { asked, meter } = setting;
  const opens = asked.stages[target]?.opens ?? null;
  if (opens === null) return [];
  const short = towards(opens);
  if (short === null) return null;
  const isComplete = (stages: readonly number[]): boolean =>
    isTrue(asked.goal, (literal) => stages.includes(variableOf(literal)));
  if (!isComplete(short)) return short;
  const able = asked.stages.map((_, stage) => stage).filter((stage) => stage !== target && isDone(stage));
  const whole = (formula: Formula): Formula | null =>
    substitute(formula, meter, (literal) => able.includes(variableOf(literal)) ? literal : null);
  const rules = able.flatMap((stage): Formula[] => {
    const own = asked.stages[stage]?.opens ?? null;
    const left = own === null ? null : whole(own);
    return left === null ? [] : [threshold(1, [stage * 2 + 1, left])];
  });
  const opening = whole(opens);
  if (opening === null) return null;
  const parts = [opening, negationOf(asked.goal), ...rules];
  const found = solve(threshold(parts.length, parts), meter);
  if (found === null) return null;
  const stages = new Set(found.filter((literal) => (literal & 1) === 0).map(variableOf));
  return inOrder(asked, stages);
}

/** Stages that can be completed one after the other, in such an order. */
function inOrder({ stages }: AskedLaw, set: ReadonlySet<number>): readonly number[] {
  const order: number[] = [];
  const enter = (stage: number): void => {
    if (!set.has(stage) || order.includes(stage)) return;
    const opens = stages[stage]?.opens ?? null;
    if (opens !== null) eachStage(opens, enter);
    order.push(stage);
  };
  for (const stage of set) enter(stage);
  return order;
}

function eachStage(formula: Formula, enter: (stage: number) => void): void {
  if (typeof formula === "number") enter(variableOf(formula));
  else for (const operand of formula.operands) eachStage(operand, enter);
}
