/** Which conditions of two laws are asked of the same evidence. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Condition, ScenarioLaw } from "../types.ts";

/** A law with the name of the evidence of each of its conditions. */
export interface NamedLaw {
  readonly law: ScenarioLaw;
  /** By condition id; a condition that is not there has its id as name. */
  readonly names: ReadonlyMap<string, string>;
}

/**
 * Groups the conditions of two laws by their evidence: by the name, else by the sources.
 *
 * Two comparisons of one name have values of their own, so each is paired with at most one of the other law: with the
 * same comparison, else with one that has the same operator, else with the next one.
 *
 * @param together Whether all comparisons of one name have one value
 * @returns The group of each condition
 */
export function pairConditions(old: NamedLaw, next: NamedLaw, together: boolean): ReadonlyMap<Condition, unknown> {
  const groups = new Map<Condition, unknown>();
  if (together) {
    for (const { law, names } of [old, next]) {
      for (const one of law.conditions) groups.set(one, names.get(one.condition_id) ?? one.condition_id);
    }
    return groups;
  }
  const nameIn = ({ names }: NamedLaw) => (one: Condition): string => names.get(one.condition_id) ?? one.condition_id;
  const sourceIn = ({ law }: NamedLaw) => (one: Condition): string | null => {
    const own = law.acquisition_bindings.filter(({ condition_id }) => condition_id === one.condition_id);
    const texts = own.map(({ provider_id, check_id, params = null }) => canonicalize([provider_id, check_id, params]));
    return texts.length === 0 ? null : texts.sort().join();
  };
  const keys = [
    (one: Condition) => canonicalize(one.predicate as unknown as JsonValue),
    (one: Condition) => one.predicate.predicate,
    () => "",
  ];
  for (const [oldKey, nextKey] of [[nameIn(old), nameIn(next)], [sourceIn(old), sourceIn(next)]] as const) {
    for (const like of keys) pairBy(old, next, groups, oldKey, nextKey, like);
  }
  for (const { law } of [old, next]) for (const one of law.conditions) if (!groups.has(one)) groups.set(one, one);
  return groups;
}

function pairBy(
  old: NamedLaw,
  next: NamedLaw,
  groups: Map<Condition, unknown>,
  oldKey: (one: Condition) => string | null,
  nextKey: (one: Condition) => string | null,
  like: (one: Condition) => string,
): void {
  const free = (law: ScenarioLaw): Condition[] => law.conditions.filter((one) => !groups.has(one));
  const waiting = Map.groupBy(free(old.law), (one) => canonicalize([oldKey(one), like(one)]));
  for (const one of free(next.law)) {
    if (nextKey(one) === null) continue;
    const other = waiting.get(canonicalize([nextKey(one), like(one)]))?.shift();
    if (other === undefined) continue;
    groups.set(one, other);
    groups.set(other, other);
  }
}
