/**
 * Claim 21: every record names its caller and its operator profile, and the pack holds both.
 *
 * @module
 */

import { canonicalize } from "../../../canonical/canonicalize.ts";
import type { Sha256 } from "../../../canonical/identity.ts";
import { asJson } from "../../../run/primitives.ts";
import type { Admission, Attribution } from "../../../run/types.ts";
import { atRevision, violation } from "../findings.ts";
import type { ChainStep } from "../step.ts";
import type { Violation } from "../types.ts";

/** The authentication method of each kind of admission; null where any is possible. */
const METHOD: Readonly<Record<Admission["kind"], Attribution["auth_method"] | null>> = {
  local: "local",
  bearer: "bearer_token",
  mtls: "mtls",
  derived: null,
};

/** Checks the members that need no hashing, so that each record can be checked. */
export function checkAdmission({ record }: ChainStep): Violation | null {
  const place = atRevision(record.revision);
  if (record.operator_profile !== record.admission.profile_id) return violation("profile_mismatch", place);
  const method = METHOD[record.admission.kind];
  if (method !== null && method !== record.attribution.auth_method) return violation("auth_method_mismatch", place);
  return null;
}

/** Whether the provenance digest covers the attribution and the invocation. */
export function checkProvenance(sha256: Sha256, { record }: ChainStep): Violation | null {
  const { attribution, invocation_identity } = record;
  const digest = sha256(canonicalize(asJson({ attribution, invocation_identity })));
  if (digest === record.admission.request_provenance_digest.value) return null;
  return violation("provenance_mismatch", atRevision(record.revision));
}
