/** What a law says of the evidence in the page: every stage is tried once, each after those that it waits for. */

import { layersOf } from "../law/stage_layers.ts";
import type { ParameterValue } from "../law/types.ts";
import { exactMillis } from "../law/value/timestamp.ts";
import { environmentUnder } from "../run/command.ts";
import type { CompiledLaw } from "../run/compile.ts";
import { maximumValueBytes } from "../run/evidence.ts";
import { missingOfStage, missingOfTrace, type StageMissing, verifiedOnlyUnder } from "../run/missing/stage.ts";
import { checkParameters } from "../run/parameters.ts";
import type { OperatorProfile } from "../run/profile.ts";
import type { StageState } from "../run/types.ts";
import { verifyEd25519 } from "../runpack/browser/ed25519.ts";
import { sha256 } from "../runpack/browser/sha256.ts";
import { type AttemptResult, type StageAttempt, startTrial } from "../scenario/trial.ts";
import { shownType } from "../law/words.ts";
import { type Given, routeOf, statementsOf, valueOf } from "./fields.ts";

const MEBIBYTE = 1024 * 1024;

/** The profile of a trial: packets are permitted, and lanes are not checked. */
const PROFILE: OperatorProfile = {
  value_limits: { maximum_value_bytes: MEBIBYTE, maximum_payload_bytes: 2 * MEBIBYTE },
  validation: {
    strict: true,
    profile: "strict_core_v1",
    allow_permissive: false,
    enable_lexicographic: true,
    enable_deep_equals: true,
  },
  trust: { min_lane: "asserted", default_policy: "audit", providers: [] },
  anchors: [],
  permissive: { enabled: false, exempt_providers: [] },
  policy: { engine: "permit_all" },
  proof_budget: 2 ** 20,
};

/** A stage after its attempt. */
export interface JudgedStage {
  readonly stage_id: string;
  readonly classification: StageState["classification"];
  readonly result: AttemptResult;
  /** Null where nothing is missing. */
  readonly missing: StageMissing | null;
}

/** What a law says. */
export interface Verdict {
  readonly law: CompiledLaw;
  readonly isComplete: boolean;
  /** In the order of the law. */
  readonly stages: readonly JudgedStage[];
}

/** A text of the form that is not a value, with what is expected. */
export interface FieldFault {
  readonly id: string;
  readonly message: string;
}

/** Judges what was entered. Texts that are no values are faults; nothing is judged then. */
export async function judge(
  law: CompiledLaw,
  given: Given,
): Promise<{ readonly verdict: Verdict } | { readonly faults: readonly FieldFault[] }> {
  const faults: FieldFault[] = [];
  const parameters = parametersOf(law, given, faults);
  const at = instantOf(given.at, faults);
  const evidence = evidenceOf(law, given, faults);
  if (faults.length > 0) return { faults };
  const context = {
    law,
    environment: environmentUnder({ sha256, verifyEd25519 }, PROFILE),
    sandbox: { validate: () => Promise.reject(new Error("Cannot check a schema in the page")) },
    // A value of a condition with a schema never counts, because no schema is known here.
    schemas: [],
  };
  const trial = startTrial(context, parameters);
  const results = new Map<string, AttemptResult>();
  for (const { stage_id } of layersOf(law.law.stages).flat()) {
    const stage = trial.law.stages[trial.law.stageIndex.get(stage_id) ?? -1];
    if (stage === undefined) continue;
    const isOwn = (id: string | undefined): boolean => id !== undefined && stage.slotOf.has(id);
    const bindings = new Set(stage.bindings.map(({ binding_id }) => binding_id));
    const one: StageAttempt = {
      stage_id,
      sent: evidence.sent.filter(({ condition_id }) => isOwn(condition_id)),
      acquired: evidence.acquired.filter(({ binding_id }) => bindings.has(binding_id)),
      submitted: evidence.submitted.filter(({ condition_id }) => isOwn(condition_id)),
      signed: [...given.signed].filter(isOwn),
      evaluated_at: at,
    };
    results.set(stage_id, await trial.attempt(one));
  }
  const verifiedOnly = verifiedOnlyUnder(PROFILE);
  const stages = trial.law.stages.map((stage, index): JudgedStage => {
    const { stage_id } = stage.stage;
    const result = results.get(stage_id) ?? { outcome: "blocked" as const, why: [], codes: [], evaluation: null };
    const missing = result.evaluation === null
      ? missingOfStage(trial.law.law, stage, new Map(), verifiedOnly)
      : missingOfTrace(trial.law.law, stage, result.evaluation.trace, verifiedOnly);
    const classification = trial.stages()[index]?.classification ?? "blocked";
    return { stage_id, classification, result, missing };
  });
  return { verdict: { law: trial.law, isComplete: trial.isComplete(), stages } };
}

function parametersOf(law: CompiledLaw, given: Given, faults: FieldFault[]): readonly ParameterValue[] | undefined {
  const { parameters } = law.law;
  if (parameters === undefined) return undefined;
  const before = faults.length;
  const values = parameters.flatMap(({ parameter_id, domain }): ParameterValue[] => {
    const value = valueOf(given.parameters.get(parameter_id) ?? "", domain);
    if (value !== undefined) return [{ parameter_id, value: { value, value_type: domain.domain } }];
    faults.push({ id: parameter_id, message: `Parameter ${parameter_id}: expected ${shownType(domain)}` });
    return [];
  });
  if (faults.length > before) return undefined;
  const checked = checkParameters(law, { kind: "parameters", parameters: values }, maximumValueBytes(law, PROFILE));
  if (checked.ok) return checked.parameters;
  for (const { message, parameter_id } of checked.faults) faults.push({ id: parameter_id ?? "", message });
  return undefined;
}

/** Unix milliseconds; null for an empty text. */
function instantOf(text: string, faults: FieldFault[]): number | null {
  if (text === "") return null;
  const millis = exactMillis(text);
  if (millis !== null) return millis;
  faults.push({ id: "at", message: "Time of the evaluation: expected RFC 3339, such as 2026-03-01T09:00:00Z" });
  return null;
}

type Evidence = Pick<StageAttempt, "sent" | "acquired" | "submitted">;

function evidenceOf({ law }: CompiledLaw, { evidence }: Given, faults: FieldFault[]): Evidence {
  const sent: StageAttempt["sent"][number][] = [];
  const acquired: StageAttempt["acquired"][number][] = [];
  const submitted: StageAttempt["submitted"][number][] = [];
  for (const condition of law.conditions) {
    const { condition_id, observation_domain: domain } = condition;
    const text = evidence.get(condition_id) ?? "";
    if (text.trim() === "") continue;
    const route = routeOf(law, condition);
    const expected = (message: string): void => void faults.push({ id: condition_id, message });
    if (route === "statements") {
      for (const { key, text: own } of statementsOf(text)) {
        const value = valueOf(own, domain);
        if (key === "" || value === undefined) expected(`${condition_id}: expected KEY = ${shownType(domain)}`);
        else submitted.push({ condition_id, key_id: key, value });
      }
      continue;
    }
    const foundNothing = route === "provider" && text.trim() === "null";
    const value = foundNothing ? null : valueOf(text, domain);
    if (value === undefined) expected(`${condition_id}: expected ${shownType(domain)}`);
    else if (route === "caller") sent.push({ condition_id, value });
    else {
      const own = law.acquisition_bindings.filter((binding) => binding.condition_id === condition_id);
      for (const { binding_id } of own) acquired.push({ binding_id, value });
    }
  }
  return { sent, acquired, submitted };
}
