/**
 * The member `waiting` of answers: the conditions of open stages that signed statements can still satisfy, with the
 * keys whose statements are missing.
 */

import type { Identity } from "../../canonical/identity.ts";
import { sortedBy } from "../../canonical/order.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { TRUE } from "../../law/value/truth.ts";
import { attemptAt } from "../attempt.ts";
import type { Environment } from "../command.ts";
import { type CompiledCondition, type CompiledLaw, type CompiledStage, keysOf } from "../compile.ts";
import type { TrustedKey } from "../profile.ts";
import type { PresentedEvidence } from "../evidence.ts";
import { qualifyItem, sameObservation } from "../qualify.ts";
import { KEYS_PER_CONDITION, presentSubmitted } from "../submitted_evidence.ts";
import type { RunState } from "../types.ts";

/** A statement of a person against a condition, or the withdrawal of one. */
export interface Refusal {
  readonly key_id: string;
  /** When the person signed, Unix milliseconds. */
  readonly observed_at: number;
  readonly withdrawn?: true;
  readonly comment?: string;
}

/** A condition that waits for statements. */
export interface WaitingCondition {
  readonly stage_id: string;
  readonly condition_id: string;
  /** Statements that count now and satisfy the predicate. */
  readonly have: number;
  /** How many have to. */
  readonly needed: number;
  /** The keys whose statements these are, by key id; absent without any. */
  readonly signed?: readonly string[];
  /** Keys that may sign and have no statement that counts, by key id; the first {@link KEYS_PER_CONDITION} of them. */
  readonly keys: readonly TrustedKey[];
  /**
   * Present where statements that count differ, and all have to agree: `keys` are then those that have to state another
   * value.
   */
  readonly disagree?: true;
  /** Present where no key that may sign the condition is configured. */
  readonly no_key?: true;
  /** The condition in the words of its law, as answers have it. */
  readonly sentence?: string;
  /** Present where people refused or withdrew. */
  readonly refused?: readonly Refusal[];
}

/** The causes of an attempt at a stage with the refusals that wait there now: a person who refuses now has not signed. */
export function withRefusals<
  Cause extends { readonly condition_id: string } & Pick<WaitingCondition, "signed" | "refused">,
>(
  stageId: string,
  causes: readonly Cause[],
  waiting: readonly Pick<WaitingCondition, "stage_id" | "condition_id" | "refused">[],
): readonly Cause[] {
  return causes.map((cause) => {
    const { refused } = waiting.find((one) => one.stage_id === stageId && one.condition_id === cause.condition_id) ??
      {};
    if (refused === undefined) return cause;
    const now = new Set(refused.map(({ key_id }) => key_id));
    const { signed, refused: before = [] } = cause;
    return {
      ...cause,
      ...signed === undefined ? {} : { signed: signed.filter((key) => !now.has(key)) },
      refused: [...before.filter(({ key_id }) => !now.has(key_id)), ...refused],
    };
  });
}

/** The stages of a run that evidence can wait for now, in the order of the law. */
export function openForEvidence(law: CompiledLaw, { status, stages }: RunState): readonly CompiledStage[] {
  if (status === "complete") return [];
  return law.stages.filter((stage, index) =>
    stage.acceptsSubmissions && stages[index]?.classification === "open_incomplete"
  );
}

/**
 * The conditions of an open stage that wait for statements, in the order of its requirement.
 *
 * @param values The values of the evidence that waits for the stage, by identity
 * @param now The time at which statements are judged, Unix milliseconds
 */
export function waitingConditions(
  law: CompiledLaw,
  stage: CompiledStage,
  state: RunState,
  values: ReadonlyMap<Identity, TypedValue>,
  environment: Environment,
  now: number,
): readonly WaitingCondition[] {
  const { stage_id } = stage.stage;
  const scope = { run_id: state.run_key.run_id, stage_id, expected_head: state.head };
  const times = { accepted_audit_instant: now, reading_unix_millis: now, last_audit_instant: now };
  const attempt = attemptAt(environment.procedure, scope, times);
  const items = presentSubmitted(state, stage_id, values);
  return stage.conditions.flatMap((condition): readonly WaitingCondition[] => {
    const { condition_id, evidence_use_policy: policy } = condition.condition;
    if (!policy.allowed_channels.includes("accepted_submission")) return [];
    const counting = items.filter((item) => item.condition_id === condition_id).filter((item) =>
      qualifyItem({ ...environment, law, attempt }, condition, item).reason === null
    );
    const satisfies = ({ value }: PresentedEvidence): boolean =>
      value !== null && !condition.awaitsParameter && condition.judge(value, now) === TRUE;
    const satisfying = counting.filter(satisfies);
    const have = satisfying.length;
    const signers = signersOf(satisfying, condition, environment).map(({ key_id }) => key_id);
    const standing = { stage_id, condition_id, have, ...signers.length === 0 ? {} : { signed: signers } };
    const { combination } = policy;
    const needed = combination.combination === "Quorum" ? combination.minimum : 1;
    const signed = new Set(counting.map(({ submission }) => submission?.public_key));
    if (combination.combination === "AllQualifyingAgree" && !agree(counting)) {
      const others = counting.filter((item) => have === 0 || have === counting.length || !satisfies(item));
      return [{
        ...standing,
        needed,
        keys: signersOf(others, condition, environment),
        disagree: true,
      }];
    }
    if (have >= needed) return [];
    const keys = missingKeys(condition, environment, signed);
    const hasNoKey = keys.length === 0 && missingKeys(condition, environment, new Set()).length === 0;
    return [{ ...standing, needed, keys, ...hasNoKey ? { no_key: true } : {} }];
  });
}

function agree([first, ...rest]: readonly PresentedEvidence[]): boolean {
  return first === undefined || rest.every((other) => sameObservation(first, other));
}

/** The keys of statements, by key id. */
function signersOf(
  items: readonly PresentedEvidence[],
  condition: CompiledCondition,
  { keys }: Environment,
): readonly TrustedKey[] {
  const signed = new Set(items.map(({ submission }) => submission?.public_key));
  return shownKeys([...keysOf(condition, keys).values()].filter(({ public_key }) => signed.has(public_key)));
}

function shownKeys(keys: readonly TrustedKey[]): readonly TrustedKey[] {
  return sortedBy(keys, ({ key_id }) => key_id).slice(0, KEYS_PER_CONDITION).map(({ key_id, public_key }) => ({
    key_id,
    public_key,
  }));
}

function missingKeys(
  condition: CompiledCondition,
  { keys }: Environment,
  signed: ReadonlySet<string | undefined>,
): readonly TrustedKey[] {
  const { authorized_key_ids } = condition.condition.evidence_use_policy;
  const able = [...keysOf(condition, keys).values()].filter(({ key_id, public_key }) =>
    !signed.has(public_key) && (authorized_key_ids === undefined || authorized_key_ids.includes(key_id))
  );
  return shownKeys(able);
}
