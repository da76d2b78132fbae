/**
 * The decision on a pack as a SLSA Verification Summary: an in-toto statement for admission controllers
 * (docs/guide/runpacks.md "Attest").
 */

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { Identity } from "../../canonical/identity.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { asJson } from "../../run/primitives.ts";
import { STATEMENT_TYPE } from "./dsse.ts";

/** The type of the predicate, as the specification of SLSA spells it. */
const PREDICATE_TYPE = "https://slsa.dev/verification_summary/v1";
/** The minor version of that specification. */
const SLSA_VERSION = "1.0";
/** The extension field with the decision. Its name is a URI, as the specification requires. */
const EXTENSION = "urn:gate:admission:v1";

/** An artifact that was let through, by the plain SHA-256 of its bytes. */
export interface SummarySubject {
  readonly name: string;
  /** 64 lower-case hex digits. */
  readonly digest: string;
}

/** What a verification summary says. */
export interface VerificationSummary {
  readonly subjects: readonly SummarySubject[];
  /** A URI that stays the same when the procedure changes. */
  readonly verifier_id: string;
  readonly verifier_procedure: string;
  /** Unix milliseconds. */
  readonly verified_at: number;
  readonly resource_uri: string;
  readonly law: Identity;
  /** Texts by parameter id, in the order of the run. */
  readonly parameters: readonly (readonly [id: string, text: string])[];
  /** The plain SHA-256 of the canonical law; null where the law is not known. */
  readonly law_digest: string | null;
  readonly runpack: Identity;
  /** The plain SHA-256 of the single-file pack. */
  readonly runpack_digest: string;
  /** The plain SHA-256 of `manifest.json`, which a later signature does not change. */
  readonly manifest_digest: string;
  /** Whether the pack is admitted, and no waiver touches trust. */
  readonly is_admitted: boolean;
  /** The stage that was decided on; null for the run. */
  readonly stage: string | null;
  readonly waived: readonly string[];
  /** Members of the decision. */
  readonly decision: JsonObject;
}

/**
 * The statement of a summary, in canonical JSON. A level names whether the run or which stage is complete, and whether
 * anything was waived: a reader that ignores the extension does not take one for another.
 */
export function summaryStatement(summary: VerificationSummary): string {
  const { is_admitted, law, law_digest, parameters, runpack, stage, verifier_id, verifier_procedure, waived } = summary;
  const subject = stage === null ? "RUN" : "STAGE";
  const level = `GATE_${subject}_COMPLETE${waived.length === 0 ? "" : "_WITH_WAIVERS"}${
    stage === null ? "" : `:${stage}`
  }`;
  const query = parameters.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  return canonicalize({
    _type: STATEMENT_TYPE,
    subject: summary.subjects.map(({ name, digest }) => ({ name, digest: { sha256: digest } })),
    predicateType: PREDICATE_TYPE,
    predicate: {
      verifier: { id: verifier_id, version: { gate: verifier_procedure } },
      timeVerified: new Date(summary.verified_at).toISOString(),
      resourceUri: summary.resource_uri,
      policy: {
        uri: `urn:gate:scenario-law:${law}${query === "" ? "" : `?${query}`}`,
        ...law_digest === null ? {} : { digest: { sha256: law_digest } },
      },
      inputAttestations: [
        { uri: `urn:gate:runpack:${runpack}`, digest: { sha256: summary.runpack_digest } },
        { uri: `urn:gate:runpack:${runpack}#manifest.json`, digest: { sha256: summary.manifest_digest } },
      ],
      verificationResult: is_admitted ? "PASSED" : "FAILED",
      verifiedLevels: [is_admitted ? level : "FAILED"],
      slsaVersion: SLSA_VERSION,
      [EXTENSION]: asJson({ ...summary.decision, stage, waived }),
    },
  });
}
