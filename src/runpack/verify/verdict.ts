/**
 * The verdict of a verification: what two verifiers have to agree on. A report also names what a verifier was given and
 * what it assumed, so reports of one verdict may differ (docs/format/runpack.md "Verdict").
 *
 * @module
 */

import { identify, type Identity, type Sha256 } from "../../canonical/identity.ts";
import { asJson } from "../../run/primitives.ts";
import type { ParameterValue } from "../../law/types.ts";
import type { VerificationReport } from "./types.ts";

/** What a verdict covers beside the report. */
export interface VerdictSubject {
  /** The law that the manifest names; null without a valid manifest. */
  readonly law: Identity | null;
  /** The parameters of the first record; null where it was not replayed. */
  readonly parameters: readonly ParameterValue[] | null;
}

/** The identity of a verdict, kind `verdict`. */
export function verdictIdentity(
  sha256: Sha256,
  { claims, profile, runpack_identity }: VerificationReport,
  { law, parameters }: VerdictSubject,
): Identity {
  const statuses = Object.fromEntries(claims.map(({ claim, status }) => [claim, status.status]));
  return identify(sha256, "verdict", {
    law,
    parameters: parameters === null ? null : asJson(parameters),
    profile,
    statuses,
    subject: runpack_identity,
  });
}
