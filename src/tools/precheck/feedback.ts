/**
 * The feedback of a step beside its decision: the caller requests a level, and the operator grants one
 * (`server.feedback`).
 */

import { inScope } from "../../access/roles.ts";
import type { Principal } from "../../access/types.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import { FEEDBACK_LEVELS, type FeedbackLevel } from "../../config/feedback_levels.ts";
import type { ScenarioNextFeedbackConfig } from "../../config/types.ts";
import { attemptOf } from "../../run/fold.ts";
import { asJson } from "../../run/primitives.ts";
import type { RecordedEvidence } from "../../run/types.ts";
import type { AcceptedCall, RecordedStep } from "../mutation/derived_mutation.ts";
import { causesMember, findingsOfStep, mayShowValue, stageOfAttempt } from "./attempt_causes.ts";
import { missingMember } from "./missing_answer.ts";
import { verifiedOnlyAt } from "./recorded_profile.ts";
import { PAGE_CHARACTERS } from "../framework/pagination.ts";
import type { Services } from "../services/services.ts";

/** The feedback that a caller gets. */
export interface GrantedFeedback {
  readonly level: FeedbackLevel;
  /** Whether the caller requested a level. */
  readonly asked: boolean;
  /** Why it is less than the requested or the default level. */
  readonly denied_reason?: string;
}

function lower(a: FeedbackLevel, b: FeedbackLevel): FeedbackLevel {
  return FEEDBACK_LEVELS.indexOf(a) <= FEEDBACK_LEVELS.indexOf(b) ? a : b;
}

function isListed(
  principal: Principal,
  namespaceId: number,
  subjects: readonly string[],
  roles: readonly string[],
): boolean {
  if (subjects.includes(principal.subject)) return true;
  return principal.roles.some((role) => roles.includes(role.name) && inScope(role, namespaceId));
}

/**
 * The level that a caller gets: the requested or the default level, at most the maximum and what its lists grant. From
 * evidence it falls to trace where that is granted, else to summary.
 */
export function grantFeedback(
  config: ScenarioNextFeedbackConfig,
  principal: Principal,
  namespaceId: number,
  requested: FeedbackLevel | undefined,
): GrantedFeedback {
  const usual = lower(principal.authMethod === "local" ? config.local_only_default : config.default, config.max);
  const wanted = requested ?? usual;
  const mayEvidence = isListed(principal, namespaceId, config.evidence_subjects, config.evidence_roles);
  const mayTrace = mayEvidence || isListed(principal, namespaceId, config.trace_subjects, config.trace_roles);
  const capped = lower(wanted, config.max);
  const level = highestGranted(capped, mayTrace, mayEvidence);
  const asked = requested !== undefined;
  if (level === wanted) return { level, asked };
  return { level, asked, denied_reason: `Cannot give feedback "${wanted}": this caller may have "${level}"` };
}

function highestGranted(wanted: FeedbackLevel, mayTrace: boolean, mayEvidence: boolean): FeedbackLevel {
  if (wanted === "evidence" && mayEvidence) return "evidence";
  return wanted !== "summary" && mayTrace ? "trace" : "summary";
}

/**
 * An item at the level evidence. Unless raw values may be disclosed, it has neither its value nor the identity of the
 * value, which would allow guessing it.
 */
function shownItem(
  services: Services,
  item: RecordedEvidence,
  { material }: NonNullable<RecordedStep["kept"]>,
): JsonObject {
  const { item_id, condition_id, channel, provider_id, binding_id, lane, qualified, reason, error } = item;
  const shown = asJson({
    item_id,
    condition_id,
    channel,
    lane,
    qualified,
    ...provider_id === undefined ? {} : { provider_id },
    ...binding_id === undefined ? {} : { binding_id },
    ...reason === undefined ? {} : { reason },
    ...error === undefined ? {} : { error },
  }) as JsonObject;
  const { value_identity } = item;
  if (value_identity === undefined || !mayShowValue(services, item)) return shown;
  const body = material.find(({ identity }) => identity === value_identity)?.body;
  const value = body === undefined ? undefined : readJson(body);
  return { ...shown, value_identity, ...isJsonObject(value) ? { value } : {} };
}

async function shownAttempt(
  services: Services,
  accepted: AcceptedCall,
  step: RecordedStep,
  level: FeedbackLevel,
): Promise<JsonObject[]> {
  const { kept, record_id } = step;
  if (kept?.record.record_kind !== "stage_evaluated") return [];
  const { record } = kept;
  const { evidence: items, trace, ...attempt } = attemptOf(record, record_id);
  const stage = stageOfAttempt(accepted.law, attempt.stage_id);
  const verifiedOnly = await verifiedOnlyAt(services, record.operator_profile);
  const { law } = accepted.law;
  const missing = stage === undefined ? {} : missingMember(law, stage, trace, verifiedOnly);
  const causes = causesMember(law, findingsOfStep(services, accepted.law, step));
  const evidence: JsonValue = record.body.evidence.map((item) => shownItem(services, item, kept));
  const isWhole = level === "evidence" || level === "trace" && items.length === 0;
  return [{
    ...asJson(attempt) as JsonObject,
    ...level === "summary" ? {} : { trace: asJson(trace) },
    ...level === "evidence" ? { evidence } : {},
    ...isWhole ? {} : { withheld: true },
    ...causes,
    ...missing,
  }];
}

/** The first attempts that fit into one answer, at least one; `left_out` counts the others. */
function fitting(attempts: readonly JsonObject[]): JsonObject {
  let characters = 0;
  const end = attempts.findIndex((attempt, index) => {
    characters += JSON.stringify(attempt).length;
    return index > 0 && characters > PAGE_CHARACTERS;
  });
  return end < 0 ? { attempts } : { attempts: attempts.slice(0, end), left_out: attempts.length - end };
}

/**
 * The member `feedback` of an answer. It is absent where every attempt is true, the level is summary, and the caller
 * requested no level and was denied none. In an archived run it leaves out every attempt: their records are in the
 * runpack.
 */
export async function feedbackMember(
  services: Services,
  accepted: AcceptedCall,
  granted: GrantedFeedback,
): Promise<JsonObject> {
  const { level, asked, denied_reason } = granted;
  const isRequired = asked || denied_reason !== undefined || level !== "summary";
  const shown = (await Promise.all(accepted.steps.map((step) => shownAttempt(services, accepted, step, level)))).flat();
  const attempts = accepted.steps.flatMap(({ decided, kept }) => decided === null ? [] : [{ ...decided, kept }]);
  if (!isRequired && attempts.every(({ completed }) => completed)) return {};
  const archived = attempts.filter(({ kept }) => kept === null).length;
  const given = archived > 0 ? { left_out: archived } : fitting(shown);
  return { feedback: { level, ...denied_reason === undefined ? {} : { denied_reason }, ...given } };
}
