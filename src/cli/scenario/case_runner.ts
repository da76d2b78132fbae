/** Runs a case of a law as a trial, and compares how the run stands with what the case expects. */

import { needsSignature } from "../../law/lint.ts";
import { everyFinding, findingsOf, judgedFromPrecheck } from "../../run/missing/causes.ts";
import { attemptSentences } from "../../run/missing/sentence.ts";
import {
  type AttemptOutcome,
  type AttemptResult,
  type StageAttempt,
  startTrial,
  type Trial,
  type TrialContext,
} from "../../scenario/trial.ts";
import type { CaseServices } from "./case_services.ts";
import type { Case, CaseStep } from "./case_types.ts";
import { differenceOf, statusOf } from "./expectations.ts";

/** The result of a step: its attempts in order, and what is not as expected. */
export interface StepResult {
  readonly stages: readonly { readonly stage_id: string; readonly outcome: AttemptOutcome }[];
  readonly differences: readonly string[];
}

/** The result of a case. */
export interface CaseResult {
  readonly name: string;
  /** The line of the case; null if it passed. */
  readonly line: number | null;
  readonly passed: boolean;
  readonly steps: readonly StepResult[];
  readonly status: "complete" | "active";
}

/** Runs one case. */
export async function runCase(
  context: TrialContext,
  services: CaseServices,
  { name, line, parameters, steps }: Case,
): Promise<CaseResult> {
  const trial = startTrial(context, parameters);
  const waiting: Statements = new Map();
  const results: StepResult[] = [];
  for (const step of steps) results.push(await runStep(trial, services, step, waiting));
  const passed = results.every(({ differences }) => differences.length === 0);
  const status = statusOf(trial);
  return { name, line: passed ? null : line(), passed, steps: results, status };
}

type Statement = StageAttempt["submitted"][number];

/** The statements that wait, the last one of each person for each condition. */
type Statements = Map<string, Statement>;

/** Signs, then attempts every stage that is ready, once each, also those that another one opens. */
async function runStep(
  trial: Trial,
  services: CaseServices,
  step: CaseStep,
  waiting: Statements,
): Promise<StepResult> {
  const signed = sign(trial, step, waiting);
  const attempts = new Map<string, AttemptResult>();
  const next = (): string | undefined =>
    trial.stages().find(({ stage_id, classification }) =>
      !attempts.has(stage_id) &&
      (step.stage === null ? ["ready_unopened", "open_incomplete"].includes(classification) : stage_id === step.stage)
    )?.stage_id;
  for (let stage = next(); stage !== undefined && (step.stage !== null || !trial.isComplete()); stage = next()) {
    attempts.set(stage, await attempt(trial, services, step, stage, [...waiting.values(), ...signed]));
  }
  const differences = step.then.flatMap((one) => differenceOf(one, { trial, now: step.now, attempts }) ?? []);
  const found = [...attempts].flatMap(([stage, { outcome, why, evaluation }]) => {
    return [
      `${stage} is ${outcome}`,
      ...why,
      ...evaluation === null ? [] : describeFound(trial, stage, evaluation, step.now),
    ];
  });
  return {
    stages: [...attempts].map(([stage_id, { outcome }]) => ({ stage_id, outcome })),
    differences: differences.length === 0 ? [] : [...differences, ...new Set(found)],
  };
}

async function attempt(
  trial: Trial,
  services: CaseServices,
  step: CaseStep,
  stage_id: string,
  statements: readonly Statement[],
): Promise<AttemptResult> {
  const stage = trial.law.stages[trial.law.stageIndex.get(stage_id) ?? -1];
  if (stage === undefined) throw new TypeError(`Cannot attempt stage "${stage_id}": the law lacks it`);
  const { acquired, failures } = await services.acquire(trial.law, stage, step);
  const isOwn = ({ condition_id }: { readonly condition_id: string }): boolean => stage.slotOf.has(condition_id);
  const submitted = statements.filter((one) => isOwn(one) && isFresh(trial, one, step.now));
  // A value that people sign is not sent without their signatures too.
  const signed = new Set(submitted.filter(({ waits }) => !waits).map(({ condition_id }) => condition_id));
  const sent = [...step.values].filter(([id]) => !signed.has(id) && allows(trial, id, "caller_submission"))
    .map(([condition_id, value]) => ({ condition_id, value }));
  const items = [...step.items].flatMap(([condition_id, values]) => values.map((value) => ({ condition_id, value })));
  const bindings = new Set(stage.bindings.map(({ binding_id }) => binding_id));
  return await trial.attempt({
    stage_id,
    sent: [...sent, ...items].filter(isOwn),
    acquired: [...step.found].filter(([id]) => bindings.has(id)).map(([binding_id, value]) => ({ binding_id, value })),
    presented: acquired,
    failures,
    submitted,
    signed: [],
    evaluated_at: step.now,
  });
}

function allows(trial: Trial, id: string, channel: "caller_submission" | "accepted_submission"): boolean {
  const policy = trial.law.conditionIndex.get(id)?.condition.evidence_use_policy;
  return policy?.allowed_channels.includes(channel) === true;
}

/** Signs what each person of a step may sign. Returns the statements that do not wait. */
function sign(trial: Trial, step: CaseStep, waiting: Statements): readonly Statement[] {
  const sent: Statement[] = [];
  for (const { key_id, value: stated, values } of step.sign) {
    for (const { condition_id, observation_domain, evidence_use_policy: policy } of trial.law.law.conditions) {
      const mayGive = policy.authorized_key_ids?.includes(key_id) ?? true;
      if (!needsSignature(policy) || !mayGive) continue;
      const approval = observation_domain.domain === "Boolean" ? true : undefined;
      const own = values.size > 0 ? values.get(condition_id) : stated ?? step.values.get(condition_id) ?? approval;
      if (own === undefined) continue;
      const waits = policy.allowed_channels.includes("accepted_submission");
      const statement = {
        condition_id,
        key_id,
        value: own,
        waits,
        ...step.now === null ? {} : { submitted_at: step.now },
      };
      if (waits) waiting.set(JSON.stringify([condition_id, key_id]), statement);
      else if (policy.allowed_channels.includes("caller_submission")) sent.push(statement);
    }
  }
  return sent;
}

/** A trial counts statements of any age, so those that are too old are left out. */
function isFresh(trial: Trial, { condition_id, submitted_at }: Statement, now: number | null): boolean {
  const freshness = trial.law.conditionIndex.get(condition_id)?.condition.evidence_use_policy.freshness;
  if (freshness?.freshness !== "MaximumAge" || submitted_at === undefined || now === null) return true;
  return submitted_at <= now && now - submitted_at <= freshness.maximum_age_millis;
}

/** What an attempt found, a sentence for each condition, and the messages of sources that had no answer. */
function describeFound(
  { law }: Trial,
  stageId: string,
  { trace, evidence }: NonNullable<AttemptResult["evaluation"]>,
  now: number | null,
): readonly string[] {
  const stage = law.stages[law.stageIndex.get(stageId) ?? -1];
  if (stage === undefined) return [];
  const findings = findingsOf(stage, trace, evidence.map(judgedFromPrecheck), now);
  const errors = evidence.flatMap(({ item }) => item.error?.message ?? []);
  return [...attemptSentences(law.law, everyFinding(findings)), ...errors];
}
