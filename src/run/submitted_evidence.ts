/**
 * Evidence that waits: the checks of its submission, and its items in an evaluation (docs/format/records.md, "Evidence
 * that waits").
 */

import type { WordOf } from "../canonical/words.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { Identity } from "../canonical/identity.ts";
import { pathAt, pathOf } from "../canonical/path.ts";
import { utf8Length } from "../canonical/utf8.ts";
import { collector } from "../law/refusals.ts";
import { checkInDomain } from "../law/value/typed_value.ts";
import type { TypedValue } from "../law/value/types.ts";
import type { Environment, Stamps, SubmitCommand } from "./command.ts";
import { type CompiledCondition, type CompiledLaw, keysOf } from "./compile.ts";
import {
  DOMAIN_CODES,
  hashValue,
  maximumValueBytes,
  type PresentedEvidence,
  type SubmissionFacts,
} from "./evidence.ts";
import {
  commentHash,
  EVIDENCE_CONTENT_TYPE,
  isSubmittedStatementSigned,
  readSubmittedPayload,
  type SubmittedPayload,
} from "./submitted_statement.ts";
import { STATEMENTS_PER_STAGE } from "./record_shapes.ts";
import type { RecordedEvidence, RunState, StageState, SubmittedEvidence, WaitingEvidence } from "./types.ts";

/** Most keys with a statement for one condition of an opening. */
export const KEYS_PER_CONDITION = 64;
/** How far `observed_at` may be ahead of the reading of the time authority, in milliseconds. */
export const AHEAD_MILLISECONDS = 60_000;

/** Why a submission of evidence is rejected. The list is closed. */
export type SubmissionCode =
  | WordOf<"statement_malformed scope_not_stage_open condition_not_found condition_of_other_stage">
  | WordOf<"channel_not_allowed value_type_mismatch value_invalid value_outside_domain value_too_large">
  | WordOf<"key_unknown key_not_authorized seen_head_unknown signature_invalid statement_in_future">
  | WordOf<"statement_expired statement_not_newer too_many_keys too_many_statements">;

/** Why a submission of evidence is rejected, and where. */
export interface SubmissionFault {
  readonly code: SubmissionCode;
  readonly path: string;
  readonly message: string;
}

/** Whether a media type is that of evidence that waits. Case and parameters have no effect. */
export function isEvidenceContentType(contentType: string): boolean {
  return contentType.split(";", 1)[0]?.trim().toLowerCase() === EVIDENCE_CONTENT_TYPE;
}

function fault(code: SubmissionCode, member: readonly string[], message: string): SubmissionFault {
  return { code, path: pathOf(pathAt("payload", "value", ...member)), message };
}

/** The state of the stage of an opening, with the submission's condition and the record of the opening. */
interface Opening {
  readonly state: RunState;
  readonly stage: StageState;
  readonly condition: CompiledCondition;
}

function findCondition(
  law: CompiledLaw,
  state: RunState,
  stageId: string,
  conditionId: string,
): Opening | SubmissionFault {
  const index = law.stageIndex.get(stageId) ?? -1;
  const stage = state.stages[index];
  const condition = law.conditionIndex.get(conditionId);
  if (condition === undefined || stage === undefined) {
    return fault("condition_not_found", ["condition_id"], `Condition "${conditionId}" is not in the law`);
  }
  if (law.stages[index]?.slotOf.has(conditionId) !== true) {
    const message = `Condition "${conditionId}" is not used by stage "${stageId}"`;
    return fault("condition_of_other_stage", ["condition_id"], message);
  }
  if (!condition.condition.evidence_use_policy.allowed_channels.includes("accepted_submission")) {
    const message = `Condition "${conditionId}" does not allow channel "accepted_submission"`;
    return fault("channel_not_allowed", ["condition_id"], message);
  }
  return { state, stage, condition };
}

function checkKey({ condition }: Opening, environment: Environment, given: SubmittedEvidence): SubmissionFault | null {
  const { key_id } = given.signature;
  const { authorized_key_ids } = condition.condition.evidence_use_policy;
  const isAuthorized = authorized_key_ids === undefined || authorized_key_ids.includes(key_id);
  // Every authorized key of a pinned condition is known, so another one is only not authorized.
  const isKnown = keysOf(condition, environment.keys).get(key_id)?.public_key === given.public_key;
  if (condition.pinned === null ? !isKnown : isAuthorized && !isKnown) {
    return fault("key_unknown", ["signature", "key_id"], `Key "${key_id}" is not one that the operator trusts`);
  }
  if (isAuthorized) return null;
  const message = `Key "${key_id}" is not among the authorized keys of condition "${given.condition_id}"`;
  return fault("key_not_authorized", ["signature", "key_id"], message);
}

function checkSeen({ state, stage }: Opening, { seen_head }: SubmittedEvidence, seen: Identity | undefined): boolean {
  const actual = seen_head.revision === state.head.revision ? state.head.record_id : seen;
  return seen_head.revision >= (stage.stage_open_revision ?? Infinity) &&
    seen_head.revision <= state.head.revision && seen_head.record_id === actual;
}

function checkTimes(given: SubmittedEvidence, reading: number): SubmissionFault | null {
  const { observed_at, valid_until } = given;
  if (observed_at > reading + AHEAD_MILLISECONDS) {
    const message = `Expected a time at most ${AHEAD_MILLISECONDS} ms ahead of ${reading}, got ${observed_at}`;
    return fault("statement_in_future", ["observed_at"], message);
  }
  if (valid_until === undefined || valid_until >= Math.max(observed_at, reading)) return null;
  const message = `Expected a time from ${Math.max(observed_at, reading)} on, got ${valid_until}`;
  return fault("statement_expired", ["valid_until"], message);
}

function checkPlace({ state, stage }: Opening, given: SubmittedEvidence): SubmissionFault | null {
  const own = (state.submitted_evidence ?? []).filter(({ stage_id }) => stage_id === stage.stage_id);
  const ofCondition = own.filter(({ condition_id }) => condition_id === given.condition_id);
  const earlier = ofCondition.find(({ public_key }) => public_key === given.public_key);
  if (earlier !== undefined) {
    if (given.observed_at > earlier.observed_at) return null;
    const message = `Expected a time after ${earlier.observed_at}, that of the key's last statement, ` +
      `got ${given.observed_at}`;
    return fault("statement_not_newer", ["observed_at"], message);
  }
  if (ofCondition.length >= KEYS_PER_CONDITION) {
    const message =
      `Condition "${given.condition_id}" has statements of ${KEYS_PER_CONDITION} keys, which is the limit`;
    return fault("too_many_keys", ["signature", "key_id"], message);
  }
  if (own.length < STATEMENTS_PER_STAGE) return null;
  const message = `Stage "${stage.stage_id}" has ${STATEMENTS_PER_STAGE} statements, which is the limit`;
  return fault("too_many_statements", [], message);
}

/**
 * Checks everything of submitted evidence but its value, which a verifier may not have.
 *
 * @param scope The opening that the submission names, checked against the state
 * @param seen The record of the run at the revision of `seen_head`
 * @param reading The reading of the time authority, Unix milliseconds
 */
export function checkSubmitted(
  law: CompiledLaw,
  state: RunState,
  environment: Environment,
  scope: { readonly stage_id: string; readonly stage_open_record_id: Identity },
  given: SubmittedEvidence,
  seen: Identity | undefined,
  reading: number,
): SubmissionFault | null {
  const opening = findCondition(law, state, scope.stage_id, given.condition_id);
  if ("code" in opening) return opening;
  const key = checkKey(opening, environment, given);
  if (key !== null) return key;
  const { condition_id, observed_at, value_identity, seen_head, valid_until, comment_hash } = given;
  const isSigned = isSubmittedStatementSigned(environment.primitives, given.public_key, given.signature, {
    namespace_id: law.law.namespace_id,
    scenario_law_identity: law.scenario_law_identity,
    run_id: state.run_key.run_id,
    stage_id: scope.stage_id,
    stage_open_record_id: scope.stage_open_record_id,
    condition_id,
    observed_at,
    value_identity,
    seen_head,
    ...valid_until === undefined ? {} : { valid_until },
    ...comment_hash === undefined ? {} : { comment_hash },
  });
  if (!isSigned) {
    const message = `Signature of key "${given.signature.key_id}" does not verify over this statement`;
    return fault("signature_invalid", ["signature", "signature"], message);
  }
  if (!checkSeen(opening, given, seen)) {
    const message = `Expected a head of the run since stage "${scope.stage_id}" was opened, got revision ` +
      `${seen_head.revision}`;
    return fault("seen_head_unknown", ["seen_head"], message);
  }
  return checkTimes(given, reading) ?? checkPlace(opening, given);
}

function checkValue(
  law: CompiledLaw,
  environment: Environment,
  conditionId: string,
  value: TypedValue,
): SubmissionFault | null {
  const domain = law.conditionIndex.get(conditionId)?.condition.observation_domain;
  const outside = domain === undefined ? null : checkInDomain(value, domain);
  if (outside !== null) {
    const [code, member] = DOMAIN_CODES[outside.code];
    return fault(code, ["value", member], outside.message);
  }
  const maximum = maximumValueBytes(law, environment.profile);
  const bytes = utf8Length(canonicalize(value.value));
  if (bytes <= maximum) return null;
  const message = `Expected a value of at most ${maximum} canonical bytes, got ${bytes}`;
  return fault("value_too_large", ["value", "value"], message);
}

/** The payload as the record retains it. A key that the profile does not have is retained as an empty text. */
function retain(
  environment: Environment,
  { condition }: Opening,
  payload: SubmittedPayload,
  command: SubmitCommand,
): SubmittedEvidence {
  const { condition_id, value, observed_at, seen_head, valid_until, comment, signature } = payload;
  const { sha256 } = environment.primitives;
  const hashed = value === null ? null : hashValue(sha256, value);
  return {
    condition_id,
    value_identity: hashed?.identity ?? null,
    ...value === null || hashed === null ? {} : { value_type: value.value_type, content_hash: hashed.content_hash },
    ...command.schema_verdict === undefined ? {} : { schema_verdict: command.schema_verdict },
    observed_at,
    seen_head,
    ...valid_until === undefined ? {} : { valid_until },
    ...comment === undefined ? {} : { comment_hash: commentHash(sha256, comment) },
    public_key: keysOf(condition, environment.keys).get(signature.key_id)?.public_key ?? "",
    signature,
  };
}

/** The payload of a command that submits evidence; a fault where it has another form. */
export function readSubmission(command: Pick<SubmitCommand, "payload">): SubmittedPayload | SubmissionFault {
  const { payload } = command;
  if (payload.kind !== "json") return fault("statement_malformed", [], "Expected a payload of kind json");
  const faults = collector();
  const read = readSubmittedPayload(faults, payload.value, pathAt("payload", "value"));
  const [first] = faults.report();
  if (first !== undefined || read === undefined) {
    const { path, message } = first ?? { path: "$.payload.value", message: "Expected submitted evidence" };
    return { code: "statement_malformed", path, message };
  }
  if (read.value !== null || read.valid_until === undefined) return read;
  return fault("statement_malformed", ["valid_until"], "A withdrawal has no end: expected no valid_until");
}

/** Decides a submission of evidence to an open stage: what its record retains, or why it is rejected. */
export function admitSubmission(
  law: CompiledLaw,
  state: RunState,
  command: SubmitCommand,
  stamps: Stamps,
  environment: Environment,
): SubmittedEvidence | SubmissionFault {
  const { scope } = command;
  if (scope.kind !== "stage_open") {
    const message = "Evidence waits for one opening: expected scope stage_open";
    return { code: "scope_not_stage_open", path: "$.scope", message };
  }
  const payload = readSubmission(command);
  if ("code" in payload) return payload;
  const found = findCondition(law, state, scope.stage_id, payload.condition_id);
  if ("code" in found) return found;
  const wrong = payload.value === null ? null : checkValue(law, environment, payload.condition_id, payload.value);
  if (wrong !== null) return wrong;
  const retained = retain(environment, found, payload, command);
  const reading = stamps.time.reading_unix_millis;
  const refused = checkSubmitted(law, state, environment, scope, retained, command.seen_record_id, reading);
  return refused ?? retained;
}

/** The evidence that waits for a stage, withdrawals left out, in revision order. */
export function waitingFor({ submitted_evidence = [] }: RunState, stageId: string): readonly WaitingEvidence[] {
  return submitted_evidence.filter(({ stage_id, value_identity }) => stage_id === stageId && value_identity !== null);
}

/** What qualification reads of evidence that waits. */
export function submissionFacts(
  { record_id, public_key, submitted_at, valid_until }: SubmissionFacts,
): SubmissionFacts {
  return { record_id, public_key, submitted_at, ...valid_until === undefined ? {} : { valid_until } };
}

/** What qualification reads of the submission of a recorded item; undefined for an item that did not wait. */
export function submissionOf(
  before: RunState | null,
  { submission_record_id }: Pick<RecordedEvidence, "submission_record_id">,
): SubmissionFacts | undefined {
  if (submission_record_id === undefined) return undefined;
  const waiting = before?.submitted_evidence?.find(({ record_id }) => record_id === submission_record_id);
  return waiting === undefined ? undefined : submissionFacts(waiting);
}

/** An item of an evaluation, from evidence that waits. */
function presentWaiting(waiting: WaitingEvidence, value: TypedValue): PresentedEvidence {
  const { record_id, condition_id, value_identity, content_hash, schema_verdict, observed_at, signature } = waiting;
  return {
    item_id: `submission:${record_id}`,
    condition_id,
    channel: "accepted_submission",
    retention: "RetainCanonicalValue",
    lane: "verified",
    value,
    ...value_identity === null ? {} : { value_identity },
    ...content_hash === undefined ? {} : { content_hash },
    observed_at,
    signature,
    hash_recomputes: true,
    ...schema_verdict === undefined ? {} : { schema_verdict },
    submission: submissionFacts(waiting),
  };
}

/**
 * The items of the evidence that waits for a stage, in revision order.
 *
 * @throws {TypeError} If a value is missing: no evaluation may leave out a statement
 */
export function presentSubmitted(
  state: RunState,
  stageId: string,
  values: ReadonlyMap<Identity, TypedValue>,
): readonly PresentedEvidence[] {
  return waitingFor(state, stageId).map((waiting) => {
    const value = values.get(waiting.value_identity ?? "");
    if (value === undefined) throw new TypeError(`Cannot evaluate: the value of "${waiting.record_id}" is missing`);
    return presentWaiting(waiting, value);
  });
}

/** The state's list after a submission: it replaces the earlier statement of its key for its condition. */
export function withSubmission(
  waiting: readonly WaitingEvidence[],
  added: WaitingEvidence,
): readonly WaitingEvidence[] {
  const others = waiting.filter(({ stage_id, condition_id, public_key }) =>
    stage_id !== added.stage_id || condition_id !== added.condition_id || public_key !== added.public_key
  );
  return [...others, added];
}
