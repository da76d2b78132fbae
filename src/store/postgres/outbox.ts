/**
 * The outbox in PostgreSQL. Transactions of several servers commit in another order than they begin, so no number says what was read.
 * The statement that appends a record also writes a row for each target; the row is removed once the record was announced.
 *
 * A target that no server has registered for seven days gets no rows, so that an outbox without readers stays small. The server that
 * registers it again adds them from the records.
 *
 * @module
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { RunFigures } from "../open_stages.ts";
import type { Outbox } from "../outbox.ts";
import { toEntry } from "../sqlite/outbox.ts";
import { integer, RECEIPT_COLUMNS, text } from "../sqlite/rows.ts";
import type { Database } from "./database.ts";

const REGISTER = `INSERT INTO gate.outbox_targets (target, holder, expires, seen) VALUES ($1, '', now(), now())
  ON CONFLICT (target) DO UPDATE SET seen = now()`;
// In a receipt the instant of acceptance comes first: its members are sorted. Servers and database may differ by an hour; what was
// announced before is announced again.
const INSTANT = `substring(r.result from '"accepted_audit_instant":(\\d{1,15})')::int8`;
const IS_AWAY = "SELECT 1 AS away FROM gate.outbox_targets WHERE target = $1 AND seen <= now() - interval '7 days'";
const RETURN = `WITH away AS (
    UPDATE gate.outbox_targets AS o SET seen = now()
    FROM (SELECT target, seen FROM gate.outbox_targets WHERE target = $1 FOR UPDATE) AS old
    WHERE o.target = old.target AND old.seen <= now() - interval '7 days'
    RETURNING 1000 * extract(epoch FROM old.seen + interval '7 days' - interval '1 hour') AS since)
  INSERT INTO gate.outbox (target, namespace_id, run_id, revision)
  SELECT $1, r.namespace_id, r.run_id, r.revision FROM gate.records AS r JOIN away ON ${INSTANT} >= away.since
  WHERE r.family IN ('open_stage', 'evaluate_stage') ORDER BY ${INSTANT}, r.namespace_id, r.run_id, r.revision`;
// A lease that ends later than a new one was taken before the clock was set back: its holder may be gone.
const LEASE = `UPDATE gate.outbox_targets SET holder = $2, expires = now() + $3 * interval '1 millisecond'
  WHERE target = $1 AND (holder = $2 OR expires <= now() OR expires > now() + $3 * interval '1 millisecond')
  RETURNING 1 AS held`;
const RELEASE = "UPDATE gate.outbox_targets SET expires = now() WHERE target = $1 AND holder = $2";
const PENDING = `SELECT o.place, u.namespace_id, u.run_id, u.scenario_id, u.law_identity, ${RECEIPT_COLUMNS}
  FROM (SELECT * FROM gate.outbox WHERE target = $1 AND place <> ALL ($2::int8[]) ORDER BY place LIMIT $3) AS o
  JOIN gate.runs AS u ON u.namespace_id = o.namespace_id AND u.run_id = o.run_id
  JOIN gate.records AS r ON r.namespace_id = o.namespace_id AND r.run_id = o.run_id AND r.revision = o.revision ORDER BY o.place`;
// The row of the target is locked, so that the lease cannot go to another holder meanwhile.
const SETTLE = `WITH held AS (SELECT 1 FROM gate.outbox_targets WHERE target = $1 AND holder = $2 FOR UPDATE),
  removed AS (DELETE FROM gate.outbox WHERE target = $1 AND place = ANY ($3::int8[]) AND EXISTS (SELECT 1 FROM held))
  SELECT count(*) AS held FROM held`;

const FIGURES = `SELECT status, count(*) AS runs, (SELECT min(opened) FROM gate.open_stages) AS opened
  FROM gate.runs GROUP BY status`;

type Use = <Result>(call: () => Promise<Result>) => Promise<Result>;

/** The outbox of a database. */
export function createPostgresOutbox(database: Database, sha256: Sha256, use: Use): Outbox {
  return {
    register: (target) =>
      use(async () => {
        const isAway = (await database.query(IS_AWAY, [target])).length > 0;
        await database.query(isAway ? RETURN : REGISTER, [target]);
      }),
    lease: (target, holder, millis) =>
      use(async () => (await database.query(LEASE, [target, holder, millis])).length === 1),
    release: (target, holder) => use(async () => void await database.query(RELEASE, [target, holder])),
    pending: (target, { open }, limit) =>
      use(async () => {
        const rows = await database.query(PENDING, [target, open, limit]);
        return rows.map((row) => toEntry(sha256, row, "place"));
      }),
    settle: (target, holder, done) =>
      use(async () => {
        const [row] = await database.query(SETTLE, [target, holder, done]);
        return row !== undefined && integer(row, "held") === 1;
      }),
  };
}

/** The figures of all runs. */
export async function readFigures(database: Database): Promise<RunFigures> {
  const rows = await database.query(FIGURES);
  const runsOf = (status: string): number => {
    const row = rows.find((one) => text(one, "status") === status);
    return row === undefined ? 0 : integer(row, "runs");
  };
  const opened = rows[0]?.["opened"] ?? null;
  return {
    active: runsOf("active"),
    complete: runsOf("complete"),
    oldestOpened: opened === null ? null : integer(rows[0] ?? {}, "opened"),
  };
}
