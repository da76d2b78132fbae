/**
 * The outbox in SQL. Rows of records are in the order of their commits, so one number for each target is enough: the row up to which
 * everything was announced. An append writes nothing for it.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { OperationFamily } from "../../run/types.ts";
import type { Gate } from "../gate.ts";
import { type Outbox, type OutboxEntry, settledPlace } from "../outbox.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { corruptRecord, integer, RECEIPT_COLUMNS, type Row, sealHolds, text } from "./rows.ts";

const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
const REGISTER = `INSERT INTO outbox_targets (target, settled, holder, expires)
  VALUES (?, (SELECT coalesce(max(record_row), 0) FROM records), '', 0) ON CONFLICT DO NOTHING`;
// A lease that ends later than a new one was taken before the clock was set back: its holder may be gone.
const LEASE = `UPDATE outbox_targets SET holder = ?2, expires = ${NOW} + ?3
  WHERE target = ?1 AND (holder = ?2 OR expires <= ${NOW} OR expires > ${NOW} + ?3)`;
const RELEASE = "UPDATE outbox_targets SET expires = 0 WHERE target = ? AND holder = ?";
const SETTLE = "UPDATE outbox_targets SET settled = max(settled, ?) WHERE target = ? AND holder = ?";
const PENDING =
  `SELECT r.record_row, runs.namespace_id, runs.run_id, runs.scenario_id, runs.law_identity, ${RECEIPT_COLUMNS}
  FROM records AS r JOIN runs ON runs.run_row = r.run_row
  WHERE r.record_row > coalesce(?, (SELECT settled FROM outbox_targets WHERE target = ?), 9223372036854775807)
  ORDER BY r.record_row LIMIT ?`;

/** The outbox of a file. */
export function createSqliteOutbox(file: StoreFile, sha256: Sha256, use: Gate): Outbox {
  const write = (work: (connection: Connection) => boolean): Promise<boolean> => use(() => file.writer.submit(0, work));
  const change = (sql: string, ...values: readonly (string | number)[]): Promise<boolean> =>
    write((connection) => connection.statement(sql).run(...values).changes === 1);
  return {
    register: async (target) => void await change(REGISTER, target),
    lease: (target, holder, millis) => change(LEASE, target, holder, millis),
    release: async (target, holder) => void await change(RELEASE, target, holder),
    pending: (target, { after }, limit) =>
      use(() =>
        file.readers.point((connection) =>
          connection.statement(PENDING).all(after, target, limit).map((row) => toEntry(sha256, row, "record_row"))
        )
      ),
    settle: (target, holder, _done, progress) => change(SETTLE, settledPlace(progress), target, holder),
  };
}

/**
 * The entry of a row of a record and its run; it has a fault where the seal of the receipt does not hold.
 *
 * @param place The column of its place
 */
export function toEntry(sha256: Sha256, row: Row, place: string): OutboxEntry {
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
