/** A way through a law as a case that `gate scenario test` runs. */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import type { ParameterValues } from "../law/expand.ts";
import { compileFormula, variableOf } from "../law/proof/formula.ts";
import { QUESTION_TIME } from "../law/questions/candidates.ts";
import { isTrue } from "../law/questions/formulas.ts";
import type { Party } from "../law/questions/parties.ts";
import { leavesOf } from "../law/requirement_walk.ts";
import type { ScenarioLaw } from "../law/types.ts";
import type { TypedValue } from "../law/value/types.ts";

/** An attempt of a way. */
export interface CaseStep {
  readonly stage_id: string;
  readonly evidence: readonly {
    readonly condition_id: string;
    readonly value: TypedValue | null;
    readonly by: readonly Party[];
  }[];
}

/** The text of a cases file with one case, which is JSON and so YAML too. */
export function caseText(
  law: ScenarioLaw,
  name: string,
  parameters: ParameterValues,
  steps: readonly CaseStep[],
): string {
  const ids = law.stages.map(({ stage_id }) => stage_id);
  const done = new Set(steps.map(({ stage_id }) => ids.indexOf(stage_id)));
  const goal = compileFormula(law.completion_requirement, (id) => ids.indexOf(id));
  const isComplete = isTrue(goal, (literal) => done.has(variableOf(literal)));
  const one = {
    ...Object.fromEntries([...parameters].map(([id, { value }]) => [id, value])),
    now: new Date(QUESTION_TIME).toISOString(),
    steps: steps.map((step) => stepOf(law, step)),
    then: isComplete ? "complete" : "active",
  };
  return `${JSON.stringify({ [name]: one }, null, 2)}\n`;
}

function stepOf(law: ScenarioLaw, { stage_id, evidence }: CaseStep): JsonObject {
  const stage = law.stages.find((one) => one.stage_id === stage_id);
  const items: Record<string, JsonValue[]> = {};
  const found: Record<string, JsonValue> = {};
  const sign: JsonObject[] = [];
  for (const condition_id of stage === undefined ? [] : leavesOf(stage.completion_requirement)) {
    const policy = law.conditions.find((one) => one.condition_id === condition_id)?.evidence_use_policy;
    const { value = null, by = [] } = evidence.find((one) => one.condition_id === condition_id) ?? {};
    const count = policy?.independence === "not_required" && policy.combination.combination === "Quorum"
      ? policy.combination.minimum
      : 1;
    for (const party of by) {
      if (value === null || party.kind === "source") continue;
      const times = Array.from({ length: count }, () => value.value);
      if (party.kind === "key") sign.push(...times.map((one) => ({ [party.key_id]: { [condition_id]: one } })));
      else (items[condition_id] ??= []).push(...times);
    }
    for (const binding of law.acquisition_bindings) {
      if (binding.condition_id !== condition_id) continue;
      const isGiven = by.some((party) =>
        party.kind === "source" && party.provider_id === binding.provider_id && party.check_id === binding.check_id &&
        canonicalize(party.params) === canonicalize(binding.params ?? null)
      );
      if (isGiven || policy?.requires_all_bindings === true) {
        found[binding.binding_id] = isGiven ? value?.value ?? null : null;
      }
    }
  }
  return {
    stage: stage_id,
    ...found,
    ...Object.keys(items).length === 0 ? {} : { items },
    ...sign.length === 0 ? {} : { sign },
    then: `${stage_id} is true`,
  };
}
