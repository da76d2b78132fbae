/**
 * Laws, commands and evidence for tests of the kernel.
 *
 * @module
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, type KeyObject, sign as signBytes } from "node:crypto";
import type { JsonValue } from "../../../src/canonical/json.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../../../src/law/law.ts";
import type { LawEnvironment } from "../../../src/law/types.ts";
import type { TypedValue } from "../../../src/law/value/types.ts";
import {
  type Accepted,
  type CreateCommand,
  type Decision,
  type Environment,
  environmentUnder,
  type EvaluateCommand,
  type OpenCommand,
  type Request,
  type Stamps,
  type SubmitCommand,
} from "../../../src/run/command.ts";
import { type CompiledLaw, compileLaw } from "../../../src/run/compile.ts";
import { type CallerEvidence, hashValue, type PresentedEvidence } from "../../../src/run/evidence.ts";
import { asJson } from "../../../src/run/primitives.ts";
import type { OperatorProfile } from "../../../src/run/profile.ts";
import type { AcquisitionWitness, Head, RunState } from "../../../src/run/types.ts";
import { PREDICATE_NAMES } from "../../../src/law/value/predicates.ts";
import type { EvaluatedAttempt } from "../../../src/run/attempt.ts";
import type { QualificationEnvironment } from "../../../src/run/qualify.ts";
import { statementTexts } from "../../../src/run/statement.ts";
import { type Editable, flag, LIMITS, policy, stage } from "./law_specs.ts";

/** SHA-256 of this runtime. */
export const SHA256 = HOST_PRIMITIVES.sha256;

const BUILTIN = new Set(["env", "json", "time", "http", "rest"]);

/** An environment where every provider has every check, and the schema `release` version `1` is registered. */
export const OPEN_ENVIRONMENT: LawEnvironment = {
  limits: LIMITS,
  hasSchema: (schemaId, version) => schemaId === "release" && version === "1",
  findCheck: (provider_id, check_id) => ({
    provider_id,
    check_id,
    channel: BUILTIN.has(provider_id) ? "local_acquisition" : "provider_acquisition",
    allowed_comparators: PREDICATE_NAMES.map((name) => name.replace(/(?<!^)[A-Z]/g, "_$&").toLowerCase()),
    result_types: ["any"],
    params_schema: true,
    checkParams: () => null,
  }),
};

/** The compiled law of a valid spec. */
export function lawOf(spec: Editable): CompiledLaw {
  const result = constructLaw(spec as JsonValue, OPEN_ENVIRONMENT);
  assert.ok(result.ok, JSON.stringify(result));
  return compileLaw(result.law, lawIdentity(SHA256, result.law), graphIdentity(SHA256, result.law));
}

/** A key pair of RFC 8032, 7.1: the public key in base64, and a function that signs text. */
export interface TestKey {
  readonly key_id: string;
  readonly public_key: string;
  readonly sign: (text: string) => string;
}

function privateKeyOf(secret: string): KeyObject {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.from(secret, "hex")]);
  return createPrivateKey({ key: der, format: "der", type: "pkcs8" });
}

function testKey(keyId: string, secret: string, publicKey: string): TestKey {
  const key = privateKeyOf(secret);
  return {
    key_id: keyId,
    public_key: Buffer.from(publicKey, "hex").toString("base64"),
    sign: (text) => signBytes(null, Buffer.from(text), key).toString("base64"),
  };
}

/** The key of test 1. */
export const KEY_1 = testKey(
  "ci-1",
  "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
  "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
);

/** The key of test 2. */
export const KEY_2 = testKey(
  "ci-2",
  "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
  "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
);

/** A key of a person: the same for the same number. */
export function numberedKey(keyId: string, number: number): TestKey {
  const secret = number.toString(16).padStart(64, "0");
  const pem = createPublicKey(privateKeyOf(secret)).export({ format: "der", type: "spki" });
  return testKey(keyId, secret, pem.subarray(-32).toString("hex"));
}

/** The trust policy that requires a signature by one of these keys. */
export function trusting(...keys: TestKey[]): OperatorProfile["trust"]["default_policy"] {
  return { require_signature: { keys: keys.map(({ key_id, public_key }) => ({ key_id, public_key })) } };
}

/** The profile of a plain configuration, with changes. */
export function profileWith(changes: Partial<OperatorProfile> = {}): OperatorProfile {
  return {
    value_limits: { maximum_value_bytes: 1_048_576, maximum_payload_bytes: 1_048_576 },
    validation: {
      strict: true,
      profile: "strict_core_v1",
      allow_permissive: false,
      enable_lexicographic: true,
      enable_deep_equals: true,
    },
    trust: { min_lane: "verified", default_policy: "audit", providers: [] },
    anchors: [],
    permissive: { enabled: false, exempt_providers: ["ledger_read", "ledger"] },
    policy: { engine: "permit_all" },
    proof_budget: 2 ** 20,
    ...changes,
  };
}

/** The environment of decisions under a changed profile. */
export function environmentWith(changes: Partial<OperatorProfile> = {}): Environment {
  return environmentUnder(HOST_PRIMITIVES, profileWith(changes));
}

/** The default reading of the clock, Unix milliseconds. */
export const NOW = 1_760_000_000_000;

/** Stamps of a time authority that reads `millis`. */
export function stampsAt(millis: number = NOW): Stamps {
  return {
    time: { time_authority_id: "gate.system_clock", authority_revision: "1", reading_unix_millis: millis },
  };
}

/** A number as 32 hex digits. */
export function hex32(number: number): string {
  return number.toString(16).padStart(32, "0");
}

/** A local caller's request under an operation identity. */
export function requestOf(operation: number): Request {
  return {
    operation_id: hex32(operation),
    invocation_identity: SHA256(`invocation ${operation}`),
    attribution: {
      principal: "stdio",
      auth_method: "local",
      roles_matched: [],
      policy_class: null,
      tenants: [1],
    },
    admission_kind: "local",
  };
}

/** A creation with an allocated run id. */
export function createCommand(changes: Partial<CreateCommand> = {}): CreateCommand {
  return {
    kind: "create",
    ...requestOf(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
    allocation: { authority_id: "gate.random", run_id: hex32(0xabc) },
    contracts: [],
    schemas: [],
    ...changes,
  };
}

/** Opens a stage. */
export function openCommand(operation: number, expected_head: Head, stage_id: string): OpenCommand {
  return { kind: "open", ...requestOf(operation), expected_head, stage_id };
}

/** Evaluates a stage. */
export function evaluateCommand(
  operation: number,
  expected_head: Head,
  stage_id: string,
  changes: Partial<EvaluateCommand> = {},
): EvaluateCommand {
  return {
    kind: "evaluate",
    ...requestOf(operation),
    expected_head,
    stage_id,
    caller_evidence: [],
    schema_verdicts: new Map(),
    acquired: [],
    acquisition_failures: [],
    ...changes,
  };
}

/** Submits a JSON artifact to the whole run. */
export function submitCommand(
  operation: number,
  expected_head: Head,
  changes: Partial<SubmitCommand> = {},
): SubmitCommand {
  return {
    kind: "submit",
    ...requestOf(operation),
    expected_head,
    content_type: "application/json",
    payload: { kind: "json", value: { note: "done" } },
    scope: { kind: "run_wide" },
    ...changes,
  };
}

/** The decision; fails the test unless it is accepted. */
export function accepted(decision: Decision): Accepted {
  assert.equal(decision.outcome, "accepted", JSON.stringify(decision.result));
  return decision as Accepted;
}

/** An item of a caller's evidence. */
export function callerItem(
  condition_id: string,
  value: TypedValue,
  changes: Partial<CallerEvidence> = {},
): CallerEvidence {
  return { condition_id, retention: { retention: "RetainCanonicalValue" }, value, ...changes };
}

/** A Boolean. */
export function bool(value: boolean): TypedValue {
  return { value, value_type: "Boolean" };
}

/** An integer. */
export function int(value: number): TypedValue {
  return { value, value_type: "Integer" };
}

/** A caller's item as the kernel presents it. */
export function presented(
  condition_id: string,
  value: TypedValue,
  changes: Partial<PresentedEvidence> = {},
): PresentedEvidence {
  const { identity, content_hash } = hashValue(SHA256, value);
  return {
    item_id: "caller:0",
    condition_id,
    channel: "caller_submission",
    retention: "RetainCanonicalValue",
    lane: "verified",
    value,
    value_identity: identity,
    content_hash,
    hash_recomputes: true,
    ...changes,
  };
}

/** The acquired item of a binding: a value, null if it found nothing, or an observed error. */
export function acquiredItem(
  law: CompiledLaw,
  binding_id: string,
  value: TypedValue | null | { readonly error: string },
  changes: Partial<PresentedEvidence> = {},
  witness: Partial<AcquisitionWitness> = {},
): PresentedEvidence {
  const binding = law.bindingIndex.get(binding_id);
  assert.ok(binding !== undefined, binding_id);
  const { condition_id, channel, provider_id, check_id } = binding;
  const found = value !== null && "value" in value ? value : null;
  const hashes = found === null ? null : hashValue(SHA256, found);
  return {
    item_id: `binding:${binding_id}`,
    condition_id,
    channel,
    retention: law.conditionIndex.get(condition_id)?.retention ?? "RetainCanonicalValue",
    lane: "verified",
    value: found,
    ...hashes === null ? {} : { value_identity: hashes.identity, content_hash: hashes.content_hash },
    ...value !== null && "error" in value ? { error: { code: value.error, message: "Cannot read" } } : {},
    provider_id,
    binding_id,
    hash_recomputes: true,
    acquisition: {
      binding_id,
      provider_id,
      check_id,
      contract_identity: SHA256(`contract ${provider_id}`),
      trigger_time: { kind: "unix_millis", value: NOW - 20 },
      acquired_at: NOW - 10,
      lane: "verified",
      evidence_ref: null,
      content_type: null,
      provider_result: {
        value: hashes === null
          ? null
          : { kind: "json", content_hash: asJson(hashes.content_hash), value_identity: hashes.identity },
      },
      grant: {},
      ...witness,
    },
    ...changes,
  };
}

/** The id of the record that opened a stage of a state, or undefined. */
export function openRecordOf(state: RunState, stageId: string): string | undefined {
  return state.stages.find(({ stage_id }) => stage_id === stageId)?.stage_open_record_id ?? undefined;
}

/**
 * A law of one stage `s` that completes on the condition `c`, an Integer below 5, with bindings on the channels that it
 * allows.
 */
export function oneConditionLaw(
  policyChanges: Readonly<Record<string, JsonValue>> = {},
  changes: Editable = {},
): CompiledLaw {
  const evidence_use_policy = policy({ allowed_channels: [...CHANNELS], ...policyChanges });
  const binding = (binding_id: string, provider_id: string): Editable => ({
    binding_id,
    condition_id: "c",
    channel: BUILTIN.has(provider_id) ? "local_acquisition" : "provider_acquisition",
    provider_id,
    check_id: "read",
    params: { of: binding_id },
  });
  return lawOf({
    spec_version: "dag-v3",
    scenario_id: "one",
    namespace_id: 2,
    schemas: [{ schema_id: "release", version: "1" }],
    conditions: [{
      condition_id: "c",
      observation_domain: { domain: "Integer" },
      predicate: { predicate: "LessThan", expected: int(5) },
      evidence_use_policy,
      ...changes,
    }, flag("other")],
    acquisition_bindings: [
      binding("env-1", "env"),
      binding("env-2", "env"),
      binding("time-1", "time"),
      binding("scan-1", "scanner"),
      binding("scan-2", "scanner"),
      binding("ledger-1", "ledger"),
    ].filter(({ channel }) => evidence_use_policy.allowed_channels.includes(channel)),
    stages: [stage("s", "c"), stage("t", "other", { kind: "requires", requirement: { Condition: "s" } })],
    completion_requirement: { Condition: "t" },
  });
}

const CHANNELS = ["caller_submission", "local_acquisition", "provider_acquisition"] as const;

/** The attempt of tests that evaluate without a run. */
export const ATTEMPT: EvaluatedAttempt = {
  run_id: hex32(0xabc),
  stage_id: "s",
  expected_head: { record_id: SHA256("head"), revision: 7 },
  evaluated_at: NOW,
  clock_behind_run: false,
};

/** The environment of qualification under a changed profile. */
export function qualificationWith(
  law: CompiledLaw,
  changes: Partial<OperatorProfile> = {},
  attempt: EvaluatedAttempt | null = ATTEMPT,
): QualificationEnvironment {
  return { ...environmentWith(changes), law, attempt };
}

/**
 * An item with a signature by a key over its statement, which names the attempt and, on request, head and content hash.
 */
export function signed(
  law: CompiledLaw,
  item: PresentedEvidence,
  key: TestKey,
  attempt: EvaluatedAttempt = ATTEMPT,
  form: 0 | 1 | 2 | 3 = 0,
): PresentedEvidence {
  const observed = { observed_at: NOW - 100, ...item };
  const text = statementTexts(law, attempt, observed)[form];
  assert.ok(text !== undefined, "a statement needs a value");
  return { ...observed, signature: { scheme: "ed25519", key_id: key.key_id, signature: key.sign(text) } };
}
