/** Warnings about laws that are valid but probably not intended. */

import { INTEGER_MAXIMUM } from "./limits.ts";
import { below, type JsonPath, pathAt, pathOf, stepsTo } from "../canonical/path.ts";
import { usedParameters } from "./expand.ts";
import { eachPlaceholder } from "./placeholders.ts";
import { eachLeaf, eachNode } from "./requirement_walk.ts";
import { quote } from "./suggest.ts";
import type { AcquisitionBinding, Condition, EvidenceUsePolicy, Requirement, ScenarioLaw } from "./types.ts";
import { compilePredicate } from "./value/predicate.ts";
import { expectedOf, isParameterReference } from "./value/types.ts";
import { TRUE } from "./value/truth.ts";

/** The codes of warnings; the list is closed. */
export type WarningCode =
  /** No stage's requirement names the condition. */
  | "condition_unused"
  /** Callers may not submit evidence and no binding acquires any, so the condition stays Unknown. */
  | "condition_without_evidence"
  /** `NotExists` without a binding: callers cannot assert absence, so the condition stays Unknown. */
  | "absence_never_observed"
  /** Only a signed item of a caller has an age, and the policy does not require callers to sign. */
  | "age_never_known"
  /** No value of the domain satisfies the predicate. */
  | "predicate_never_true"
  /** Fewer sources than the quorum needs. */
  | "quorum_out_of_reach"
  /** One caller, or one signer, can meet the quorum alone. */
  | "one_signer_suffices"
  /** The policy requires a signature of gate's own acquisitions, which have none. */
  | "signature_never_given"
  /** Neither a prerequisite nor the scenario's requirement names the stage. */
  | "stage_without_effect"
  /** A call may leave out the binding with the contrary evidence. */
  | "bindings_may_be_left_out"
  /** The spec left out the policy of a condition without a binding: a caller's word decides it. */
  | "caller_asserted"
  /** A schema is named that the law does not declare. */
  | "schema_undeclared"
  /** A run chooses a whole URL, file or host of a binding, or which value of its source counts. */
  | "parameter_chooses_source"
  /** Neither an expected value nor a binding uses the parameter, so its value ties no evidence to it. */
  | "parameter_unused";

/** One warning. */
export interface Warning {
  readonly code: WarningCode;
  /** JSON path into the law in normal form; `$` is the law. */
  readonly path: string;
  readonly message: string;
}

/**
 * Checks a law for probable mistakes. A law with warnings can still be registered.
 *
 * @param callerAsserted The ids of conditions that left out their policy and have no binding
 */
export function lintLaw(law: ScenarioLaw, callerAsserted: readonly string[] = []): Warning[] {
  const warnings: Warning[] = [];
  const warn: Warn = (code, path, message) => warnings.push({ code, path: pathOf(path), message });
  lintConditions(law, warn);
  const asserted = new Set(callerAsserted);
  law.conditions.forEach(({ condition_id }, index) => {
    if (!asserted.has(condition_id)) return;
    const message = `Condition ${quote(condition_id)} has no binding and no policy, so any caller decides it: bind a ` +
      'check, require signatures, or allow "caller_submission" in an evidence_use_policy';
    warn("caller_asserted", pathAt("conditions", index), message);
  });
  lintStages(law, warn);
  lintSchemas(law, warn);
  lintSources(law, warn);
  lintParameters(law, warn);
  return warnings;
}

type Warn = (code: WarningCode, path: JsonPath, message: string) => void;

function namesIn(...requirements: readonly (Requirement | undefined)[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const requirement of requirements) eachLeaf(requirement, null, (id) => names.add(id));
  return names;
}

function lintConditions(law: ScenarioLaw, warn: Warn): void {
  const used = namesIn(...law.stages.map((stage) => stage.completion_requirement));
  const negated = negatedIn(law);
  const bindingsOf = Map.groupBy(law.acquisition_bindings, (binding) => binding.condition_id);
  law.conditions.forEach((condition, index) => {
    const path = pathAt("conditions", index);
    const name = quote(condition.condition_id);
    if (!used.has(condition.condition_id)) warn("condition_unused", path, `No stage requires condition ${name}`);
    const bindings = bindingsOf.get(condition.condition_id) ?? [];
    if (isNeverTrue(condition)) {
      const message =
        `Condition ${name} never holds: no value of its domain satisfies ${condition.predicate.predicate}`;
      warn("predicate_never_true", pathAt("conditions", index, "predicate"), message);
    }
    if (helpsToLeaveOut(condition, bindings, negated)) {
      const message =
        `Condition ${name} has ${bindings.length} ${bindings.length === 1 ? "binding" : "bindings"}, and a call may ` +
        "leave out one with contrary evidence; " +
        "requires_all_bindings: true rejects such a call";
      warn("bindings_may_be_left_out", pathAt("conditions", index, "evidence_use_policy"), message);
    }
    lintEvidence(condition, bindings, (code, message) => warn(code, path, `Condition ${name} ${message}`));
  });
}

/** Whether callers can bring evidence, with an evaluation or before it. */
function isSubmitted({ allowed_channels }: Pick<EvidenceUsePolicy, "allowed_channels">): boolean {
  return allowed_channels.includes("caller_submission") || allowed_channels.includes("accepted_submission");
}

function lintEvidence(
  { predicate, evidence_use_policy: policy }: Condition,
  bindings: readonly AcquisitionBinding[],
  warn: (code: WarningCode, message: string) => void,
): void {
  const submitted = isSubmitted(policy);
  if (!submitted && bindings.length === 0) {
    warn("condition_without_evidence", "accepts no evidence from callers and has no binding");
  }
  if (submitted && bindings.length === 0 && predicate.predicate === "NotExists") {
    warn("absence_never_observed", "needs a binding: callers cannot assert that something does not exist");
  }
  const signed = needsSignature(policy);
  if (submitted && bindings.length === 0 && !signed && policy.freshness.freshness === "MaximumAge") {
    const remedy = 'require integrity "signed_content", or no age';
    warn("age_never_known", `requires an age, which an unsigned item of a caller never has: ${remedy}`);
  }
  const sources = sourcesOf(policy, bindings);
  if (policy.combination.combination === "Quorum" && sources < policy.combination.minimum) {
    const callers = submitted && !signed ? "; unsigned items of callers count as one" : "";
    warn(
      "quorum_out_of_reach",
      `requires a quorum of ${policy.combination.minimum} and has ${sources} sources${callers}`,
    );
  }
  if (oneSignerSuffices(policy)) {
    warn(
      "one_signer_suffices",
      'has a quorum that one person can meet alone: independence "distinct_acquisition" counts each signer once',
    );
  }
  if (signed && policy.allowed_channels.every((channel) => channel === "local_acquisition")) {
    warn("signature_never_given", "requires a signature and allows only acquisitions by gate itself, which have none");
  }
}

/** Whether items of one caller can be all of a quorum. Of evidence that waits, only the newest of each key counts. */
export function oneSignerSuffices({ allowed_channels, combination, independence }: EvidenceUsePolicy): boolean {
  return independence === "not_required" && combination.combination === "Quorum" && combination.minimum > 1 &&
    allowed_channels.includes("caller_submission");
}

/** Conditions below a `Not` in a stage's requirement. */
function negatedIn(law: ScenarioLaw): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { completion_requirement } of law.stages) {
    eachNode(completion_requirement, null, (node) => {
      if ("Not" in node) eachLeaf(node.Not, null, (id) => names.add(id));
    });
  }
  return names;
}

/**
 * Whether a call can gain by leaving out a binding. Under `AnyQualifying` one independent binding less never makes a
 * condition True.
 */
function helpsToLeaveOut(
  { condition_id, evidence_use_policy: policy }: Condition,
  bindings: readonly AcquisitionBinding[],
  negated: ReadonlySet<string>,
): boolean {
  const { allowed_channels, combination, independence, requires_all_bindings } = policy;
  // Without the binding that is left out, another one or an item of the caller still counts.
  const others = bindings.length - 1 + (isSubmitted({ allowed_channels }) ? 1 : 0);
  if (bindings.length === 0 || others === 0 || requires_all_bindings === true) return false;
  // Two values of one provider contradict each other, which a call avoids by leaving one out.
  const contradicts = independence === "distinct_provider" &&
    new Set(bindings.map(({ provider_id }) => provider_id)).size < bindings.length;
  if (contradicts || negated.has(condition_id)) return true;
  // What is left out prevents a quorum only if as many are false as are true.
  if (combination.combination === "Quorum") return sourcesOf(policy, bindings) >= 2 * combination.minimum;
  return combination.combination !== "AnyQualifying";
}

/** Whether a policy counts signed evidence only. */
export function needsSignature({ authorization, integrity, required_assurance }: EvidenceUsePolicy): boolean {
  return authorization === "signature" || integrity === "signed_content" ||
    required_assurance.includes("source_signature");
}

/** The maximum number of independent sources. */
function sourcesOf(policy: EvidenceUsePolicy, bindings: readonly AcquisitionBinding[]): number {
  const submitted = isSubmitted(policy);
  if (submitted && policy.independence === "not_required") return Infinity;
  const acquired = policy.independence === "distinct_provider"
    ? new Set(bindings.map((binding) => binding.provider_id)).size
    : bindings.length;
  if (!submitted) return acquired;
  // Signed items are independent if their keys differ.
  return acquired + (needsSignature(policy) ? policy.authorized_key_ids?.length ?? Infinity : 1);
}

/** Whether the bounds of the domain show that no value makes a condition true. */
function isNeverTrue({ observation_domain: domain, predicate }: Condition): boolean {
  // A run gives the expected value, so nothing is certain.
  if (expectedOf(predicate).some(isParameterReference)) return false;
  if (domain.domain !== "Integer" && domain.domain !== "Decimal") return false;
  const { domain: value_type, minimum, maximum } = domain.domain === "Integer"
    ? { minimum: -INTEGER_MAXIMUM, maximum: INTEGER_MAXIMUM, ...domain }
    : domain;
  const test = compilePredicate(predicate, domain);
  const holdsFor = (bound: number | string): boolean => test({ value: bound, value_type }, null) === TRUE;
  switch (predicate.predicate) {
    case "GreaterThan":
    case "GreaterThanOrEqual":
      return maximum !== undefined && !holdsFor(maximum);
    case "LessThan":
    case "LessThanOrEqual":
      return minimum !== undefined && !holdsFor(minimum);
    default:
      return false;
  }
}

function lintStages(law: ScenarioLaw, warn: Warn): void {
  const prerequisites = law.stages.map(({ prerequisite }) =>
    prerequisite.kind === "requires" ? prerequisite.requirement : undefined
  );
  const used = namesIn(law.completion_requirement, ...prerequisites);
  law.stages.forEach(({ stage_id }, index) => {
    if (used.has(stage_id)) return;
    const message = `Neither another stage nor the scenario requires stage ${quote(stage_id)}`;
    warn("stage_without_effect", pathAt("stages", index), message);
  });
}

function lintSchemas(law: ScenarioLaw, warn: Warn): void {
  const message = (id: string): string => `Schema ${quote(id)} is not among the schemas of the law`;
  law.conditions.forEach(({ observation_domain: domain }, index) => {
    if (domain.domain !== "Json" || domain.schema === undefined) return;
    const { schema_id, version } = domain.schema;
    if (law.schemas.some((schema) => schema.schema_id === schema_id && schema.version === version)) return;
    warn("schema_undeclared", pathAt("conditions", index, "observation_domain", "schema"), message(schema_id));
  });
  law.stages.forEach((stage, index) =>
    stage.entry_packets.forEach(({ schema_id }, at) => {
      if (law.schemas.some((schema) => schema.schema_id === schema_id)) return;
      warn("schema_undeclared", pathAt("stages", index, "entry_packets", at, "schema_id"), message(schema_id));
    })
  );
}

function lintParameters(law: ScenarioLaw, warn: Warn): void {
  if (law.parameters === undefined) return;
  const used = usedParameters(law);
  law.parameters.forEach(({ parameter_id }, index) => {
    if (used.has(parameter_id)) return;
    const message =
      `Neither an expected value nor a binding uses parameter ${quote(parameter_id)}, so its value ties ` +
      "no evidence to it";
    warn("parameter_unused", pathAt("parameters", index), message);
  });
}

/** Names of params that hold a URL, in words joined by `_`. */
const URL_NAME = /(?:^|_)(?:ur[il]|endpoint|href|link)s?$/;

/** Names of other params that say where a provider looks, in words joined by `_`. */
const SOURCE_NAME =
  /(?:^|_)(?:(?:file|path|server|domain|(?:file|host)_?name|host)s?|address(?:es)?|director(?:y|ies))$/;

/** Params of built-in providers that say which value of a source counts, by provider. */
const SELECTORS: Readonly<Record<string, string>> = { env: "key", json: "jsonpath", rest: "jsonpath" };

/** The words of a name such as `base_url`, `baseURL` or `base-url`, joined by `_`. */
function wordsOf(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z]{2})/g, "$1_$2");
  return words.replaceAll("-", "_").toLowerCase();
}

function lintSources(law: ScenarioLaw, warn: Warn): void {
  if (law.parameters === undefined) return;
  law.acquisition_bindings.forEach(({ binding_id, provider_id, params }, index) => {
    if (params === undefined) return;
    const at = pathAt("acquisition_bindings", index, "params");
    // The names of built-in providers are reserved for them.
    const selector = Object.hasOwn(SELECTORS, provider_id) ? pathOf(below(at, SELECTORS[provider_id] ?? "")) : null;
    eachPlaceholder(params, at, (placeholder, path) => {
      if (typeof placeholder === "string" || placeholder.kind !== "parameter") return;
      const name = String(stepsTo(path).findLast((step) => typeof step === "string") ?? "");
      const words = wordsOf(name);
      const isUrl = URL_NAME.test(words);
      if (!isUrl && !SOURCE_NAME.test(words) && pathOf(path) !== selector) return;
      const remedy = isUrl ? 'a "$template" fixes the host' : "a fixed value leaves no choice";
      const message = `Parameter ${quote(placeholder.parameters[0])} is the whole ${quote(name)} of binding ` +
        `${quote(binding_id)}: the caller who starts a run chooses the source; ${remedy}`;
      warn("parameter_chooses_source", path, message);
    });
  });
}
