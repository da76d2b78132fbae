/**
 * Checks a provider's result against its contract. A violation is an observed error: it is recorded, and the value is
 * not evidence.
 */

import type { ObservedError } from "../../run/types.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import { acceptsEverything } from "./params.ts";
import type { CheckContract, EvidenceResult, LoadedContract } from "../types.ts";

/**
 * The error of a result under its contract; null without one. Tests hold the built-in providers to their contracts, so
 * their results are not checked again on every call.
 *
 * @param loaded The contract of the queried provider
 * @param check The queried check
 * @throws {SchemaSandboxError} Where the result schema gave no verdict
 */
export async function examineResult(
  schemas: SchemaSandbox,
  loaded: LoadedContract,
  check: CheckContract,
  result: EvidenceResult,
): Promise<ObservedError | null> {
  if (result.error !== null) return result.error;
  if (loaded.source === "builtin") return null;
  return contentTypeError(check, result) ?? anchorError(check, result) ??
    await valueError(schemas, loaded, check, result);
}

function contentTypeError(
  { content_types: declared }: CheckContract,
  { content_type: got }: EvidenceResult,
): ObservedError | null {
  if (got === null || declared.length === 0) return null;
  const essence = essenceOf(got);
  if (declared.some((one) => essenceOf(one) === essence)) return null;
  const message = "The result's content type is not declared by the contract of the provider";
  return { code: "content_type_mismatch", message, details: { content_type: got.slice(0, 256), declared } };
}

/** A media type without its parameters, in lower case. */
function essenceOf(mediaType: string): string {
  return (mediaType.split(";")[0] ?? "").trim().toLowerCase();
}

function anchorError(
  { anchor_types: declared }: CheckContract,
  { evidence_anchor: anchor }: EvidenceResult,
): ObservedError | null {
  if (anchor === null || declared.length === 0 || declared.includes(anchor.anchor_type)) return null;
  const message = "The result's anchor type is not declared by the contract of the provider";
  return { code: "anchor_invalid", message, details: { anchor_type: anchor.anchor_type, declared } };
}

/** Validates the value. A result without a value is validated as null, which the result schema has to allow. */
async function valueError(
  schemas: SchemaSandbox,
  loaded: LoadedContract,
  check: CheckContract,
  { value }: EvidenceResult,
): Promise<ObservedError | null> {
  // A JSON Schema does not apply to bytes.
  if (value?.kind === "bytes" || acceptsEverything(check.result_schema)) return null;
  const key = `${loaded.contract_identity} result ${check.check_id}`;
  const verdict = await schemas.validate(key, check.result_schema, value === null ? null : value.value);
  if (verdict === "valid") return null;
  const what = value === null ? "a result without a value" : "the result";
  return { code: "result_schema_mismatch", message: `The result schema of check "${check.check_id}" rejects ${what}` };
}
