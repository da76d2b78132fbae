/**
 * Operation identities of a call with several steps. The caller names the call once; gate derives an operation identity
 * for each record (docs/format/records.md, "Derived operations").
 */

import { identify, type Sha256 } from "../canonical/identity.ts";
import type { OperationFamily } from "./types.ts";

/** The 32 hex digits that name a call with several steps, under the member name of its tool. */
export type DerivedFrom = { readonly request_id: string } | { readonly trigger_id: string };

/** Hex digits of an operation identity: 128 bits. */
const OPERATION_DIGITS = 32;

/**
 * The identity of a derived operation: the first 128 bits of the identity of kind `derived-operation` over the caller's
 * id, the family and the ordinal. The ordinal counts the operations of that family in the call, from 0.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHash } from "node:crypto";
 * import { derivedOperation } from "@/run/derived.ts";
 *
 * const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex");
 * const first = derivedOperation(sha256, { request_id: "0".repeat(32) }, "evaluate_stage", 0);
 * assert.match(first, /^[0-9a-f]{32}$/);
 * assert.notEqual(first, derivedOperation(sha256, { trigger_id: "0".repeat(32) }, "evaluate_stage", 0));
 * ```
 */
export function derivedOperation(
  sha256: Sha256,
  from: DerivedFrom,
  family: Exclude<OperationFamily, "create_run">,
  ordinal: number,
): string {
  return identify(sha256, "derived-operation", { ...from, family, ordinal }).slice(0, OPERATION_DIGITS);
}
