/**
 * Claim 14: every stored payload is present, matches its record, and was allowed in the state before it.
 *
 * @module
 */

import { decide } from "../../../run/decide/decide.ts";
import { maximumPayloadBytes } from "../../../run/evidence.ts";
import { hashPayload } from "../../../run/payload.ts";
import type { ContentHash } from "../../../run/types.ts";
import type { Identity } from "../../../canonical/identity.ts";
import { requestOf } from "../procedure_request.ts";
import { atRevision, violation } from "../findings.ts";
import type { Step } from "../step.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** Checks the payload, its content type and its scope. */
export function checkSubmission(step: Step): Violation | null {
  const code = faultOf(step);
  return code === null ? null : violation(code, atRevision(step.record.revision));
}

function faultOf(step: Step): ViolationCode | null {
  const { record } = step;
  if (record.record_kind === "run_created") {
    return record.body.genesis.kind === "declared" ? payloadFault(step, record.body.genesis) : null;
  }
  if (record.record_kind !== "artifact_submitted") return null;
  return payloadFault(step, record.body) ?? placeFault(step);
}

function payloadFault(
  { values: { payload }, law, environment }: Step,
  named: { readonly payload_identity: Identity; readonly content_hash: ContentHash },
): ViolationCode | null {
  if (payload === null) return "payload_missing";
  const hashed = hashPayload(environment.primitives.sha256, payload);
  if (hashed === null) return "payload_invalid";
  if (hashed.identity !== named.payload_identity) return "payload_mismatch";
  if (hashed.content_hash.value !== named.content_hash.value) return "content_hash_mismatch";
  return hashed.bytes > maximumPayloadBytes(law, environment.profile) ? "payload_invalid" : null;
}

/** The violation of scope or content type that the kernel finds. */
function placeFault({ record, before, law, environment, values: { payload } }: Step): ViolationCode | null {
  if (record.record_kind !== "artifact_submitted" || before === null || payload === null) return null;
  const { content_type, scope, time_source } = record.body;
  const command = {
    kind: "submit",
    ...requestOf(record),
    expected_head: before.head,
    content_type,
    scope,
    payload,
  } as const;
  switch (decide(law, before, command, { time: time_source }, environment).outcome) {
    case "accepted":
      return null;
    case "content_type_rejected":
      return "content_type_invalid";
    case "payload_rejected":
      return "payload_invalid";
    default:
      return "scope_mismatch";
  }
}
