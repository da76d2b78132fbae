/**
 * Warns of what laws copy from each other unread: signatures of one person, windows of the caller, words of the caller.
 */

import { hasPlaceholder } from "../../law/placeholders.ts";
import { leavesOf } from "../../law/requirement_walk.ts";
import { quoteAll } from "../../law/suggest.ts";
import type { Condition, ScenarioLaw } from "../../law/types.ts";
import { needsSignature } from "../../law/lint.ts";

interface Habit {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/** The warnings of a law. */
export function lintHabits(law: ScenarioLaw): readonly Habit[] {
  return [...lintSigners(law), ...lintWindows(law), ...lintWords(law)];
}

function lintSigners({ conditions }: ScenarioLaw): readonly Habit[] {
  return conditions.flatMap(({ condition_id, evidence_use_policy: policy }, index) => {
    const { combination, independence } = policy;
    const isQuorum = combination.combination === "Quorum" && combination.minimum > 1;
    if (!isQuorum || independence !== "not_required" || !needsSignature(policy)) return [];
    const message =
      `Condition ${quoteAll([condition_id])} needs ${combination.minimum} signatures, and one person can ` +
      "give them all: independence is not_required";
    return [{ code: "one_signer_suffices", path: `$.conditions[${index}].evidence_use_policy.independence`, message }];
  });
}

/** Checks of the time, whose params are a window. */
const WINDOWS: Readonly<Record<string, readonly string[]>> = { time: ["after", "before"], calendar: ["open"] };

function lintWindows({ acquisition_bindings: bindings, parameters }: ScenarioLaw): readonly Habit[] {
  if (parameters === undefined) return [];
  return bindings.flatMap(({ binding_id, provider_id, check_id, channel, params = null }, index) => {
    const isWindow = channel === "local_acquisition" && WINDOWS[provider_id]?.includes(check_id) === true;
    if (!isWindow || !hasPlaceholder(params)) return [];
    const message = `Binding ${
      quoteAll([binding_id])
    } has a window that a parameter sets: the caller that starts a run chooses it`;
    return [{ code: "window_by_parameter", path: `$.acquisition_bindings[${index}].params`, message }];
  });
}

function lintWords({ stages, conditions }: ScenarioLaw): readonly Habit[] {
  const byId = new Map(conditions.map((condition) => [condition.condition_id, condition]));
  return stages.flatMap(({ stage_id, completion_requirement }, index) => {
    const own = leavesOf(completion_requirement).flatMap((id): readonly Condition[] => {
      const found = byId.get(id);
      return found === undefined ? [] : [found];
    });
    const isApproved = own.some(({ evidence_use_policy: policy }) => needsSignature(policy));
    const words = own.filter(({ evidence_use_policy: policy }) =>
      policy.allowed_channels.includes("caller_submission") && !needsSignature(policy)
    ).map(({ condition_id }) => condition_id);
    if (!isApproved || words.length === 0) return [];
    const message = `Stage ${quoteAll([stage_id])} has approvals beside what the caller says alone: ${quoteAll(words)}`;
    return [{ code: "caller_word_beside_approval", path: `$.stages[${index}].completion_requirement`, message }];
  });
}
