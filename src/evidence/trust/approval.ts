/**
 * A person's approval: a value for one condition, signed together with its namespace, law, run and stage, so that it
 * counts for these only.
 */

import { identifyCanonical, type Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { TypedValue } from "../../law/value/types.ts";
import { hashValue, type PresentedEvidence } from "../../run/evidence.ts";
import { asJson } from "../../run/primitives.ts";
import { type AttemptScope, hasBoundSignature, statementTexts } from "../../run/statement.ts";
import type { Head } from "../../run/types.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import type { SigningKey } from "./signing_key.ts";

/** The approved value and its scope. */
export interface Approval {
  readonly namespace_id: number;
  readonly scenario_law_identity: Identity;
  readonly run_id: string;
  readonly stage_id: string;
  readonly condition_id: string;
  readonly value: TypedValue;
  /** Unix milliseconds. */
  readonly observed_at: number;
  /** The head at which it is valid; null = any head of the run. */
  readonly head: Head | null;
  readonly retention: "RetainCanonicalValue" | "RetainDigestOnly";
}

/** A signed approval. */
export interface SignedApproval {
  /** An item of `caller_evidence`, ready to send. */
  readonly item: JsonObject;
  /** The signed canonical text. */
  readonly statement: string;
  /** Identity of kind `evidence-statement`. */
  readonly statement_identity: Identity;
}

/** A head that no run has, for a statement without a head. */
const ANY_HEAD: Head = { record_id: "", revision: 0 };

/**
 * Signs an approval and verifies it as an evaluation will.
 *
 * @param keyId Name of the public key in the configuration of the gate that trusts it
 * @throws {Error} Where the signature does not verify, which a valid key rules out
 */
export function signApproval(key: SigningKey, keyId: string, approval: Approval): SignedApproval {
  const { sha256 } = HOST_PRIMITIVES;
  const { namespace_id, scenario_law_identity, run_id, stage_id, condition_id, value, observed_at, retention } =
    approval;
  const law = { law: { namespace_id }, scenario_law_identity, bindingIndex: new Map() };
  const scope: AttemptScope = { run_id, stage_id, expected_head: approval.head ?? ANY_HEAD };
  const unsigned: PresentedEvidence = {
    item_id: "caller:0",
    condition_id,
    channel: "caller_submission",
    retention,
    lane: "verified",
    value,
    value_identity: hashValue(sha256, value).identity,
    hash_recomputes: true,
    observed_at,
  };
  const statement = statementTexts(law, scope, unsigned)[approval.head === null ? 1 : 0] ?? "";
  const signature = { scheme: "ed25519", key_id: keyId, signature: key.sign(statement) } as const;
  const keys = new Map([[keyId, { key_id: keyId, public_key: key.public_key }]]);
  if (!hasBoundSignature(HOST_PRIMITIVES, keys, law, scope, { ...unsigned, signature })) {
    throw new Error("Cannot sign approval: its own signature does not verify");
  }
  return {
    item: { condition_id, retention: { retention }, value: asJson(value), observed_at, signature: asJson(signature) },
    statement,
    statement_identity: identifyCanonical(sha256, "evidence-statement", statement),
  };
}
