/**
 * The heads of audit logs, apart from the files that they prove.
 *
 * The database sets the time and the address of the server that recorded a head. A server's role can add heads, and
 * neither change nor remove one.
 */

import { isIdentity } from "../../canonical/identity.ts";
import { integer, text } from "../rows/columns.ts";
import { StoreError } from "../types.ts";
import type { Database, Row } from "./database.ts";

/** A line of an audit log. */
export interface AuditPosition {
  /** 32 lower-case hex digits. */
  readonly chain_id: string;
  /** The number of the line; the first one is 1. */
  readonly sequence: number;
  /** The hash of the line. */
  readonly head: string;
}

/** A recorded head. */
export interface AuditHead extends AuditPosition {
  /** The address that the server had for the database; `local` for a socket. */
  readonly server: string;
  /** The path of the log on that server. */
  readonly log: string;
  /** Unix milliseconds by the clock of the database. */
  readonly recorded_at: number;
}

/** The heads of the audit logs of all servers. */
export interface AuditHeads {
  /**
   * Records a line of a log. A line that is recorded already stays as it is.
   *
   * @throws {StoreError} `unavailable` where the database is not there now
   */
  readonly record: (line: AuditPosition, log: string) => Promise<void>;
  /** All heads by chain and line. */
  readonly list: () => AsyncIterable<AuditHead>;
  readonly close: () => Promise<void>;
}

/** Heads of one statement of a list. */
const SLICE = 10_000;

const RECORD = `INSERT INTO gate.audit_heads (chain_id, sequence, head, server, log, recorded_at)
  VALUES ($1, $2, $3, coalesce(host(inet_client_addr()), 'local'), $4,
    (extract(epoch FROM clock_timestamp()) * 1000)::int8)
  ON CONFLICT DO NOTHING`;
const LIST =
  `SELECT * FROM gate.audit_heads WHERE (chain_id, sequence) > ($1, $2) ORDER BY chain_id, sequence LIMIT $3`;

/** The heads on an open database, which is closed with them. */
export function createAuditHeads(database: Database): AuditHeads {
  return {
    record: async ({ chain_id, sequence, head }, log) => {
      await database.query(RECORD, [chain_id, sequence, head, log]);
    },
    list: () => list(database),
    close: database.close,
  };
}

async function* list(database: Database): AsyncGenerator<AuditHead> {
  let last: Pick<AuditHead, "chain_id" | "sequence"> = { chain_id: "", sequence: 0 };
  for (let more = true; more;) {
    const rows = await database.query(LIST, [last.chain_id, last.sequence, SLICE]);
    for (const row of rows) yield last = toHead(row);
    more = rows.length === SLICE;
  }
}

function toHead(row: Row): AuditHead {
  const head = {
    chain_id: text(row, "chain_id"),
    sequence: integer(row, "sequence"),
    head: text(row, "head"),
    server: text(row, "server"),
    log: text(row, "log"),
    recorded_at: integer(row, "recorded_at"),
  };
  if (/^[0-9a-f]{32}$/.test(head.chain_id) && isIdentity(head.head) && head.sequence > 0) return head;
  throw new StoreError("corrupt", "Cannot read the heads of audit logs: a row holds no head");
}
