/**
 * Claim 11: every receipt follows from its record and the state after it, under the operation of the record. No
 * operation occurs twice.
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, member } from "../../../canonical/json.ts";
import { asJson } from "../../../run/primitives.ts";
import type { RunRecord } from "../../../run/types.ts";
import { isCanonicalText, readText, sameJson } from "../../format/canonical_text.ts";
import { atRevision, violation } from "../findings.ts";
import type { Violation } from "../types.ts";
import { FAMILY } from "../../../run/record.ts";

/** Whether the operation's family fits the record. */
export function checkFamily({ operation, record_kind, revision }: RunRecord): Violation | null {
  return operation.family === FAMILY[record_kind] ? null : violation("family_mismatch", atRevision(revision));
}

/** The expected line of a receipt. */
export function receiptLine({ operation, invocation_identity }: RunRecord, result: JsonObject): string {
  return canonicalize(asJson({ operation, invocation_identity, result }));
}

/** The violation of a receipt that differs from the expected line. */
export function explainReceipt(line: string, record: RunRecord): Violation {
  const place = atRevision(record.revision);
  const value = readText(line);
  if (!isJsonObject(value) || Object.keys(value).length !== 3 || !isCanonicalText(line, value)) {
    return violation("receipt_invalid", place);
  }
  const named = { operation: member(value, "operation"), invocation_identity: member(value, "invocation_identity") };
  const { operation, invocation_identity } = record;
  if (named.operation === undefined || named.invocation_identity === undefined) {
    return violation("receipt_invalid", place);
  }
  return violation(sameJson(named, { operation, invocation_identity }) ? "result_mismatch" : "receipt_mismatch", place);
}
