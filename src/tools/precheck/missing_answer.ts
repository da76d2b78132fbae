/**
 * What is missing, told beside what was accepted. It follows from the law and the trace, so it is made for each answer and stands in no
 * receipt: a run is not bound to how it is told.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { CompiledStage } from "../../run/compile.ts";
import { missingOfTrace, type VerifiedOnly } from "../../run/missing/stage.ts";
import { asJson } from "../../run/primitives.ts";
import type { Admission, Attempt, Head, RunKey, TraceItem } from "../../run/types.ts";
import { causesOfAttempts, stageOfAttempt } from "./attempt_causes.ts";
import type { Outcome } from "../mutation/outcome.ts";
import type { Services } from "../services/services.ts";
import { verifiedOnlyAt } from "./recorded_profile.ts";

/** The member `missing` of whatever has a trace; no member where nothing is missing. */
export function missingMember(
  stage: CompiledStage,
  trace: readonly TraceItem[],
  verifiedOnly: VerifiedOnly,
): JsonObject {
  const missing = missingOfTrace(stage, trace, verifiedOnly);
  return missing === null ? {} : asJson({ missing: [missing] }) as JsonObject;
}

/** An accepted evaluation with the causes of its attempt and what it lacked; everything else as it is. */
export async function withMissing(services: Services, runKey: RunKey, outcome: Outcome): Promise<Outcome> {
  const attempt = outcome.outcome === "accepted" ? member(outcome.result, "attempt") : undefined;
  if (!isJsonObject(attempt) || attempt["outcome"] === "true") return outcome;
  const run = await services.projections.load(runKey);
  if (run === null) return outcome;
  const stage = stageOfAttempt(run.law, String(attempt["stage_id"]));
  if (stage === undefined) return outcome;
  const given = attempt as unknown as Attempt;
  const { profile_id } = outcome.result["admission"] as unknown as Admission;
  const missing = missingMember(stage, given.trace, await verifiedOnlyAt(services, profile_id));
  const head = outcome.result["accepted_head"] as unknown as Head;
  const causes = await causesOfAttempts(services.runs, run.law, { run_key: runKey, head }, [given]);
  const added = { ...causes.get(given.record_id), ...missing };
  return { outcome: outcome.outcome, result: { ...outcome.result, attempt: { ...attempt, ...added } } };
}
