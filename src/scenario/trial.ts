/**
 * A trial of a law: opens, evaluates and completes stages as a run does, but records nothing. As in a precheck,
 * evidence counts as fresh, and lanes are not checked.
 */

import { identify, type Sha256 } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import type { SchemaSandbox } from "../evidence/sandbox/schema_sandbox.ts";
import type { Condition, ParameterValue } from "../law/types.ts";
import { decimalOfNumber } from "../law/value/decimal.ts";
import { checkInDomain } from "../law/value/typed_value.ts";
import type { ObservationDomain, TypedValue } from "../law/value/types.ts";
import type { AcquisitionFailure, Environment } from "../run/command.ts";
import { type CompiledLaw, type CompiledStage, compileLaw } from "../run/compile.ts";
import { judgeDisclosure } from "../run/disclosure.ts";
import { type CallerEvidence, type EvidenceRejection, hashValue, type PresentedEvidence } from "../run/evidence.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "../run/frontier.ts";
import { bindLaw } from "../run/parameters.ts";
import { type AssumedAcquisition, type Precheck, precheckStage } from "../run/precheck.ts";
import type { StageState } from "../run/types.ts";

/** The possible outcomes of an attempt. */
export const ATTEMPT_OUTCOMES = ["true", "false", "unknown", "blocked", "denied", "rejected"] as const;
/** One of {@link ATTEMPT_OUTCOMES}. */
export type AttemptOutcome = typeof ATTEMPT_OUTCOMES[number];

/** An attempt at a stage. */
export interface StageAttempt {
  readonly stage_id: string;
  /** Values from the caller, by condition. */
  readonly sent: readonly { readonly condition_id: string; readonly value: JsonValue }[];
  /** Values by binding; null if the binding finds nothing. */
  readonly acquired: readonly { readonly binding_id: string; readonly value: JsonValue }[];
  /** Conditions whose items count as signed. */
  readonly signed: readonly string[];
  /** Values that keys signed, by condition; of those that wait for the stage the last one of each key. */
  readonly submitted: readonly {
    readonly condition_id: string;
    readonly key_id: string;
    readonly value: JsonValue;
    /** False for a value that the caller sends with the signature. */
    readonly waits?: boolean;
    /** Unix milliseconds. */
    readonly submitted_at?: number;
  }[];
  /** Items that providers found, and the failures of those that could not be asked. */
  readonly presented?: readonly PresentedEvidence[];
  readonly failures?: readonly AcquisitionFailure[];
  /** Unix milliseconds; null if no condition of the stage depends on the evaluation time. */
  readonly evaluated_at: number | null;
}

/** The result of an attempt. */
export interface AttemptResult {
  readonly outcome: AttemptOutcome;
  /** Why the stage is blocked or denied, or why the evidence is rejected; empty for an evaluated stage. */
  readonly why: readonly string[];
  /** The codes of the reasons. */
  readonly codes: readonly string[];
  /** The evaluation; null where the stage was not evaluated. */
  readonly evaluation: Extract<Precheck, { readonly ok: true }> | null;
}

/** The law and the services of a trial. */
export interface TrialContext {
  readonly law: CompiledLaw;
  readonly environment: Environment;
  readonly sandbox: Pick<SchemaSandbox, "validate">;
  /** A value of a condition whose schema is not among them is invalid. */
  readonly schemas: readonly { readonly schema_id: string; readonly version: string; readonly schema: JsonValue }[];
}

/** A trial that was started. */
export interface Trial {
  /** The law with the parameters of the trial. */
  readonly law: CompiledLaw;
  /** Opens the stage if it is ready, evaluates it, and completes it if its requirement holds. */
  readonly attempt: (one: StageAttempt) => Promise<AttemptResult>;
  /** The stages, in the order of the law. */
  readonly stages: () => readonly StageState[];
  readonly isComplete: () => boolean;
}

/**
 * Starts a trial.
 *
 * @param parameters The values of the parameters of the law; undefined for a law without parameters
 */
export function startTrial(given: TrialContext, parameters: readonly ParameterValue[] | undefined): Trial {
  const context = { ...given, law: bindLaw(given.law, parameters) };
  const { law } = context;
  let stages = initialStages(law);
  let isComplete = false;
  const notEvaluated = (
    outcome: AttemptOutcome,
    why: readonly string[],
    codes: readonly string[] = [],
  ): AttemptResult => ({ outcome, why, codes, evaluation: null });
  const attempt = async (one: StageAttempt): Promise<AttemptResult> => {
    const index = law.stageIndex.get(one.stage_id) ?? -1;
    const stage = law.stages[index];
    const state = stages[index];
    if (stage === undefined || state === undefined) return notEvaluated("blocked", []);
    if (isComplete || state.classification === "blocked" || state.classification === "complete") {
      return notEvaluated("blocked", [isComplete ? "the run is complete" : `the stage is ${state.classification}`]);
    }
    if (state.classification === "ready_unopened") {
      const denial = denialOf(context, stage);
      if (denial !== null) return notEvaluated("denied", [denial], ["policy_denied"]);
      stages[index] = { ...state, classification: "open_incomplete" };
    }
    const { failures = [] } = one;
    if (failures.length > 0) {
      const why = failures.map(({ binding_id, message }) => `${binding_id}: ${message}`);
      return notEvaluated("rejected", why, failures.map(({ code }) => code));
    }
    const evaluation = await evaluateStage(context, stage, one);
    if (!evaluation.ok) {
      const { rejections } = evaluation;
      const why = rejections.map(({ path, message }) => `${path}: ${message}`);
      return notEvaluated("rejected", why, rejections.map(({ code }) => code));
    }
    if (evaluation.outcome === "true") {
      stages = stagesAfterCompletion(law, stages.with(index, { ...state, classification: "complete" }), index);
      isComplete = stagesSatisfy(law.completion, law.completionStages, stages);
    }
    return { outcome: evaluation.outcome, why: [], codes: [], evaluation };
  };
  return { law, attempt, stages: () => stages, isComplete: () => isComplete };
}

/** Why the policy denies the opening of a stage, or null. */
function denialOf({ law, environment }: TrialContext, { stage }: CompiledStage): string | null {
  for (const packet of stage.entry_packets) {
    for (const target of packet.targets.length === 0 ? [null] : packet.targets) {
      const request = { scenario_id: law.law.scenario_id, stage_id: stage.stage_id, packet, target };
      const verdict = judgeDisclosure(environment.profile.policy, request);
      if (verdict.verdict === "permit") continue;
      const rule = verdict.matched_rule === null ? "the policy's default" : `rule ${verdict.matched_rule}`;
      return `packet ${packet.packet_id}: ${verdict.verdict} by ${rule}`;
    }
  }
  return null;
}

async function evaluateStage(context: TrialContext, stage: CompiledStage, one: StageAttempt): Promise<Precheck> {
  const { sha256 } = context.environment.primitives;
  const law = withSignatures(context.law, one.signed);
  const compiled = law.stages[law.stageIndex.get(stage.stage.stage_id) ?? -1] ?? stage;
  const evidence = one.sent.map(({ condition_id, value }): CallerEvidence => {
    const found = context.law.conditionIndex.get(condition_id);
    return {
      condition_id,
      retention: { retention: found?.retention ?? "RetainCanonicalValue" },
      value: typedValue(value, found?.condition.observation_domain),
    };
  });
  const verdicts = new Map<number, "valid" | "invalid">();
  for (const [index, { condition_id, value }] of evidence.entries()) {
    const verdict = await verdictOf(context, sha256, condition_id, value.value);
    if (verdict !== null) verdicts.set(index, verdict);
  }
  const assumed: AssumedAcquisition[] = [];
  for (const acquired of one.acquired) {
    const condition = context.law.bindingIndex.get(acquired.binding_id)?.condition_id ?? "";
    const schema_verdict = await verdictOf(context, sha256, condition, acquired.value);
    assumed.push(schema_verdict === null ? acquired : { ...acquired, schema_verdict });
  }
  const submitted = await submittedItems(context, sha256, one);
  if (!Array.isArray(submitted)) return { ok: false, rejections: [submitted] };
  const keys = new Map(context.environment.keys);
  for (const { key_id } of one.submitted) keys.set(key_id, { key_id, public_key: trialKey(key_id) });
  const environment = { ...context.environment, keys, precheck_at: one.evaluated_at };
  const presented = [...submitted, ...one.presented ?? []];
  return precheckStage(law, compiled, evidence, verdicts, assumed, environment, presented);
}

/** A value of a condition; a plain number stands for a decimal. */
function typedValue(value: JsonValue, domain: ObservationDomain | undefined): TypedValue {
  const value_type = domain?.domain ?? "Json";
  return { value: value_type === "Decimal" && typeof value === "number" ? decimalOfNumber(value) : value, value_type };
}

/** The key of a statement in a trial. No real key has this text. */
function trialKey(keyId: string): string {
  return `trial ${keyId}`;
}

/** The items of the statements of an attempt, as if their keys were trusted; the rejection of a value outside its domain. */
async function submittedItems(
  context: TrialContext,
  sha256: Sha256,
  { submitted }: StageAttempt,
): Promise<PresentedEvidence[] | EvidenceRejection> {
  const items: PresentedEvidence[] = [];
  for (const { condition_id, key_id, value: given, waits = true, submitted_at = 0 } of submitted) {
    const domain = context.law.conditionIndex.get(condition_id)?.condition.observation_domain;
    const value = typedValue(given, domain);
    const fault = domain === undefined ? null : checkInDomain(value, domain);
    if (fault !== null) {
      const path = formatPath(["submitted", condition_id, key_id]);
      return { code: "value_outside_domain", path, message: fault.message };
    }
    const { identity, content_hash } = hashValue(sha256, value);
    const schema_verdict = await verdictOf(context, sha256, condition_id, given);
    items.push({
      item_id: `submission:${key_id}`,
      condition_id,
      channel: waits ? "accepted_submission" : "caller_submission",
      retention: "RetainCanonicalValue",
      lane: "verified",
      value,
      value_identity: identity,
      content_hash,
      hash_recomputes: true,
      observed_at: 0,
      signature: { scheme: "ed25519", key_id, signature: "" },
      ...schema_verdict === null ? {} : { schema_verdict },
      submission: { record_id: "", public_key: trialKey(key_id), submitted_at },
    });
  }
  return items;
}

async function verdictOf(
  { law, schemas, sandbox }: TrialContext,
  sha256: Sha256,
  conditionId: string,
  value: JsonValue,
): Promise<"valid" | "invalid" | null> {
  const domain = law.conditionIndex.get(conditionId)?.condition.observation_domain;
  if (domain?.domain !== "Json" || domain.schema === undefined) return null;
  const { schema_id, version } = domain.schema;
  const found = schemas.find((one) => one.schema_id === schema_id && one.version === version);
  if (found === undefined) return "invalid";
  const verdict = await sandbox.validate(identify(sha256, "schema", found.schema), found.schema, value);
  return verdict === "valid" ? "valid" : "invalid";
}

/**
 * Removes the requirement of a signature from conditions whose items count as signed. A trial makes its own keys under
 * the ids that a law pins.
 */
function withSignatures(law: CompiledLaw, signed: readonly string[]): CompiledLaw {
  const isPinned = [...law.conditionIndex.values()].some(({ pinned }) => pinned !== null);
  if (signed.length === 0 && !isPinned) return law;
  const conditions = law.law.conditions.map((condition) =>
    signed.includes(condition.condition_id) ? withoutSignature(condition) : withoutPins(condition)
  );
  return compileLaw({ ...law.law, conditions }, law.scenario_law_identity, law.graph_identity);
}

function withoutPins(condition: Condition): Condition {
  const { authorized_public_keys: _keys, ...evidence_use_policy } = condition.evidence_use_policy;
  return { ...condition, evidence_use_policy };
}

function withoutSignature(condition: Condition): Condition {
  const { authorized_key_ids: _keys, ...policy } = withoutPins(condition).evidence_use_policy;
  return {
    ...condition,
    evidence_use_policy: {
      ...policy,
      authorization: "embedding_authority",
      // Each item counts as signed by a key of its own.
      independence: "not_required",
      integrity: policy.integrity === "signed_content" ? "canonical_content_only" : policy.integrity,
      required_assurance: policy.required_assurance.filter((assurance) => assurance !== "source_signature"),
    },
  };
}
