/**
 * Prechecks a stage against plain data. The data is asserted: it is neither acquired, nor signed, nor bound to an
 * attempt. Its lane is `asserted`, and the result names the lane if it decides the outcome (docs/decisions/steps.md,
 * "Precheck").
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import type { Sha256 } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import type { Kleene } from "../law/value/truth.ts";
import type { CompiledCondition, CompiledLaw, CompiledStage } from "./compile.ts";
import { evaluateEvidence, type Evaluation } from "./evaluate.ts";
import { maximumValueBytes, type PresentedEvidence } from "./evidence.ts";
import { judgedFromPrecheck, type JudgedItem } from "./missing/causes.ts";
import { type ExplainedTraceItem, explainErrors, type PrecheckEnvironment, withValue } from "./precheck.ts";
import { minimumLane } from "./profile.ts";

/** The asserted value of a condition. */
export interface AssertedValue {
  readonly condition_id: string;
  readonly value: JsonValue;
  /** Verdict of the condition's `Json.schema` on the value, where it has one. */
  readonly schema_verdict?: "valid" | "invalid";
}

/** The result of a precheck against plain data. */
export interface AssertedPrecheck {
  /** The outcome with the lane tested as an evaluation tests it. */
  readonly outcome: Kleene;
  readonly trace: readonly ExplainedTraceItem[];
  /** Every item with its verdict. */
  readonly items: readonly JudgedItem[];
  /** Present if the outcome would differ without the test of the lane. */
  readonly blocked_by?: "trust_lane";
  /** The outcome without that test; present with `blocked_by`. */
  readonly outcome_without_lane?: Kleene;
}

/**
 * The source by which the value counts: the caller if the condition allows it, else the first binding that is allowed.
 */
function sourceOf(
  { condition }: CompiledCondition,
  { bindings }: CompiledStage,
): Pick<PresentedEvidence, "channel" | "provider_id" | "binding_id" | "item_id"> {
  const { allowed_channels } = condition.evidence_use_policy;
  const { condition_id } = condition;
  const binding = allowed_channels.includes("caller_submission")
    ? undefined
    : bindings.find((one) => one.condition_id === condition_id && allowed_channels.includes(one.channel));
  if (binding === undefined) return { item_id: `caller:${condition_id}`, channel: "caller_submission" };
  const { binding_id, channel, provider_id } = binding;
  return { item_id: `binding:${binding_id}`, channel, provider_id, binding_id };
}

function assertedItem(
  sha256: Sha256,
  compiled: CompiledCondition,
  stage: CompiledStage,
  { condition_id, value: raw, schema_verdict }: AssertedValue,
  maximumBytes: number,
): PresentedEvidence {
  const source = sourceOf(compiled, stage);
  const base = {
    ...source,
    condition_id,
    retention: compiled.retention,
    lane: "asserted",
    hash_recomputes: true,
  } as const;
  const { domain } = compiled.condition.observation_domain;
  // Only an acquisition can find nothing; a caller cannot assert absence.
  if (raw === null && domain !== "Json" && source.binding_id !== undefined) return { ...base, value: null };
  const item = withValue(sha256, compiled, base, raw, schema_verdict);
  const bytes = item.value === null ? 0 : utf8Length(canonicalize(item.value.value));
  if (bytes <= maximumBytes) return item;
  const message = `Expected a value of at most ${maximumBytes} canonical bytes, got ${bytes}`;
  return { ...base, value: null, error: { code: "value_too_large", message } };
}

/** Evaluates a stage with asserted values. Freshness, anchors and signatures of acquisitions are assumed to be met. */
export function precheckAsserted(
  law: CompiledLaw,
  stage: CompiledStage,
  values: readonly AssertedValue[],
  environment: PrecheckEnvironment,
): AssertedPrecheck {
  const { primitives, profile } = environment;
  const maximumBytes = maximumValueBytes(law, profile);
  const items = values.flatMap((asserted) => {
    const compiled = stage.conditions[stage.slotOf.get(asserted.condition_id) ?? -1];
    return compiled === undefined ? [] : [assertedItem(primitives.sha256, compiled, stage, asserted, maximumBytes)];
  });
  const evaluate = (counted: readonly PresentedEvidence[]): Evaluation =>
    evaluateEvidence(stage, counted, { ...environment, law, attempt: null });
  const trusted = items.filter(({ provider_id }) => minimumLane(profile, provider_id ?? null) === "asserted");
  const judged = evaluate(trusted);
  const { outcome } = judged;
  const trace = explainErrors(judged.trace, items);
  const verdicts = judged.evidence.map(judgedFromPrecheck);
  if (trusted.length === items.length) return { outcome, trace, items: verdicts };
  const distrusted = items.filter((item) => !trusted.includes(item));
  const untrusted = new Set(distrusted.map(({ condition_id }) => condition_id));
  const all = [
    ...verdicts,
    ...distrusted.map((item) => judgedFromPrecheck({ item, lane: "asserted", signer: null, reason: "lane" })),
  ];
  const explained = trace.map((line): ExplainedTraceItem =>
    untrusted.has(line.condition_id) && line.reason !== "parameter_missing" ? { ...line, reason: "unqualified" } : line
  );
  const free = evaluate(items).outcome;
  if (free === outcome) return { outcome, trace: explained, items: all };
  return { outcome, trace: explained, items: all, blocked_by: "trust_lane", outcome_without_lane: free };
}
