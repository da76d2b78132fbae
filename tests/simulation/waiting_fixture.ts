/**
 * A run that takes evidence that waits, and signed statements for it.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../src/canonical/json.ts";
import type { TypedValue } from "../../src/law/value/types.ts";
import type { Decision, Environment, SubmitCommand } from "../../src/run/command.ts";
import type { CompiledLaw } from "../../src/run/compile.ts";
import { decide } from "../../src/run/decide/decide.ts";
import { hashValue } from "../../src/run/evidence.ts";
import { asJson } from "../../src/run/primitives.ts";
import {
  commentHash,
  EVIDENCE_CONTENT_TYPE,
  type SubmittedStatement,
  submittedStatementText,
} from "../../src/run/submitted_statement.ts";
import type { EvidenceSignature, RunState } from "../../src/run/types.ts";
import {
  accepted,
  createCommand,
  environmentWith,
  KEY_1,
  KEY_2,
  NOW,
  oneConditionLaw,
  openCommand,
  SHA256,
  stampsAt,
  submitCommand,
  type TestKey,
} from "./kernel/fixture.ts";

/** The policy of a condition for which signed statements wait. */
export const WAITS: Readonly<Record<string, JsonValue>> = {
  allowed_channels: ["caller_submission", "accepted_submission"],
  authorization: "signature",
  combination: { combination: "Quorum", minimum: 1 },
};

/** {@link oneConditionLaw} whose condition `c` takes evidence that waits. */
export function waitingLaw(changes: Readonly<Record<string, JsonValue>> = {}): CompiledLaw {
  return oneConditionLaw({ ...WAITS, ...changes });
}

/** An environment that trusts these keys as keys of people. */
export function trustingPeople(...keys: readonly Pick<TestKey, "key_id" | "public_key">[]): Environment {
  return environmentWith({ evidence_keys: keys.map(({ key_id, public_key }) => ({ key_id, public_key })) });
}

/** The environment that trusts both keys of the kernel's tests. */
export const PEOPLE: Environment = trustingPeople(KEY_1, KEY_2);

/** A run whose stage `s` is open. */
export function openRun(law: CompiledLaw, environment: Environment = PEOPLE): RunState {
  const created = accepted(decide(law, null, createCommand(), stampsAt(), environment)).state;
  return accepted(decide(law, created, openCommand(2, created.head, "s"), stampsAt(), environment)).state;
}

/** A statement to sign: the members that a test changes. */
export interface StatementChanges extends Partial<Omit<SubmittedStatement, "value_identity" | "comment_hash">> {
  /** Null withdraws. */
  readonly value?: TypedValue | null;
  readonly comment?: string;
}

/** The payload of a statement that a key signs, at the head of a run whose stage `s` is open. */
export function signedPayload(
  law: CompiledLaw,
  state: RunState,
  key: TestKey,
  changes: StatementChanges = {},
): JsonObject & { readonly signature: JsonObject } {
  const { value = { value: 1, value_type: "Integer" }, comment, ...members } = changes;
  const statement: SubmittedStatement = {
    namespace_id: law.law.namespace_id,
    scenario_law_identity: law.scenario_law_identity,
    run_id: state.run_key.run_id,
    stage_id: "s",
    stage_open_record_id: openRecord(state),
    condition_id: "c",
    observed_at: NOW,
    seen_head: { record_id: state.head.record_id, revision: state.head.revision },
    ...members,
    value_identity: value === null ? null : hashValue(SHA256, value).identity,
    ...comment === undefined ? {} : { comment_hash: commentHash(SHA256, comment) },
  };
  const signature: EvidenceSignature = {
    scheme: "ed25519",
    key_id: key.key_id,
    signature: key.sign(submittedStatementText(statement)),
  };
  const { condition_id, observed_at, seen_head, valid_until } = statement;
  return {
    condition_id,
    value: value === null ? null : asJson(value),
    observed_at,
    seen_head: asJson(seen_head),
    ...valid_until === undefined ? {} : { valid_until },
    ...comment === undefined ? {} : { comment },
    signature: asJson(signature) as JsonObject,
  };
}

/** The record that opened the stage `s`. */
export function openRecord(state: RunState): string {
  return state.stages.find(({ stage_id }) => stage_id === "s")?.stage_open_record_id ?? "";
}

/** A command that submits evidence to the open stage `s`. */
export function evidenceCommand(
  operation: number,
  state: RunState,
  payload: JsonValue,
  changes: Partial<SubmitCommand> = {},
): SubmitCommand {
  return submitCommand(operation, state.head, {
    content_type: EVIDENCE_CONTENT_TYPE,
    payload: { kind: "json", value: payload },
    scope: { kind: "stage_open", stage_id: "s", stage_open_record_id: openRecord(state) },
    ...changes,
  });
}

/** The decision on a statement that is submitted at the head of the run. */
export function submit(
  law: CompiledLaw,
  state: RunState,
  payload: JsonValue,
  changes: Partial<SubmitCommand> = {},
  reading: number = NOW,
  environment: Environment = PEOPLE,
): Decision {
  const command = evidenceCommand(100 + state.head.revision, state, payload, changes);
  return decide(law, state, command, stampsAt(reading), environment);
}
