/**
 * The outbox in SQL. Rows of records are in the order of their commits, so one number for each target is enough: the row up to which
 * everything was announced. An append writes nothing for it.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { Gate } from "../gate.ts";
import { type Outbox, settledPlace } from "../outbox.ts";
import type { Connection } from "./connection.ts";
import type { StoreFile } from "./file.ts";
import { toOutboxEntry } from "../rows/outbox.ts";
import { RECEIPT_COLUMNS } from "../rows/records.ts";

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
          connection.statement(PENDING).all(after, target, limit).map((row) => toOutboxEntry(sha256, row, "record_row"))
        )
      ),
    settle: (target, holder, _done, progress) => change(SETTLE, settledPlace(progress), target, holder),
  };
}
