/**
 * The outbox in PostgreSQL. Transactions of several servers commit in another order than they begin, so no number says
 * what was read. The statement that appends a record also writes a row for each target; the row is removed once the
 * record was announced.
 *
 * A target that no server has registered for seven days gets no rows, so that an outbox without readers stays small.
 * The server that registers it again adds them from the records.
 */

import type { Sha256 } from "../../canonical/identity.ts";
import type { Gate } from "../gate.ts";
import type { RunFigures } from "../types.ts";
import type { Outbox } from "../outbox.ts";
import { toOutboxEntry } from "../rows/outbox.ts";
import { integer, type Row, text } from "../rows/columns.ts";
import { RECEIPT_COLUMNS } from "../rows/records.ts";
import type { Database } from "./database.ts";

const IS_AWAY = "o.seen <= now() - interval '7 days'";
// A target that comes back has the holder REFILL, and in `expires` the instant from which its records have no rows: a
// server that stops before all of them are added does not hide that, and no lease is given meanwhile.
const REFILL = "refill";
const REGISTER = `INSERT INTO gate.outbox_targets AS o (target, holder, expires, seen) VALUES ($1, '', now(), now())
  ON CONFLICT (target) DO UPDATE SET seen = now(),
    holder = CASE WHEN ${IS_AWAY} THEN '${REFILL}' ELSE o.holder END,
    expires = CASE WHEN ${IS_AWAY} AND o.holder <> '${REFILL}'
      THEN o.seen + interval '7 days' - interval '1 hour' ELSE o.expires END
  RETURNING o.holder, (1000 * extract(epoch FROM o.expires))::int8 AS since`;
// Appends that began before the target came back write no rows for it. They hold a lock of the table, which this one
// waits for.
const AWAIT_APPENDS = "LOCK TABLE gate.outbox IN SHARE MODE";
// In a receipt the instant of acceptance comes first: its members are sorted. Servers and database may differ by an
// hour; what was announced before is announced again.
const INSTANT = `substring(result from '"accepted_audit_instant":(\\d{1,15})')::int8`;
/** Records that one statement looks at, so that it ends within the limit of a statement in a store of any size. */
const REFILL_RECORDS = 20_000;
const REFILL_SOME = `WITH r AS (
    SELECT namespace_id, run_id, revision, family, result FROM gate.records
    WHERE (namespace_id, run_id, revision) > ($3, $4, $5) ORDER BY namespace_id, run_id, revision LIMIT ${REFILL_RECORDS}),
  added AS (
    INSERT INTO gate.outbox (target, namespace_id, run_id, revision)
    SELECT $1, namespace_id, run_id, revision FROM r
    WHERE family IN ('open_stage', 'evaluate_stage') AND ${INSTANT} >= $2 ORDER BY namespace_id, run_id, revision)
  SELECT namespace_id, run_id, revision FROM r ORDER BY namespace_id DESC, run_id DESC, revision DESC LIMIT 1`;
const END_REFILL =
  `UPDATE gate.outbox_targets SET holder = '', expires = now() WHERE target = $1 AND holder = '${REFILL}'`;
// A lease that ends later than a new one was taken before the clock was set back: its holder may be gone.
const LEASE = `UPDATE gate.outbox_targets SET holder = $2, expires = now() + $3 * interval '1 millisecond'
  WHERE target = $1 AND holder <> '${REFILL}' AND (holder = $2 OR expires <= now() OR expires > now() + $3 * interval '1 millisecond')
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

const FIGURES = `SELECT coalesce(sum(runs), 0)::int8 AS runs, coalesce(sum(complete), 0)::int8 AS complete,
    (SELECT min(opened) FROM gate.open_stages) AS opened
  FROM gate.run_counts`;

/** The outbox of a database. */
export function createPostgresOutbox(database: Database, sha256: Sha256, use: Gate): Outbox {
  return {
    register: (target) =>
      use(async () => {
        const [row] = await database.query(REGISTER, [target]);
        if (row !== undefined && text(row, "holder") === REFILL) await refill(database, target, integer(row, "since"));
      }),
    lease: (target, holder, millis) =>
      use(async () => (await database.query(LEASE, [target, holder, millis])).length === 1),
    release: (target, holder) => use(async () => void await database.query(RELEASE, [target, holder])),
    pending: (target, { open }, limit) =>
      use(async () => {
        const rows = await database.query(PENDING, [target, open, limit]);
        return rows.map((row) => toOutboxEntry(sha256, row, "place"));
      }),
    settle: (target, holder, done) =>
      use(async () => {
        const [row] = await database.query(SETTLE, [target, holder, done]);
        return row !== undefined && integer(row, "held") === 1;
      }),
  };
}

/**
 * Adds rows for the records since an instant. Repeated after a stop, it adds some rows twice, and their events are sent
 * twice.
 */
async function refill(database: Database, target: string, since: number): Promise<void> {
  await database.transaction(async (query) => void await query(AWAIT_APPENDS));
  let after: readonly (number | string)[] | null = [0, "", 0];
  while (after !== null) {
    const [last]: Row[] = await database.query(REFILL_SOME, [target, since, ...after]);
    after = last === undefined
      ? null
      : [integer(last, "namespace_id"), text(last, "run_id"), integer(last, "revision")];
  }
  await database.query(END_REFILL, [target]);
}

/** The figures of all runs; no run is read. */
export async function readFigures(database: Database): Promise<RunFigures> {
  const [row = {}] = await database.query(FIGURES);
  const complete = integer(row, "complete");
  return {
    active: integer(row, "runs") - complete,
    complete,
    oldestOpened: row["opened"] === null ? null : integer(row, "opened"),
  };
}
