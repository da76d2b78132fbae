/**
 * The values of parameters that a question has to try. Of values that leave the same comparisons open, one is enough.
 */

import type { ParameterValues } from "../expand.ts";
import type { Condition, ParameterDomain, ScenarioLaw } from "../types.ts";
import { checkInDomain } from "../value/typed_value.ts";
import { expectedOf, isParameterReference, type ObservationDomain, type TypedValue } from "../value/types.ts";
import { type GroupOf, unitsOf } from "./asked_law.ts";
import { candidatesOf } from "./candidates.ts";
import { type Meter, spend } from "./formulas.ts";

/** Most combinations of values that are tried for parameters that stand in one comparison, and for all together. */
const COMBINATIONS = 4096;
const CHOICES = 64;

/** Values of all parameters to try. */
export interface ParameterChoices {
  readonly choices: readonly ParameterValues[];
  /** Whether no other values differ in what they leave open. */
  readonly exact: boolean;
}

/** A parameter with its domain, or the domains that it has in several laws. */
export interface Declared {
  readonly parameter_id: string;
  readonly domains: readonly ParameterDomain[];
}

/** The parameters of a law. */
export function declaredIn({ parameters = [] }: Pick<ScenarioLaw, "parameters">): readonly Declared[] {
  return parameters.map(({ parameter_id, domain }) => ({ parameter_id, domains: [domain] }));
}

/** Parameters whose values are compared with one another, and the conditions that name them. */
interface Cluster {
  readonly parameters: Declared[];
  readonly conditions: Condition[];
}

/**
 * Finds the values to try.
 *
 * @param conditions The conditions that a question reads
 */
export function parameterChoices(
  parameters: readonly Declared[],
  conditions: readonly Condition[],
  meter: Meter,
  groupOf?: GroupOf,
): ParameterChoices {
  let choices: ParameterValues[] = [new Map()];
  let exact = true;
  for (const cluster of clustersOf(parameters, conditions, groupOf)) {
    const found = choicesOf(cluster, meter, groupOf);
    exact &&= found.exact;
    const joined = choices.flatMap((before) => found.choices.map((own) => new Map([...before, ...own])));
    if (joined.length > CHOICES) exact = false;
    choices = joined.slice(0, CHOICES);
  }
  return { choices, exact };
}

function parametersIn({ predicate }: Condition): readonly string[] {
  return expectedOf(predicate).filter(isParameterReference).map(({ parameter }) => parameter);
}

function clustersOf(
  parameters: readonly Declared[],
  conditions: readonly Condition[],
  groupOf?: GroupOf,
): readonly Cluster[] {
  const clusterOf = new Map(
    parameters.map((one) => [one.parameter_id, { parameters: [one], conditions: [] as Condition[] }]),
  );
  const groups = Map.groupBy(conditions, (one) => groupOf === undefined ? one : groupOf(one));
  for (const group of groups.values()) {
    const own = [...new Set(group.flatMap(parametersIn).flatMap((id) => clusterOf.get(id) ?? []))];
    const [first, ...rest] = own;
    if (first === undefined) continue;
    first.conditions.push(...group);
    for (const other of rest) {
      first.parameters.push(...other.parameters);
      first.conditions.push(...other.conditions);
      for (const { parameter_id } of other.parameters) clusterOf.set(parameter_id, first);
    }
  }
  return [...new Set(clusterOf.values())];
}

/** Values that change the path of a URL, or leave it open, start no run. */
const PATH_VALUES: readonly unknown[] = ["", ".", ".."];

function choicesOf({ parameters, conditions }: Cluster, meter: Meter, groupOf?: GroupOf): ParameterChoices {
  const constants = conditions.flatMap(({ predicate, observation_domain }) => [
    ...expectedOf(predicate).flatMap((one) => "value_type" in one ? [one.value] : []),
    ...boundsIn(observation_domain),
  ]);
  const lists = parameters.map(({ domains }) =>
    domains.flatMap((domain) => candidatesOf(domain, constants, parameters.length + 1))
  );
  // Plain values come first, since the first of equal ones is kept.
  const ordered = lists.map((list) => [
    ...list.filter(({ value }) => !PATH_VALUES.includes(value)),
    ...list.filter(({ value }) => PATH_VALUES.includes(value)),
  ]);
  const count = ordered.reduce((product, list) => product * list.length, 1);
  const best: { readonly values: ParameterValues; readonly open: ReadonlySet<string> }[] = [];
  for (let at = 0; at < Math.min(count, COMBINATIONS); at++) {
    const values = combination(parameters, ordered, at);
    const { open, isWhole } = openTruths(parameters, conditions, values, meter, groupOf);
    if (best.some((other) => open.isSubsetOf(other.open))) continue;
    best.splice(0, best.length, ...best.filter((other) => !other.open.isSubsetOf(open)), { values, open });
    if (isWhole) return { choices: [values], exact: true };
  }
  return { choices: best.map(({ values }) => values), exact: count <= COMBINATIONS };
}

/** Whether a value is in a domain; a parameter without a value is in none. */
export function isIn(value: TypedValue | undefined, domain: ObservationDomain): boolean {
  return value !== undefined && checkInDomain(value, domain) === null;
}

function boundsIn(domain: ObservationDomain): (number | string)[] {
  if (domain.domain !== "Integer" && domain.domain !== "Decimal") return [];
  return [domain.minimum, domain.maximum].filter((bound) => bound !== undefined);
}

/** The combination with a number, from lists whose values are the digits. */
function combination(
  parameters: readonly Declared[],
  lists: readonly (readonly TypedValue[])[],
  number: number,
): ParameterValues {
  const values = new Map<string, TypedValue>();
  let rest = number;
  parameters.forEach(({ parameter_id }, at) => {
    const list = lists[at] ?? [];
    const value = list[rest % list.length];
    rest = Math.floor(rest / list.length);
    if (value !== undefined) values.set(parameter_id, value);
  });
  return values;
}

/** The truth values that values of parameters leave open, and whether they leave open all there are. */
function openTruths(
  parameters: readonly Declared[],
  conditions: readonly Condition[],
  values: ParameterValues,
  meter: Meter,
  groupOf?: GroupOf,
): { readonly open: ReadonlySet<string>; readonly isWhole: boolean } {
  const { units } = unitsOf(conditions, values, groupOf);
  // Values in different domains are different: with one of them a law has no run.
  const places = parameters.map(({ parameter_id, domains }) =>
    domains.map((domain) => isIn(values.get(parameter_id), domain) ? 1 : 0).join("")
  );
  const open = new Set<string>([places.join()]);
  units.forEach(({ values: { options } }, number) => {
    spend(meter, options.length);
    for (const { truths } of options) open.add(`${number} ${truths.join("")}`);
  });
  const isWhole = parameters.every(({ domains }) => domains.length === 1) &&
    units.every(({ conditions: own, values: { options } }) => own.length === 1 && options.length >= 2);
  return { open, isWhole };
}
