/**
 * Disclosure of raw values. Gate discloses them only if the operator allows it, and, where required, the provider's
 * entry too (docs/guide/trust.md, "Raw values").
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, member } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { EvidenceConfig } from "../config/types.ts";
import type { EvidenceResult, Provider } from "./types.ts";

/** A result as a caller sees it. */
export type DisclosedResult = EvidenceResult & { readonly withheld?: true };

/** Whether raw values of a provider may be disclosed. */
export function mayDiscloseRaw(evidence: EvidenceConfig, provider: Pick<Provider, "allow_raw">): boolean {
  return evidence.allow_raw_values && (!evidence.require_provider_opt_in || provider.allow_raw);
}

/**
 * A result as it may be disclosed. Without raw disclosure value and content type are null. Hash and signature are null
 * too, because a guess of the value could be tested against them. The body's hash in a request's anchor is redacted
 * likewise. `withheld` says that a value was found.
 */
export function discloseResult(result: EvidenceResult, raw: boolean): DisclosedResult {
  if (raw) return result;
  const evidence_anchor = withoutBodyHash(result.evidence_anchor);
  const hidden = { value: null, evidence_hash: null, signature: null, content_type: null };
  return { ...result, evidence_anchor, ...hidden, ...result.value === null ? {} : { withheld: true } };
}

function withoutBodyHash(anchor: EvidenceResult["evidence_anchor"]): EvidenceResult["evidence_anchor"] {
  if (anchor?.anchor_type !== "rest_request") return anchor;
  const parsed = parseJson(anchor.anchor_value);
  if (!parsed.ok || !isJsonObject(parsed.value) || member(parsed.value, "body_hash") === undefined) return anchor;
  return { ...anchor, anchor_value: canonicalize({ ...parsed.value, body_hash: "<redacted>" }) };
}
