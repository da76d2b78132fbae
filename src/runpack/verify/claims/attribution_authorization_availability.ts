/**
 * Claim 21: every record says who asked and under which operator profile, and both are there to be looked at.
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

/** What each way of admission says of the caller; a derived operation may be anybody's. */
const METHOD: Readonly<Record<Admission["kind"], Attribution["auth_method"] | null>> = {
  local: "local",
  bearer: "bearer_token",
  mtls: "mtls",
  derived: null,
};

/** What does not depend on hashing: cheap enough to be looked at in every record. */
export function checkAdmission({ record }: ChainStep): Violation | null {
  const place = atRevision(record.revision);
  if (record.operator_profile !== record.admission.profile_id) return violation("profile_mismatch", place);
  const method = METHOD[record.admission.kind];
  if (method !== null && method !== record.attribution.auth_method) return violation("auth_method_mismatch", place);
  return null;
}

/** Whether the provenance digest is that of the attribution and the invocation. */
export function checkProvenance(sha256: Sha256, { record }: ChainStep): Violation | null {
  const { attribution, invocation_identity } = record;
  const digest = sha256(canonicalize(asJson({ attribution, invocation_identity })));
  if (digest === record.admission.request_provenance_digest.value) return null;
  return violation("provenance_mismatch", atRevision(record.revision));
}
