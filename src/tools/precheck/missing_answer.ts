/**
 * The member `missing` of answers. It follows from the law and the trace, so it is computed for each answer and is part
 * of no receipt: its form may change without changing runs.
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { missingOfTrace, type VerifiedOnly } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { Admission, Attempt, Head, RunKey, TraceItem } from "../../run/types.ts";
import { causesOfAttempts, stageOfAttempt } from "./attempt_causes.ts";
import type { Outcome } from "../mutation/outcome.ts";
import type { Services } from "../services/services.ts";
import { verifiedOnlyAt } from "./recorded_profile.ts";

/** The member `missing` for a trace; no member where nothing is missing. */
export function missingMember(
  law: ScenarioLaw,
  stage: CompiledStage,
  trace: readonly TraceItem[],
  verifiedOnly: VerifiedOnly,
): JsonObject {
  const missing = missingOfTrace(law, stage, trace, verifiedOnly);
  return missing === null ? {} : asJson({ missing: [missing] }) as JsonObject;
}

/** The members of an accepted evaluation that are read here. */
interface EvaluationResult {
  readonly admission: Admission;
  readonly accepted_head: Head;
  readonly attempt: Attempt;
}

/** Adds causes and missing sets to the attempt of an accepted evaluation; returns other outcomes unchanged. */
export async function withMissing(services: Services, runKey: RunKey, outcome: Outcome): Promise<Outcome> {
  const attempt = outcome.outcome === "accepted" ? member(outcome.result, "attempt") : undefined;
  if (!isJsonObject(attempt) || attempt["outcome"] === "true") return outcome;
  const run = await services.projections.load(runKey);
  if (run === null) return outcome;
  const stage = stageOfAttempt(run.law, String(attempt["stage_id"]));
  if (stage === undefined) return outcome;
  const { admission, accepted_head: head, attempt: given } = outcome.result as unknown as EvaluationResult;
  const missing = missingMember(run.law.law, stage, given.trace, await verifiedOnlyAt(services, admission.profile_id));
  const causes = await causesOfAttempts(services, run, [given], head);
  const added = { ...causes.get(given.record_id), ...missing };
  return { outcome: outcome.outcome, result: { ...outcome.result, attempt: { ...attempt, ...added } } };
}
