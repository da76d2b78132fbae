/** Small changes of a law, one at a time, each of which its cases should notice. */

import { INTEGER_MAXIMUM } from "../limits.ts";
import type { Condition, EvidenceUsePolicy, Requirement, ScenarioLaw } from "../types.ts";
import { decimalOfNumber } from "../value/decimal.ts";
import type { PredicateName } from "../value/predicates.ts";
import { exactMillis } from "../value/timestamp.ts";
import { isRelativeTime, type Predicate, type TypedValue } from "../value/types.ts";

/** What a mutant changes. */
export type MutantKind =
  | "comparison turned"
  | "bound moved"
  | "operand dropped"
  | "after dropped"
  | "key added"
  | "quorum lowered"
  | "freshness dropped"
  | "channel widened";

/** A changed law. It may be one that is refused. */
export interface Mutant {
  readonly kind: MutantKind;
  /** The condition or the stage that is changed; null for what completes the run. */
  readonly place: { readonly condition_id: string } | { readonly stage_id: string } | null;
  readonly law: ScenarioLaw;
}

/** A key that a mutant adds. */
const ADDED_KEY = "another-key";

/** The mutants of a law, in the order of its conditions and stages. */
export function mutantsOf(law: ScenarioLaw): readonly Mutant[] {
  const bound = new Set(law.acquisition_bindings.map(({ condition_id }) => condition_id));
  const changed = law.conditions.flatMap((condition) => {
    const { condition_id } = condition;
    const withOne = (one: Condition): ScenarioLaw => ({
      ...law,
      conditions: law.conditions.map((other) => other === condition ? one : other),
    });
    const predicates = predicateMutants(condition).map(([kind, predicate]): Mutant => ({
      kind,
      place: { condition_id },
      law: withOne({ ...condition, predicate }),
    }));
    const policies = policyMutants(condition.evidence_use_policy, bound.has(condition_id)).map((
      [kind, policy],
    ): Mutant => ({
      kind,
      place: { condition_id },
      law: withOne({ ...condition, evidence_use_policy: policy }),
    }));
    return [...predicates, ...policies];
  });
  return [...changed, ...stageMutants(law)];
}

function stageMutants(law: ScenarioLaw): readonly Mutant[] {
  const stages = law.stages.flatMap((stage): Mutant[] => {
    const { stage_id, prerequisite, completion_requirement } = stage;
    const withOne = (one: typeof stage): ScenarioLaw => ({
      ...law,
      stages: law.stages.map((other) => other === stage ? one : other),
    });
    const place = { stage_id };
    const dropped = withoutOperands(completion_requirement).map((left): Mutant => ({
      kind: "operand dropped",
      place,
      law: withOne({ ...stage, completion_requirement: left }),
    }));
    if (prerequisite.kind === "root") return dropped;
    const fewer = withoutOperands(prerequisite.requirement).map((requirement): Mutant => ({
      kind: "after dropped",
      place,
      law: withOne({ ...stage, prerequisite: { kind: "requires", requirement } }),
    }));
    return [...dropped, ...fewer, {
      kind: "after dropped",
      place,
      law: withOne({ ...stage, prerequisite: { kind: "root" } }),
    }];
  });
  const goals = withoutOperands(law.completion_requirement).map((completion_requirement): Mutant => ({
    kind: "operand dropped",
    place: null,
    law: { ...law, completion_requirement },
  }));
  return [...stages, ...goals];
}

/** A requirement without one of the operands of one of its nodes. */
function withoutOperands(requirement: Requirement): readonly Requirement[] {
  if ("Condition" in requirement) return [];
  if ("Not" in requirement) return withoutOperands(requirement.Not).map((Not) => ({ Not }));
  const operands = "And" in requirement
    ? requirement.And
    : "Or" in requirement
    ? requirement.Or
    : requirement.RequireGroup.reqs;
  const withAll = (reqs: readonly Requirement[]): Requirement => {
    if ("And" in requirement) return { And: reqs };
    if ("Or" in requirement) return { Or: reqs };
    return { RequireGroup: { min: Math.min(requirement.RequireGroup.min, reqs.length), reqs } };
  };
  const dropped = operands.length < 2 ? [] : operands.map((_, at) => withAll(operands.toSpliced(at, 1)));
  const inside = operands.flatMap((one, at) => withoutOperands(one).map((left) => withAll(operands.with(at, left))));
  return [...dropped, ...inside];
}

const OPPOSITES: Readonly<Partial<Record<PredicateName, PredicateName>>> = {
  Equals: "NotEquals",
  NotEquals: "Equals",
  DeepEquals: "DeepNotEquals",
  DeepNotEquals: "DeepEquals",
  GreaterThan: "LessThanOrEqual",
  LessThanOrEqual: "GreaterThan",
  GreaterThanOrEqual: "LessThan",
  LessThan: "GreaterThanOrEqual",
  LexGreaterThan: "LexLessThanOrEqual",
  LexLessThanOrEqual: "LexGreaterThan",
  LexGreaterThanOrEqual: "LexLessThan",
  LexLessThan: "LexGreaterThanOrEqual",
  Exists: "NotExists",
  NotExists: "Exists",
};

function predicateMutants({ predicate }: Condition): readonly (readonly [MutantKind, Predicate])[] {
  const opposite = OPPOSITES[predicate.predicate];
  const turned = opposite === undefined
    ? []
    : [["comparison turned", { ...predicate, predicate: opposite } as Predicate] as const];
  if (predicate.predicate === "InSet") {
    const { expected } = predicate;
    const fewer = expected.length < 2
      ? []
      : expected.map((_, at): Predicate => ({ ...predicate, expected: expected.toSpliced(at, 1) }));
    return fewer.map((one) => ["bound moved", one] as const);
  }
  if (!("expected" in predicate) || !/^(?:Less|Greater)/.test(predicate.predicate)) return turned;
  const { expected } = predicate;
  const moved = isRelativeTime(expected)
    ? [-1000, 1000].map((step) => ({ ...expected, offset_milliseconds: expected.offset_milliseconds + step }))
    : "value_type" in expected
    ? [-1, 1].flatMap((step) => movedBy(expected, step) ?? [])
    : [];
  return [...turned, ...moved.map((bound) => ["bound moved", { ...predicate, expected: bound } as Predicate] as const)];
}

/** A value one step away: a unit of its last digit, or a second. */
function movedBy({ value, value_type }: TypedValue, step: number): TypedValue | null {
  if (value_type === "Integer" && typeof value === "number") {
    return Math.abs(value + step) > INTEGER_MAXIMUM ? null : { value: value + step, value_type };
  }
  if (value_type === "Decimal" && typeof value === "string") {
    const digits = value.split(".")[1]?.length ?? 0;
    const scaled = BigInt(value.replace(".", "")) + BigInt(step);
    const text = (scaled < 0n ? -scaled : scaled).toString().padStart(digits + 1, "0");
    const whole = `${scaled < 0n ? "-" : ""}${text.slice(0, text.length - digits)}`;
    return { value: digits === 0 ? whole : `${whole}.${text.slice(-digits)}`, value_type };
  }
  if (value_type === "Timestamp" && typeof value === "string") {
    const millis = exactMillis(value);
    return millis === null ? null : { value: new Date(millis + 1000 * step).toISOString(), value_type };
  }
  if (value_type === "Json" && typeof value === "number") {
    return { value: Number(decimalOfNumber(value + step)), value_type };
  }
  return null;
}

function policyMutants(
  policy: EvidenceUsePolicy,
  isBound: boolean,
): readonly (readonly [MutantKind, EvidenceUsePolicy])[] {
  const mutants: (readonly [MutantKind, EvidenceUsePolicy])[] = [];
  const { authorized_key_ids: keys, combination, freshness, allowed_channels: channels } = policy;
  if (keys !== undefined) {
    mutants.push(["key added", { ...policy, authorized_key_ids: [...keys, ADDED_KEY].sort() }]);
  }
  if (combination.combination === "Quorum" && combination.minimum > 1) {
    const minimum = combination.minimum - 1;
    mutants.push(["quorum lowered", { ...policy, combination: { combination: "Quorum", minimum } }]);
  }
  if (freshness.freshness === "MaximumAge") {
    mutants.push(["freshness dropped", { ...policy, freshness: { freshness: "NotRequired" } }]);
  }
  const isSigned = policy.authorization === "signature" || policy.integrity === "signed_content";
  if (isSigned || isBound && !channels.includes("caller_submission")) {
    const { authorized_key_ids: _, ...rest } = policy;
    mutants.push(["channel widened", {
      ...rest,
      allowed_channels: [
        ...new Set([...channels.filter((one) => one !== "accepted_submission"), "caller_submission" as const]),
      ].sort(),
      authorization: "embedding_authority",
      integrity: policy.integrity === "signed_content" ? "canonical_content_only" : policy.integrity,
      required_assurance: policy.required_assurance.filter((one) => one !== "source_signature"),
    }]);
  }
  return mutants;
}
