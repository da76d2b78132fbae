/**
 * Runs a case of a law: opens, evaluates and completes stages as a run does, but records nothing. As in a precheck, evidence
 * counts as fresh, and lanes are not checked.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import { identify } from "../../canonical/identity.ts";
import type { SchemaSandbox } from "../../evidence/sandbox/schema_sandbox.ts";
import type { Condition } from "../../law/types.ts";
import type { Environment } from "../../run/command.ts";
import { type CompiledLaw, type CompiledStage, compileLaw } from "../../run/compile.ts";
import { judgeDisclosure } from "../../run/disclosure.ts";
import { formatPath } from "../../canonical/path.ts";
import { checkInDomain } from "../../law/value/typed_value.ts";
import { type CallerEvidence, type EvidenceRejection, hashValue, type PresentedEvidence } from "../../run/evidence.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "../../run/frontier.ts";
import { bindLaw } from "../../run/parameters.ts";
import { type AssumedAcquisition, type Precheck, precheckStage } from "../../run/precheck.ts";
import type { QualifiedEvidence } from "../../run/qualify.ts";
import type { StageState, TraceItem } from "../../run/types.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Case, CaseSchema, StageCase, StageExpectation } from "./cases.ts";

/** The result of an attempt at a stage. */
export interface StageResult {
  readonly stage_id: string;
  readonly expected: StageExpectation;
  readonly outcome: StageExpectation;
  /** The differences from the expectation, with reasons, as messages. */
  readonly differences: readonly string[];
}

/** The result of a case. */
export interface CaseResult {
  readonly name: string;
  /** The line of the case; null if it passed. */
  readonly line: number | null;
  readonly passed: boolean;
  readonly stages: readonly StageResult[];
  readonly status: "complete" | "active";
  /** The differences of the run as a whole, as messages. */
  readonly differences: readonly string[];
}

/** The law and services of the cases. */
export interface CaseContext {
  readonly law: CompiledLaw;
  readonly environment: Environment;
  readonly sandbox: SchemaSandbox;
  readonly schemas: readonly CaseSchema[];
}

/** The state of the run of a case. */
interface CaseRun {
  readonly context: CaseContext;
  stages: StageState[];
  complete: boolean;
}

/** Runs one case. */
export async function runCase(
  given: CaseContext,
  { name, line, parameters, stages, expect, ready }: Case,
): Promise<CaseResult> {
  const context = { ...given, law: bindLaw(given.law, parameters) };
  const run: CaseRun = { context, stages: initialStages(context.law), complete: false };
  const results: StageResult[] = [];
  for (const one of stages) results.push(await runStage(run, one));
  const status = run.complete ? "complete" : "active";
  const differences = status === expect ? [] : [`the run is ${status}, expected ${expect}`];
  const frontier = run.complete
    ? []
    : run.stages.filter(({ classification }) => classification === "ready_unopened").map(({ stage_id }) => stage_id);
  if (ready !== null && [...ready].sort().join("\n") !== [...frontier].sort().join("\n")) {
    differences.push(`ready stages are ${frontier.join(", ") || "none"}, expected ${ready.join(", ") || "none"}`);
  }
  const passed = differences.length === 0 && results.every((one) => one.differences.length === 0);
  return { name, line: passed ? null : line(), passed, stages: results, status, differences };
}

async function runStage(run: CaseRun, one: StageCase): Promise<StageResult> {
  const { law } = run.context;
  const index = law.stageIndex.get(one.stage_id) ?? -1;
  const stage = law.stages[index];
  const state = run.stages[index];
  const named = { stage_id: one.stage_id, expected: one.expect };
  const ended = (outcome: StageExpectation, why: readonly string[]): StageResult => {
    const wrong = outcome === one.expect ? [] : [`${one.stage_id} is ${outcome}, expected ${one.expect}`, ...why];
    return { ...named, outcome, differences: wrong };
  };
  if (stage === undefined || state === undefined) return ended("blocked", []);
  if (run.complete || state.classification === "blocked" || state.classification === "complete") {
    const why = run.complete ? "the run is complete" : `the stage is ${state.classification}`;
    return ended("blocked", [why]);
  }
  if (state.classification === "ready_unopened") {
    const denial = denialOf(run.context, stage);
    if (denial !== null) return ended("denied", [denial]);
    run.stages[index] = { ...state, classification: "open_incomplete" };
  }
  const precheck = await evaluateStage(run.context, stage, one);
  if (!precheck.ok) return ended("rejected", precheck.rejections.map(({ path, message }) => `${path}: ${message}`));
  if (precheck.outcome === "true") complete(run, index);
  const { outcome, trace, evidence } = precheck;
  const lines = trace.map((line) => describeTrace(line, evidence));
  const misjudged = trace.filter(({ condition_id, value }) => (one.conditions.get(condition_id) ?? value) !== value)
    .map((line) => `${describeTrace(line, evidence)}, expected ${one.conditions.get(line.condition_id)}`);
  const result = ended(outcome, [...new Set(lines)]);
  return { ...result, differences: [...result.differences, ...new Set(misjudged)] };
}

/** Describes the truth value of a condition and why items did not count, such as `a is unknown (unqualified: lane)`. */
function describeTrace({ condition_id, value, reason }: TraceItem, evidence: readonly QualifiedEvidence[]): string {
  if (reason === undefined) return `${condition_id} is ${value}`;
  const own = evidence.filter(({ item }) => item.condition_id === condition_id);
  const found = own.flatMap(({ item, reason }) => item.error?.message ?? reason ?? []);
  const why = found.length === 0 ? "" : `: ${[...new Set(found)].join("; ")}`;
  return `${condition_id} is ${value} (${reason}${why})`;
}

function complete(run: CaseRun, index: number): void {
  const { law } = run.context;
  const stages = run.stages.map((state, at): StageState =>
    at === index ? { ...state, classification: "complete" } : state
  );
  run.stages = stagesAfterCompletion(law, stages, index);
  run.complete = stagesSatisfy(law.completion, law.completionStages, run.stages);
}

/** Why the policy denies the opening of a stage, or null. */
function denialOf({ law, environment }: CaseContext, { stage }: CompiledStage): string | null {
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

async function evaluateStage(context: CaseContext, stage: CompiledStage, one: StageCase): Promise<Precheck> {
  const { sha256 } = context.environment.primitives;
  const law = withSignatures(context.law, one.signed);
  const compiled = law.stages[law.stageIndex.get(stage.stage.stage_id) ?? -1] ?? stage;
  const evidence = one.sent.map(({ condition_id, value }): CallerEvidence => {
    const found = context.law.conditionIndex.get(condition_id);
    const value_type = found?.condition.observation_domain.domain ?? "Json";
    return {
      condition_id,
      retention: { retention: found?.retention ?? "RetainCanonicalValue" },
      value: { value, value_type },
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
  for (const { key_id } of one.submitted) keys.set(key_id, { key_id, public_key: caseKey(key_id) });
  const environment = { ...context.environment, keys, precheck_at: one.evaluated_at };
  return precheckStage(law, compiled, evidence, verdicts, assumed, environment, submitted);
}

/** The key of a statement in a case. No real key has this text. */
function caseKey(keyId: string): string {
  return `case ${keyId}`;
}

/** The items of the statements of a case, as if their keys were trusted; the rejection of a value outside its domain. */
async function submittedItems(
  context: CaseContext,
  sha256: Sha256,
  { submitted }: StageCase,
): Promise<PresentedEvidence[] | EvidenceRejection> {
  const items: PresentedEvidence[] = [];
  for (const { condition_id, key_id, value: given } of submitted) {
    const domain = context.law.conditionIndex.get(condition_id)?.condition.observation_domain;
    const value = { value: given, value_type: domain?.domain ?? "Json" };
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
      channel: "accepted_submission",
      retention: "RetainCanonicalValue",
      lane: "verified",
      value,
      value_identity: identity,
      content_hash,
      hash_recomputes: true,
      observed_at: 0,
      signature: { scheme: "ed25519", key_id, signature: "" },
      ...schema_verdict === null ? {} : { schema_verdict },
      submission: { record_id: "", public_key: caseKey(key_id), submitted_at: 0 },
    });
  }
  return items;
}

async function verdictOf(
  { law, schemas, sandbox }: CaseContext,
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

/** Removes the requirement of a signature from conditions whose items the case marks as signed. */
function withSignatures(law: CompiledLaw, signed: readonly string[]): CompiledLaw {
  if (signed.length === 0) return law;
  const conditions = law.law.conditions.map((condition) =>
    signed.includes(condition.condition_id) ? withoutSignature(condition) : condition
  );
  return compileLaw({ ...law.law, conditions }, law.scenario_law_identity, law.graph_identity);
}

function withoutSignature(condition: Condition): Condition {
  const { authorized_key_ids: _keys, ...policy } = condition.evidence_use_policy;
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
