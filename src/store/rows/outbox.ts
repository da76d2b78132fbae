/** Records that wait for announcement as rows. */

import type { Sha256 } from "../../canonical/identity.ts";
import type { OperationFamily } from "../../run/types.ts";
import type { OutboxEntry } from "../outbox.ts";
import { integer, type Row, text } from "./columns.ts";
import { corruptRecord, sealHolds } from "./records.ts";

/**
 * The entry of a row of a record and its run; it has a fault where the seal of the receipt does not hold.
 *
 * @param place The column of its place
 */
export function toOutboxEntry(sha256: Sha256, row: Row, place: string): OutboxEntry {
  const run_key = { namespace_id: integer(row, "namespace_id"), run_id: text(row, "run_id") };
  const entry = {
    place: integer(row, place),
    run_key,
    scenario_id: text(row, "scenario_id"),
    scenario_law_identity: text(row, "law_identity"),
    revision: integer(row, "revision"),
    record_id: text(row, "record_id"),
    family: text(row, "family") as OperationFamily,
    result: text(row, "result"),
  };
  if (sealHolds(sha256, run_key, row)) return entry;
  return {
    ...entry,
    fault: corruptRecord(run_key, entry.revision, "its receipt differs from the written one").message,
  };
}
