/**
 * Claim 22: every acceptance time follows from a recorded clock reading.
 *
 * @module
 */

import { identify, type Sha256 } from "../../../canonical/identity.ts";
import { asJson } from "../../../run/primitives.ts";
import { atRevision, violation } from "../findings.ts";
import type { ChainStep } from "../step.ts";
import type { Violation } from "../types.ts";

/** Compares a record's acceptance time with its reading and with the record before. */
export function checkTime(sha256: Sha256, { record, previous }: ChainStep): Violation | null {
  const place = atRevision(record.revision);
  const { acceptance_time: time, body: { time_source } } = record;
  const isSource = identify(sha256, "time-source", asJson(time_source)) === time.source_material_identity &&
    time_source.time_authority_id === time.time_authority_id &&
    time_source.authority_revision === time.authority_revision;
  if (!isSource) return violation("time_source_mismatch", place);
  const least = previous?.acceptance_time.accepted_audit_instant ?? 0;
  const instant = Math.max(time_source.reading_unix_millis, least);
  return instant === time.accepted_audit_instant ? null : violation("acceptance_time_mismatch", place);
}
