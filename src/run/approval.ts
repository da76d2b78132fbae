/**
 * What an open stage asks a person, and the statement that answers it. The command line and the console use the same
 * functions, so both sign what they showed.
 */

import type { JsonObject } from "../canonical/json.ts";
import type { Identity, Sha256 } from "../canonical/identity.ts";
import type { Condition } from "../law/types.ts";
import { expectedOf, isTypedValue, type TypedValue } from "../law/value/types.ts";
import { hashValue } from "./evidence.ts";
import type { CompiledLaw } from "./compile.ts";
import { everyFinding, expectedBoolean, findingsOf, judgedFromRecord, type UnmetCause } from "./missing/causes.ts";
import type { Signers } from "./missing/sentence.ts";
import { openForEvidence, type Refusal, type WaitingCondition } from "./missing/waiting.ts";
import { asJson } from "./primitives.ts";
import { commentHash, EVIDENCE_CONTENT_TYPE, submittedStatementText } from "./submitted_statement.ts";
import type { Attempt, Head, RunState, StageEvaluatedBody, WaitingEvidence } from "./types.ts";

/** A condition of an open stage that takes statements, at the head that is shown. */
export interface ApprovalQuestion {
  readonly state: RunState;
  readonly scenario_law_identity: Identity;
  readonly stage_id: string;
  readonly stage_open_record_id: Identity;
  readonly condition: Condition;
  /** The last attempt at the stage; absent without one among the last attempts of the run. */
  readonly attempt: Attempt | undefined;
}

/** The answer of a person. */
export interface ApprovalAnswer {
  /** Null withdraws the earlier statement of the key. */
  readonly value: TypedValue | null;
  readonly comment: string | undefined;
  /** Unix milliseconds. */
  readonly observed_at: number;
}

/** An answer that is ready to be signed. */
export interface PreparedApproval {
  /** The text whose UTF-8 bytes are signed. */
  readonly statement: string;
  /** The arguments of `scenario_submit` besides `expected_head` and `operation_id`. */
  readonly submission: (keyId: string, signature: string) => JsonObject;
}

/** The questions of a run, in the order of the law. */
export function questionsOf(law: CompiledLaw, state: RunState): readonly ApprovalQuestion[] {
  return openForEvidence(law, state).flatMap(({ stage: { stage_id }, conditions }) => {
    const { stage_open_record_id = null } = state.stages.find((one) => one.stage_id === stage_id) ?? {};
    if (stage_open_record_id === null) return [];
    const attempt = state.recent_attempts.findLast((one) => one.stage_id === stage_id);
    return conditions.map(({ condition }) => condition).filter((condition) =>
      condition.evidence_use_policy.allowed_channels.includes("accepted_submission")
    ).map((condition) => ({
      state,
      scenario_law_identity: law.scenario_law_identity,
      stage_id,
      stage_open_record_id,
      condition,
      attempt,
    }));
  });
}

/** Values whose identities a reader knows without being shown them: booleans, and those that the law names. */
export function knownValues(sha256: Sha256, law: CompiledLaw): ReadonlyMap<Identity, TypedValue> {
  const values: TypedValue[] = [true, false].map((value) => ({ value, value_type: "Boolean" }));
  for (const { condition: { predicate } } of law.conditionIndex.values()) {
    values.push(...expectedOf(predicate).filter(isTypedValue));
  }
  return new Map(values.map((value) => [hashValue(sha256, value).identity, value]));
}

/**
 * What conditions of an attempt were judged from, by its record and the law alone: of other values it says that the record
 * has the hash.
 */
export function recordedCauses(
  law: CompiledLaw,
  known: ReturnType<typeof knownValues>,
  { stage_id, trace, evidence }: Pick<StageEvaluatedBody, "stage_id" | "trace"> & {
    readonly evidence: readonly Parameters<typeof judgedFromRecord>[0][];
  },
): readonly UnmetCause[] {
  const stage = law.stages[law.stageIndex.get(stage_id) ?? -1];
  if (stage === undefined) return [];
  const items = evidence.map((item) => judgedFromRecord(item, (identity) => known.get(identity), { isShown: true }));
  return everyFinding(findingsOf(stage, trace, items, null, () => true)).map((cause) => ({
    ...cause.reason === undefined ? { found: ["a value of which the record has the hash"] } : {},
    ...cause,
  }));
}

type Asked = Pick<ApprovalQuestion, "state" | "stage_id" | "condition">;

/** The statements on a question, the newest of each key. */
function statementsOn({ state, stage_id, condition: { condition_id } }: Asked): readonly WaitingEvidence[] {
  return (state.submitted_evidence ?? []).filter((one) =>
    one.stage_id === stage_id && one.condition_id === condition_id
  );
}

/** When a key signed last for a question, Unix milliseconds; 0 where it has no statement. */
export function lastStatementAt(asked: Asked, publicKey: string): number {
  return statementsOn(asked).find((one) => one.public_key === publicKey)?.observed_at ?? 0;
}

/** The statements of people against a question: refusals of an approval, and withdrawals. */
export function refusalsOn(sha256: Sha256, asked: Asked): readonly WaitingEvidence[] {
  const refusal = refusalIdentity(sha256, asked.condition);
  return statementsOn(asked).filter(({ value_identity }) => value_identity === null || value_identity === refusal);
}

/** The identity of the value that refuses a condition; null where it expects no single boolean. */
export function refusalIdentity(sha256: Sha256, condition: Condition): Identity | null {
  const expected = expectedBoolean(condition);
  return expected === null ? null : hashValue(sha256, { value: !expected, value_type: "Boolean" }).identity;
}

/** A statement against a question as sentences show it. */
export function refusalOf({ signature, observed_at, value_identity }: WaitingEvidence, comment?: string): Refusal {
  return {
    key_id: signature.key_id,
    observed_at,
    ...value_identity === null ? { withdrawn: true } : {},
    ...comment === undefined ? {} : { comment },
  };
}

/**
 * Who answered a question, and who still may.
 *
 * @param waiting What the server says of the question. Only it has the comments of refusals
 */
export function signersOf(sha256: Sha256, asked: ApprovalQuestion, waiting: WaitingCondition | undefined): Signers {
  const against = refusalsOn(sha256, asked);
  return {
    signed: statementsOn(asked).filter((one) => !against.includes(one)).map(({ signature }) => signature.key_id),
    refused: against.map((one) => {
      const known = refusalOf(one);
      const said = waiting?.refused?.find(({ key_id, observed_at }) =>
        key_id === known.key_id && observed_at === known.observed_at
      );
      return { ...known, ...said?.comment === undefined ? {} : { comment: said.comment } };
    }),
    may: waiting?.keys.map(({ key_id }) => key_id) ?? [],
  };
}

/** Prepares an answer: the statement names the law, the opening and the head that the question was shown with. */
export function prepareApproval(
  sha256: Sha256,
  question: ApprovalQuestion,
  { value, comment, observed_at }: ApprovalAnswer,
): PreparedApproval {
  const { state, scenario_law_identity, stage_id, stage_open_record_id } = question;
  const { namespace_id, run_id } = state.run_key;
  const { condition_id } = question.condition;
  const seen_head: Head = { record_id: state.head.record_id, revision: state.head.revision };
  const statement = submittedStatementText({
    namespace_id,
    scenario_law_identity,
    run_id,
    stage_id,
    stage_open_record_id,
    condition_id,
    observed_at,
    value_identity: value === null ? null : hashValue(sha256, value).identity,
    seen_head,
    ...comment === undefined ? {} : { comment_hash: commentHash(sha256, comment) },
  });
  return {
    statement,
    submission: (keyId, signature) => ({
      namespace_id,
      scenario_id: state.scenario_id,
      run_id,
      content_type: EVIDENCE_CONTENT_TYPE,
      scope: { kind: "stage_open", stage_id, stage_open_record_id },
      payload: {
        kind: "json",
        value: {
          condition_id,
          value: value === null ? null : asJson(value),
          observed_at,
          seen_head: asJson(seen_head),
          ...comment === undefined ? {} : { comment },
          signature: { scheme: "ed25519", key_id: keyId, signature },
        },
      },
    }),
  };
}
