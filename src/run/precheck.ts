/** Prechecks a stage: predicts the outcome of an evaluation with this evidence. It acquires and records nothing. */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { Sha256 } from "../canonical/identity.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { didYouMean } from "../law/suggest.ts";
import type { AcquisitionBinding } from "../law/types.ts";
import { fitProviderResult } from "../law/value/typed_value.ts";
import type { Environment } from "./command.ts";
import type { CompiledCondition, CompiledLaw, CompiledStage } from "./compile.ts";
import { evaluateEvidence } from "./evaluate.ts";
import {
  type CallerEvidence,
  type EvidenceRejection,
  hashValue,
  HINTS_MAXIMUM,
  maximumValueBytes,
  presentCallerEvidence,
  type PresentedEvidence,
  rejectLeftOut,
  tooLarge,
} from "./evidence.ts";
import { asJson } from "./primitives.ts";
import type { EvaluationTime, QualifiedEvidence } from "./qualify.ts";
import type { ObservedError, TraceItem } from "./types.ts";

/** The assumed value of a binding; null means that the check found nothing. */
export interface AssumedAcquisition {
  readonly binding_id: string;
  readonly value: JsonValue;
  /** Verdict of the condition's `Json.schema` on the value, where it has one. */
  readonly schema_verdict?: "valid" | "invalid";
}

/** An assumption of a precheck. Every trace line names those that it depends on. */
export type Assumption = "acquired" | "anchored" | "signed" | "fresh" | "lane_not_tested" | "signature_not_bound";

/** A trace line with the error of a value: a precheck has no attempt whose items show it. */
export interface ExplainedTraceItem extends TraceItem {
  readonly error?: ObservedError;
}

/** A trace line with the assumptions that it depends on. */
export interface AssumedTraceItem extends ExplainedTraceItem {
  readonly assumptions: readonly Assumption[];
}

/** The environment of a precheck, with the instant that stands for the evaluation time in Unix milliseconds. */
export interface PrecheckEnvironment extends Environment {
  /** Null makes a comparison with the evaluation time Unknown. */
  readonly precheck_at: EvaluationTime;
}

/** The result of a precheck. */
export type Precheck =
  | {
    readonly ok: true;
    readonly outcome: "true" | "false" | "unknown";
    readonly trace: readonly AssumedTraceItem[];
    /** Every item, with the reason if it does not count. */
    readonly evidence: readonly QualifiedEvidence[];
  }
  | { readonly ok: false; readonly rejections: readonly EvidenceRejection[] };

/** An item with a value as a source gives it, or with an error where that does not fit the domain of its condition. */
export function withValue(
  sha256: Sha256,
  { condition }: CompiledCondition,
  base: Omit<PresentedEvidence, "value">,
  given: JsonValue,
  schema_verdict: "valid" | "invalid" | undefined,
): PresentedEvidence {
  const domain = condition.observation_domain;
  const value = fitProviderResult(given, domain);
  if (value === null) {
    const message = `Value does not fit domain "${domain.domain}" of condition "${condition.condition_id}"`;
    return { ...base, value: null, error: { code: "domain_mismatch", message } };
  }
  const { identity, content_hash } = hashValue(sha256, value);
  return {
    ...base,
    value,
    value_identity: identity,
    content_hash,
    ...schema_verdict === undefined ? {} : { schema_verdict },
  };
}

/** The item that the acquisition of a binding would present. */
function assumeValue(
  sha256: Sha256,
  compiled: CompiledCondition,
  binding: AcquisitionBinding,
  { value, schema_verdict }: AssumedAcquisition,
): PresentedEvidence {
  const base = {
    item_id: `binding:${binding.binding_id}`,
    condition_id: binding.condition_id,
    channel: binding.channel,
    retention: compiled.retention,
    lane: "verified",
    provider_id: binding.provider_id,
    binding_id: binding.binding_id,
    hash_recomputes: true,
  } as const;
  const { domain } = compiled.condition.observation_domain;
  if (value === null && domain !== "Json") return { ...base, value };
  return withValue(sha256, compiled, base, value, schema_verdict);
}

function assumeItems(
  sha256: Sha256,
  compiled: CompiledStage,
  assumed: readonly AssumedAcquisition[],
  maximumBytes: number,
): { readonly items: PresentedEvidence[]; readonly rejections: EvidenceRejection[] } {
  const items: PresentedEvidence[] = [];
  const rejections: EvidenceRejection[] = [];
  const seen = new Set<string>();
  assumed.forEach((one, index) => {
    const path = formatPath(["local_acquisition", index, "binding_id"]);
    const binding = compiled.bindings.find(({ binding_id }) => binding_id === one.binding_id);
    const condition = compiled.conditions[compiled.slotOf.get(binding?.condition_id ?? "") ?? -1];
    if (binding === undefined || condition === undefined) {
      const known = compiled.bindings.map(({ binding_id }) => binding_id);
      const hint = rejections.length < HINTS_MAXIMUM ? didYouMean(one.binding_id, known) : "";
      const message = `Binding "${one.binding_id}" does not serve stage "${compiled.stage.stage_id}"${hint}`;
      rejections.push({ code: "binding_not_found", path, message });
    } else if (seen.has(one.binding_id)) {
      rejections.push({ code: "binding_repeated", path, message: `Binding "${one.binding_id}" is given twice` });
    } else {
      seen.add(one.binding_id);
      const bytes = one.value === null ? 0 : utf8Length(canonicalize(one.value));
      if (bytes > maximumBytes) rejections.push(tooLarge(["local_acquisition", index, "value"], bytes, maximumBytes));
      else items.push(assumeValue(sha256, condition, binding, one));
    }
  });
  return { items, rejections };
}

/**
 * Rejections for bindings that an evaluation with this evidence must ask. A condition without evidence is not tested.
 */
function leftOutOf(
  compiled: CompiledStage,
  evidence: readonly CallerEvidence[],
  assumed: readonly AssumedAcquisition[],
): EvidenceRejection[] {
  const named = new Set(assumed.map(({ binding_id }) => binding_id));
  const judged = new Set(evidence.map(({ condition_id }) => condition_id));
  for (const { binding_id, condition_id } of compiled.bindings) if (named.has(binding_id)) judged.add(condition_id);
  const bindings = compiled.bindings.filter(({ condition_id }) => judged.has(condition_id));
  return rejectLeftOut({ ...compiled, bindings }, (bindingId) => named.has(bindingId));
}

/** The trace with an error on each Unknown line: the first one among the items of its condition. */
export function explainErrors(
  trace: readonly TraceItem[],
  items: readonly Pick<PresentedEvidence, "condition_id" | "error">[],
): ExplainedTraceItem[] {
  const errors = new Map<string, ObservedError>();
  for (const { condition_id, error } of items) {
    if (error !== undefined && !errors.has(condition_id)) errors.set(condition_id, error);
  }
  return trace.map((line) => {
    const error = line.value === "unknown" ? errors.get(line.condition_id) : undefined;
    return error === undefined ? line : { ...line, error };
  });
}

/** The assumptions that the judgement of a condition depends on, given its items. */
function assumptionsOf({ condition }: CompiledCondition, items: readonly PresentedEvidence[]): Assumption[] {
  if (items.length === 0) return [];
  const policy = condition.evidence_use_policy;
  const assumptions: Assumption[] = [];
  if (items.some(({ channel }) => channel !== "caller_submission")) {
    assumptions.push("acquired");
    if (policy.integrity === "anchored_content" || policy.required_assurance.includes("source_anchor")) {
      assumptions.push("anchored");
    }
    const asksSignature = policy.authorization === "signature" || policy.integrity === "signed_content" ||
      policy.required_assurance.includes("source_signature");
    if (asksSignature) assumptions.push("signed");
  }
  if (policy.freshness.freshness !== "NotRequired") assumptions.push("fresh");
  assumptions.push("lane_not_tested");
  if (items.some(({ signature }) => signature !== undefined)) assumptions.push("signature_not_bound");
  return assumptions;
}

/**
 * Evaluates a stage on the assumption that the given values were acquired and freshness is met, without testing lanes.
 *
 * @param submitted Items of statements that wait, in the cases of a scenario
 */
export function precheckStage(
  law: CompiledLaw,
  compiled: CompiledStage,
  evidence: readonly CallerEvidence[],
  verdicts: ReadonlyMap<number, "valid" | "invalid">,
  assumed: readonly AssumedAcquisition[],
  environment: PrecheckEnvironment,
  submitted: readonly PresentedEvidence[] = [],
): Precheck {
  const { primitives, profile } = environment;
  const presentation = presentCallerEvidence(primitives.sha256, law, compiled, profile, evidence, verdicts);
  const assumption = assumeItems(primitives.sha256, compiled, assumed, maximumValueBytes(law, profile));
  const leftOut = leftOutOf(compiled, evidence, assumed);
  if (!presentation.ok || assumption.rejections.length > 0 || leftOut.length > 0) {
    const rejections = presentation.ok ? [] : presentation.rejections;
    return { ok: false, rejections: [...rejections, ...assumption.rejections, ...leftOut] };
  }
  const items = [...presentation.items, ...submitted, ...assumption.items];
  const evaluation = evaluateEvidence(compiled, items, { ...environment, law, attempt: null });
  const assumptions = new Map(compiled.conditions.map((condition) => {
    const id = condition.condition.condition_id;
    return [id, assumptionsOf(condition, items.filter(({ condition_id }) => condition_id === id))];
  }));
  const trace = explainErrors(evaluation.trace, items).map((line) => ({
    ...line,
    assumptions: assumptions.get(line.condition_id) ?? [],
  }));
  return { ok: true, outcome: evaluation.outcome, trace, evidence: evaluation.evidence };
}

/** A precheck's trace as JSON. */
export function precheckResult(precheck: Extract<Precheck, { ok: true }>): JsonObject {
  return asJson({ outcome: precheck.outcome, trace: precheck.trace }) as JsonObject;
}
