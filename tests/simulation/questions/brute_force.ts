/**
 * Answers to questions by trying all evidence of all parties, judged by the kernel itself.
 *
 * @module
 */

import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { QUESTION_TIME } from "../../../src/law/questions/candidates.ts";
import { namedKeys } from "../../../src/law/questions/parties.ts";
import type { Claim, ClaimAtom } from "../../../src/law/questions/prove.ts";
import type { Requirement } from "../../../src/law/types.ts";
import { checkInDomain } from "../../../src/law/value/typed_value.ts";
import { FALSE, type Kleene, TRI, type Tri, triName, TRUE } from "../../../src/law/value/truth.ts";
import type { TypedValue, ValueType } from "../../../src/law/value/types.ts";
import type { CompiledLaw, CompiledStage } from "../../../src/run/compile.ts";
import { sha256, verifyEd25519 } from "../../../src/evidence/host_primitives.ts";
import { environmentUnder } from "../../../src/run/command.ts";
import { evaluateEvidence, type Evaluation } from "../../../src/run/evaluate.ts";
import type { PresentedEvidence } from "../../../src/run/evidence.ts";
import { initialStages, stagesAfterCompletion, stagesSatisfy } from "../../../src/run/frontier.ts";
import type { VerifyEd25519 } from "../../../src/run/primitives.ts";
import { runProgram } from "../../../src/run/program.ts";
import type { QualifiedEvidence } from "../../../src/run/qualify.ts";
import { acquiredItem, ATTEMPT, numberedKey, presented, profileWith, signed } from "../kernel/fixture.ts";

/** The keys of people. The law names two of them at most. */
export const KEYS = {
  alice: numberedKey("alice", 1),
  bob: numberedKey("bob", 2),
  "*": numberedKey("*", 3),
  "*2": numberedKey("*2", 4),
  "another-key": numberedKey("another-key", 5),
} as const;

const TRUSTED = { evidence_keys: Object.values(KEYS).map(({ key_id, public_key }) => ({ key_id, public_key })) };

/** An item of a caller, without a signature. */
export function callerItem(condition: string, value: TypedValue, number = 0): PresentedEvidence {
  return presented(condition, value, { item_id: `caller:${condition}:${number}` });
}

/** An item signed by a key: with the call, or one that waited. */
export function keyItem(
  law: CompiledLaw,
  stage_id: string,
  condition: string,
  value: TypedValue,
  keyId: string,
  observed_at = QUESTION_TIME - 100,
): PresentedEvidence {
  const key = Object.values(KEYS).find(({ key_id }) => key_id === keyId);
  if (key === undefined) throw new TypeError(`Unknown key ${keyId}`);
  const channels = law.conditionIndex.get(condition)?.condition.evidence_use_policy.allowed_channels ?? [];
  const item = presented(condition, value, { item_id: `key:${condition}:${keyId}`, observed_at });
  if (channels.includes("caller_submission")) {
    return signed(law, item, key, { ...ATTEMPT, stage_id, evaluated_at: QUESTION_TIME });
  }
  return {
    ...item,
    channel: "accepted_submission",
    signature: { scheme: "ed25519", key_id: keyId, signature: "" },
    submission: { record_id: key.public_key, public_key: key.public_key, submitted_at: observed_at },
  };
}

/** An item of a binding: a value, null if it finds nothing, or an error. */
export function sourceItem(
  law: CompiledLaw,
  binding: string,
  value: TypedValue | null | { readonly error: string },
  acquired_at = QUESTION_TIME - 10,
): PresentedEvidence {
  return acquiredItem(law, binding, value, {}, { acquired_at });
}

const VERIFIED = new Map<string, boolean>();

/** The verification of the runtime, once for each signature: the same items are judged many times. */
const verifyOnce: VerifyEd25519 = (publicKey, message, signature) => {
  const key = `${publicKey} ${signature} ${message}`;
  const known = VERIFIED.get(key) ?? verifyEd25519(publicKey, message, signature);
  VERIFIED.set(key, known);
  return known;
};

const ENVIRONMENT = environmentUnder({ sha256, verifyEd25519: verifyOnce }, profileWith(TRUSTED));

/** The stage judged with items, by the kernel. */
export function judge(law: CompiledLaw, stage: CompiledStage, items: readonly PresentedEvidence[]): Evaluation {
  const attempt = { ...ATTEMPT, stage_id: stage.stage.stage_id, evaluated_at: QUESTION_TIME };
  return evaluateEvidence(stage, items, { ...ENVIRONMENT, law, attempt });
}

/** The parties of items that count. */
export function countedParties(evidence: readonly QualifiedEvidence[]): readonly string[] {
  return evidence.flatMap(({ item, reason }) => {
    // An item that repeats one of its party counts for that party too.
    if ((reason !== null && reason !== "not_independent") || item.error !== undefined) return [];
    if (item.acquisition !== undefined) return [sourceName(item.provider_id ?? "", item.binding_id ?? "")];
    const isKey = item.signature !== undefined;
    return [isKey ? `key:${item.signature.key_id}` : "caller"];
  });
}

function sourceName(providerId: string, bindingId: string): string {
  return `source:${providerId}:${bindingId}`;
}

/** A truth value with the smallest parties that give it. */
interface Outcome {
  readonly truth: Tri;
  readonly parties: ReadonlySet<string>;
}

const VALUES: Readonly<Partial<Record<ValueType, readonly JsonValue[]>>> = {
  Integer: [0, 1, 2],
  Boolean: [true, false],
  Digest: ["a".repeat(64), "b".repeat(64)],
  Timestamp: [-120_000, 0, 120_000].map((step) => new Date(QUESTION_TIME + step).toISOString()),
};

const KNOWN = new Map<string, readonly Outcome[]>();

/** Every outcome of a condition, by every evidence of every party. */
function outcomesOf(law: CompiledLaw, stage: CompiledStage, conditionId: string): readonly Outcome[] {
  const compiled = law.conditionIndex.get(conditionId);
  if (compiled === undefined) return [];
  const { condition } = compiled;
  const bindings = law.law.acquisition_bindings.filter((one) => one.condition_id === conditionId);
  const named = namedKeys([law.law]);
  const key = canonicalize([condition, bindings, named] as unknown as JsonValue);
  const known = KNOWN.get(key);
  if (known !== undefined) return known;
  const { evidence_use_policy: policy, observation_domain: domain } = condition;
  const all = (VALUES[domain.domain] ?? []).map((value): TypedValue => ({ value, value_type: domain.domain }))
    .filter((value) => checkInDomain(value, domain) === null);
  const truthOf = (value: TypedValue): Tri => compiled.judge(value, QUESTION_TIME);
  const values = [TRUE, FALSE].flatMap((truth) => all.find((value) => truthOf(value) === truth) ?? []);
  const id = stage.stage.stage_id;
  const givers: (readonly (readonly PresentedEvidence[])[])[] = [];
  if (policy.allowed_channels.includes("caller_submission")) {
    const once = values.map((value) => [callerItem(conditionId, value)]);
    const twice = values.map((value) => [0, 1].map((number) => callerItem(conditionId, value, number)));
    givers.push([[], ...once, ...policy.independence === "not_required" ? twice : []]);
  }
  const isSigned = policy.authorization === "signature" || policy.freshness.freshness === "MaximumAge" ||
    policy.combination.combination === "Quorum";
  if (isSigned && policy.allowed_channels.some((channel) => channel.endsWith("submission"))) {
    const names = [...named, "*", ...policy.combination.combination === "Quorum" ? ["*2"] : []];
    for (const name of names) {
      const once = values.map((value) => [keyItem(law, id, conditionId, value, name)]);
      const repeats = policy.independence === "not_required" && policy.allowed_channels.includes("caller_submission");
      const twice = once.map(([item]) => item === undefined ? [] : [item, { ...item, item_id: `${item.item_id}:2` }]);
      givers.push([[], ...once, ...repeats ? twice : []]);
    }
  }
  for (const { binding_id } of bindings) {
    const found = [...values, null, { error: "http_status" }].map((value) => [sourceItem(law, binding_id, value)]);
    givers.push(policy.requires_all_bindings === true ? found : [[], ...found]);
  }
  const outcomes: Outcome[] = [];
  const tryAll = (at: number, items: readonly PresentedEvidence[]): void => {
    const giver = givers[at];
    if (giver !== undefined) return giver.forEach((own) => tryAll(at + 1, [...items, ...own]));
    const { trace, evidence } = judge(law, stage, items);
    const value = trace.find((line) => line.condition_id === conditionId)?.value ?? "unknown";
    addSmallest(outcomes, { truth: TRI[value], parties: new Set(countedParties(evidence)) });
  };
  tryAll(0, []);
  KNOWN.set(key, outcomes);
  return outcomes;
}

function addSmallest(outcomes: Outcome[], one: Outcome): void {
  if (outcomes.some((other) => other.truth === one.truth && other.parties.isSubsetOf(one.parties))) return;
  const left = outcomes.filter((other) => other.truth !== one.truth || !one.parties.isSubsetOf(other.parties));
  outcomes.splice(0, outcomes.length, ...left, one);
}

/** What was true, what was false, and who counted. */
export interface Seen {
  readonly trues: ReadonlySet<string>;
  readonly falses: ReadonlySet<string>;
  readonly parties: ReadonlySet<string>;
}

const NOTHING: Seen = { trues: new Set(), falses: new Set(), parties: new Set() };

function both(left: Seen, right: Seen): Seen {
  return {
    trues: left.trues.union(right.trues),
    falses: left.falses.union(right.falses),
    parties: left.parties.union(right.parties),
  };
}

function isWithin(left: Seen, right: Seen): boolean {
  return left.trues.isSubsetOf(right.trues) && left.falses.isSubsetOf(right.falses) &&
    left.parties.isSubsetOf(right.parties);
}

/** All that completes a stage, without what holds more than another one. */
function completionsOf(law: CompiledLaw, stage: CompiledStage): readonly Seen[] {
  const slots = stage.completion.slots;
  const found: Seen[] = [];
  const values = new Uint8Array(slots.length);
  const tryAll = (at: number, seen: Seen): void => {
    const id = slots[at];
    if (id === undefined) {
      if (runProgram(stage.completion, values) !== TRUE || found.some((one) => isWithin(one, seen))) return;
      found.splice(0, found.length, ...found.filter((one) => !isWithin(seen, one)), seen);
      return;
    }
    for (const { truth, parties } of outcomesOf(law, stage, id)) {
      values[at] = truth;
      tryAll(
        at + 1,
        both(seen, {
          trues: new Set(truth === TRUE ? [id] : []),
          falses: new Set(truth === FALSE ? [id] : []),
          parties,
        }),
      );
    }
  };
  tryAll(0, NOTHING);
  return found;
}

/** A stage that was completed in a course, and what was seen in the attempt that completed it. */
interface Completed {
  readonly stage_id: string;
  readonly seen: Seen;
}

/** Calls `visit` for every course of completed stages of a run that ends when the run is complete. */
function eachCourse(
  law: CompiledLaw,
  completions: readonly (readonly Seen[])[],
  visit: (course: readonly Completed[], isComplete: boolean) => void,
): void {
  const go = (stages: ReturnType<typeof initialStages>, course: readonly Completed[]): void => {
    const isComplete = stagesSatisfy(law.completion, law.completionStages, stages);
    if (course.length > 0) visit(course, isComplete);
    if (isComplete) return;
    stages.forEach((state, index) => {
      if (state.classification !== "ready_unopened") return;
      for (const seen of completions[index] ?? []) {
        const next = stages.with(index, { ...state, classification: "complete" });
        go(stagesAfterCompletion(law, next, index), [...course, { stage_id: state.stage_id, seen }]);
      }
    });
  };
  go(initialStages(law), []);
}

/** Whether a claim is satisfied by what was seen. */
export function claimHolds({ needs, atoms }: Claim, seen: Seen, stages: ReadonlySet<string>): boolean {
  const isSeen = (atom: ClaimAtom | undefined, negated: boolean): boolean => {
    if (atom === undefined) return false;
    if ("condition" in atom) return (negated ? seen.falses : seen.trues).has(atom.condition);
    if ("stage" in atom) return stages.has(atom.stage);
    if ("caller" in atom) return seen.parties.has("caller");
    if ("key" in atom) return seen.parties.has(`key:${atom.key}`);
    if ("provider" in atom) return [...seen.parties].some((party) => party.startsWith(`source:${atom.provider}:`));
    throw new TypeError("Cannot judge a comparison that the law does not have");
  };
  const holds = (node: Requirement, negated: boolean): boolean => {
    if ("Condition" in node) return isSeen(atoms.get(node.Condition), negated);
    if ("Not" in node) return holds(node.Not, !negated);
    const operands = "And" in node ? node.And : "Or" in node ? node.Or : node.RequireGroup.reqs;
    const minimum = "And" in node ? operands.length : "Or" in node ? 1 : node.RequireGroup.min;
    const count = operands.filter((one) => holds(one, negated)).length;
    return count >= (negated ? operands.length - minimum + 1 : minimum);
  };
  return holds(needs, false);
}

/** Whether a claim is proved: no course completes what it speaks of without satisfying it. */
export function provedByForce(law: CompiledLaw, claim: Claim): boolean {
  let proved = true;
  const completions = law.stages.map((stage) => completionsOf(law, stage));
  eachCourse(law, completions, (course, isComplete) => {
    const last = course.at(-1);
    if (last === undefined || (claim.stage === undefined ? !isComplete : last.stage_id !== claim.stage)) return;
    const ids = course.map(({ stage_id }) => stage_id);
    const seen = claim.stage === undefined ? course.map((one) => one.seen).reduce(both, NOTHING) : last.seen;
    const stages = new Set(claim.stage === undefined ? ids : ids.slice(0, -1));
    if (!claimHolds(claim, seen, stages)) proved = false;
  });
  return proved;
}

/** The smallest sets of parties that complete each stage and the run. */
export function whoByForce(
  law: CompiledLaw,
): { readonly stages: ReadonlyMap<string, readonly string[]>; readonly run: readonly string[] } {
  const completions = law.stages.map((stage) => completionsOf(law, stage));
  const runs: Seen[] = [];
  eachCourse(law, completions, (course, isComplete) => {
    if (isComplete) runs.push(course.map(({ seen }) => seen).reduce(both, NOTHING));
  });
  return {
    stages: new Map(law.stages.map(({ stage }, at) => [stage.stage_id, smallestOf(completions[at] ?? [])])),
    run: smallestOf(runs),
  };
}

function smallestOf(seen: readonly Seen[]): readonly string[] {
  const sets = seen.map(({ parties }) => parties);
  const least = sets.filter((set) => !sets.some((other) => other.size < set.size && other.isSubsetOf(set)));
  return [...new Set(least.map((set) => [...set].sort().join(" + ")))].sort();
}

/** The truth value of each condition of a stage, as the kernel traces it. */
export function tracedTruths(
  law: CompiledLaw,
  stage: CompiledStage,
  items: readonly PresentedEvidence[],
): ReadonlyMap<string, Kleene> {
  const { trace } = judge(law, stage, items);
  return new Map(trace.map(({ condition_id, value }) => [condition_id, value]));
}

export { triName };
