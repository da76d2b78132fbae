/**
 * Prechecking a stage: what an evaluation with this evidence would say. Nothing is acquired, nothing recorded (decisions.md 3).
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { formatPath } from "../canonical/path.ts";
import { fitProviderResult } from "../law/value/typed_value.ts";
import type { Surroundings } from "./command.ts";
import type { CompiledLaw, CompiledStage } from "./compile.ts";
import { evaluateEvidence } from "./decide_evaluate.ts";
import {
  type CallerEvidence,
  type EvidenceRejection,
  hashValue,
  presentCallerEvidence,
  type PresentedEvidence,
} from "./evidence.ts";
import { asJson } from "./primitives.ts";
import type { TraceItem } from "./types.ts";

/** A value to take as if a binding had acquired it; null says that the check found nothing. */
export interface AssumedAcquisition {
  readonly binding_id: string;
  readonly value: JsonValue;
}

/** What a precheck takes for granted, named on every trace line that rests on it. */
export type Assumption = "acquired" | "fresh" | "lane_not_tested" | "signature_not_bound";

/** A trace line with the assumptions it rests on. */
export interface AssumedTraceItem extends TraceItem {
  readonly assumptions: readonly Assumption[];
}

/** What a precheck says. */
export type Precheck =
  | { readonly ok: true; readonly outcome: "true" | "false" | "unknown"; readonly trace: readonly AssumedTraceItem[] }
  | { readonly ok: false; readonly rejections: readonly EvidenceRejection[] };

/** A head and run that no run has: a precheck has neither, so no signature can be bound to them. */
const NO_RUN = { run_id: "", expected_head: { record_id: "", revision: 0 } };

function assumeItem(
  surroundings: Surroundings,
  compiled: CompiledStage,
  law: CompiledLaw,
  assumed: AssumedAcquisition,
  index: number,
): PresentedEvidence | EvidenceRejection {
  const path = formatPath(["local_acquisition", index, "binding_id"]);
  const binding = compiled.bindings.find(({ binding_id }) => binding_id === assumed.binding_id);
  if (binding === undefined) {
    const message = `Binding "${assumed.binding_id}" does not serve stage "${compiled.stage.stage_id}"`;
    return { code: "condition_of_other_stage", path, message };
  }
  const condition = law.conditionIndex.get(binding.condition_id);
  const domain = condition?.condition.observation_domain;
  const foundNothing = assumed.value === null && domain?.domain !== "Json";
  const value = foundNothing || domain === undefined ? null : fitProviderResult(assumed.value, domain);
  const base = {
    item_id: `binding:${binding.binding_id}`,
    condition_id: binding.condition_id,
    channel: binding.channel,
    retention: "RetainCanonicalValue",
    lane: "verified",
    provider_id: binding.provider_id,
    binding_id: binding.binding_id,
    hash_recomputes: true,
  } as const;
  if (value !== null) {
    const { identity, content_hash } = hashValue(surroundings.primitives.sha256, value);
    return { ...base, value, value_identity: identity, content_hash };
  }
  if (foundNothing) return { ...base, value };
  const message = `Value does not fit domain "${domain?.domain}" of condition "${binding.condition_id}"`;
  return { ...base, value: null, error: { code: "domain_mismatch", message } };
}

function assumptionsOf(compiled: CompiledStage, items: readonly PresentedEvidence[]): Map<string, Assumption[]> {
  const assumptions = new Map<string, Assumption[]>();
  for (const { condition } of compiled.conditions) {
    const own = items.filter(({ condition_id }) => condition_id === condition.condition_id);
    const names: Assumption[] = [];
    if (own.some(({ channel }) => channel !== "caller_submission")) names.push("acquired");
    if (own.length > 0 && condition.evidence_use_policy.freshness.freshness !== "NotRequired") names.push("fresh");
    if (own.length > 0) names.push("lane_not_tested");
    if (own.some(({ signature }) => signature !== undefined)) names.push("signature_not_bound");
    assumptions.set(condition.condition_id, names);
  }
  return assumptions;
}

/** Evaluates a stage as an evaluation would, as if the given values had been acquired, freshness met, and without a lane test. */
export function precheckStage(
  law: CompiledLaw,
  compiled: CompiledStage,
  evidence: readonly CallerEvidence[],
  verdicts: ReadonlyMap<number, "valid" | "invalid">,
  assumed: readonly AssumedAcquisition[],
  surroundings: Surroundings,
): Precheck {
  const { sha256 } = surroundings.primitives;
  const presentation = presentCallerEvidence(sha256, law, compiled, surroundings.profile, evidence, verdicts);
  const rejections = presentation.ok ? [] : [...presentation.rejections];
  const items = presentation.ok ? [...presentation.items] : [];
  assumed.forEach((one, index) => {
    const item = assumeItem(surroundings, compiled, law, one, index);
    if ("item_id" in item) items.push(item);
    else rejections.push(item);
  });
  if (rejections.length > 0) return { ok: false, rejections };
  const evaluation = evaluateEvidence(compiled, items, {
    primitives: surroundings.primitives,
    law,
    profile: surroundings.profile,
    keys: surroundings.keys,
    scope: { ...NO_RUN, stage_id: compiled.stage.stage_id },
    accepted_audit_instant: 0,
    assume: true,
  });
  const assumptions = assumptionsOf(compiled, items);
  const trace = evaluation.trace.map((line) => ({ ...line, assumptions: assumptions.get(line.condition_id) ?? [] }));
  return { ok: true, outcome: evaluation.outcome, trace };
}

/** A precheck's trace as JSON. */
export function precheckResult(precheck: Extract<Precheck, { ok: true }>): JsonObject {
  return asJson({ outcome: precheck.outcome, trace: precheck.trace }) as JsonObject;
}
