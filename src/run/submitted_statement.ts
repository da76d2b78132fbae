/**
 * Evidence that waits: the payload of its submission, and the statement that its signature signs
 * (docs/format/evidence_statement.md, "Submitted evidence").
 */

import { decodeBase64 } from "../canonical/base64.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash, type Identity, type Sha256 } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import type { JsonPath } from "../canonical/path.ts";
import {
  anything,
  boundedText,
  closed,
  type FaultSink,
  identity,
  integer,
  oneOf,
  orNull,
  text,
} from "../canonical/shape.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { type TypedValue, VALUE_TYPES } from "../law/value/types.ts";
import { asJson, type Primitives } from "./primitives.ts";
import type { ContentHash, EvidenceSignature, Head, SubmittedEvidence } from "./types.ts";

/** The content type of a submission whose payload is evidence that waits. */
export const EVIDENCE_CONTENT_TYPE = "application/vnd.gate.evidence+json";

/** The member `statement` of the signed statement. No statement of an evaluation has it, so neither passes as the other. */
export const SUBMITTED_STATEMENT = "gate.submitted-evidence/v1";

/** Most UTF-8 bytes of a comment. */
export const COMMENT_BYTES = 4096;

/** The payload of a submission of {@link EVIDENCE_CONTENT_TYPE}. Times are Unix milliseconds. */
export interface SubmittedPayload {
  readonly condition_id: string;
  /** Null withdraws the earlier statement of the key. */
  readonly value: TypedValue | null;
  readonly observed_at: number;
  /** The head of the run that the signer saw. */
  readonly seen_head: Head;
  /** The last instant at which the value counts; absent for no end. */
  readonly valid_until?: number;
  readonly comment?: string;
  readonly signature: EvidenceSignature;
}

/** The signed statement: what the record of a submission retains of it, with the place of the opening. */
export interface SubmittedStatement
  extends Omit<SubmittedEvidence, "value_type" | "content_hash" | "schema_verdict" | "public_key" | "signature"> {
  readonly namespace_id: number;
  readonly scenario_law_identity: Identity;
  readonly run_id: string;
  readonly stage_id: string;
  readonly stage_open_record_id: Identity;
}

const identifier = boundedText(1, SPEC_LIMITS.identifierBytes);
const payloadShape = closed({
  condition_id: identifier,
  value: orNull(closed({ value: anything, value_type: oneOf(...VALUE_TYPES) })),
  observed_at: integer(0),
  seen_head: closed({ record_id: identity, revision: integer(1) }),
  signature: closed({ scheme: oneOf("ed25519"), key_id: identifier, signature: text }),
}, { valid_until: integer(0), comment: boundedText(1, COMMENT_BYTES) });

/**
 * Reads the payload of submitted evidence.
 *
 * @returns Undefined after it added a fault
 */
export function readSubmittedPayload(
  faults: FaultSink,
  value: JsonValue,
  path: JsonPath,
): SubmittedPayload | undefined {
  return payloadShape(faults, value, path) as SubmittedPayload | undefined;
}

/** The hash of a comment, as the statement names it. */
export function commentHash(sha256: Sha256, comment: string): ContentHash {
  return contentHash(sha256, comment);
}

/**
 * The canonical text that a signature of submitted evidence signs.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { submittedStatementText } from "@/run/submitted_statement.ts";
 *
 * const record = "0".repeat(64);
 * const text = submittedStatementText({
 *   namespace_id: 1,
 *   scenario_law_identity: record,
 *   run_id: "0".repeat(32),
 *   stage_id: "review",
 *   stage_open_record_id: record,
 *   condition_id: "approved",
 *   observed_at: 1,
 *   value_identity: null,
 *   seen_head: { record_id: record, revision: 2 },
 * });
 * assert.ok(text.includes('"statement":"gate.submitted-evidence/v1"'));
 * ```
 */
export function submittedStatementText(statement: SubmittedStatement): string {
  return canonicalize({ statement: SUBMITTED_STATEMENT, ...asJson(statement) as Record<string, JsonValue> });
}

/**
 * Whether a signature over the statement verifies.
 *
 * @param publicKey Base64 of the 32 bytes of the key
 */
export function isSubmittedStatementSigned(
  primitives: Primitives,
  publicKey: string,
  { signature: given }: EvidenceSignature,
  statement: SubmittedStatement,
): boolean {
  const key = decodeBase64(publicKey);
  const signature = decodeBase64(given);
  if (key?.length !== 32 || signature?.length !== 64) return false;
  return primitives.verifyEd25519(key, submittedStatementText(statement), signature);
}
