/**
 * The high-water mark: a small file beside a store with a lower bound of what was committed to it.
 *
 * A database that lost its end, or was removed with its log and created again, is consistent in itself. The mark shows
 * the loss at the next start. It is written after commits, at most once a second, and at the close. So it never claims
 * more than was committed, and it misses the last second before a process was killed. It is not part of the store:
 * without it, nothing is rejected.
 */

import { basename, dirname, join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";

import { parseObject } from "../record_check.ts";
import type { Connection, WriterConnection } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { integer, type Row } from "../rows/columns.ts";

/** The numbers of rows of a store. Rows are never removed, so no number ever decreases. */
interface Position {
  readonly laws: number;
  readonly records: number;
  readonly schemas: number;
  /** Identity of the last record; null without records. */
  readonly record_id: string | null;
}

/** Writes the mark of one open store. */
export interface MarkKeeper {
  /** Reports a commit: the mark is written within {@link MARK_MILLISECONDS}. */
  readonly committed: () => void;
  /** Stops; writes the mark once more unless the store lost its files. */
  readonly close: (isLost: boolean) => void;
}

/** The longest delay between a commit and its mark, in milliseconds. */
const MARK_MILLISECONDS = 1_000;

/** Bytes of a mark: a constant size, so that one write replaces it. */
const MARK_BYTES = 512;

const POSITION = `SELECT (SELECT coalesce(max(law_row), 0) FROM laws) AS laws,
  (SELECT coalesce(max(record_row), 0) FROM records) AS records,
  (SELECT coalesce(max(rowid), 0) FROM schemas) AS schemas,
  (SELECT record_id FROM records ORDER BY record_row DESC LIMIT 1) AS record_id`;

const RECORD_ID = "SELECT record_id FROM records WHERE record_row = ?";

const COUNTS = ["laws", "records", "schemas"] as const;

/**
 * The path of a store's mark. A pattern for the store's own files does not match its name.
 *
 * @param path The store's file with links resolved
 */
export function markPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.mark`);
}

/** The loss of a store since its mark was written, as a message; null without a loss or without a mark. */
export function findLoss(connection: Connection): string | null {
  // The mark is read first, so its content was committed before the database is read.
  const mark = readMark(markPath(Deno.realPathSync(connection.path)));
  return mark === null ? null : lossSince(mark, connection);
}

/** As {@link findLoss}, of a store whose file is missing. */
export function findLossOfMissing(path: string): string | null {
  const mark = readMark(markPath(path));
  return mark === null ? null : fewerRows(mark, { laws: 0, records: 0, schemas: 0 });
}

function fewerRows(mark: Position, now: Omit<Position, "record_id">): string | null {
  const fewer = COUNTS.filter((name) => now[name] < mark[name]);
  const counts = fewer.map((name) => `${now[name]} of at least ${mark[name]} ${name}`).join(", ");
  return counts === "" ? null : `it holds ${counts}`;
}

function lossSince(mark: Position, connection: Connection): string | null {
  const now = readPosition(connection);
  if (now === null) return null;
  const fewer = fewerRows(mark, now);
  if (fewer !== null) return fewer;
  if (mark.record_id === null) return null;
  const found = connection.statement(RECORD_ID).get(mark.records)?.["record_id"];
  return found === mark.record_id ? null : `its record ${mark.records} differs from the accepted one`;
}

/** Maintains the mark of a store that was just opened. A loss stays visible until the next commit. */
export function keepMark(connection: WriterConnection): MarkKeeper {
  const path = markPath(connection.realPath);
  let written = readPosition(connection);
  const first = readMark(path) === null ? written : null;
  if (first !== null) attempt(() => write(path, first));
  let timer: ReturnType<typeof setTimeout> | null = null;
  const update = (): void => {
    timer = null;
    const now = readPosition(connection);
    if (now === null || COUNTS.every((name) => now[name] === written?.[name])) return;
    write(path, now);
    written = now;
  };
  return {
    committed: () => {
      if (timer !== null) return;
      timer = setTimeout(() => attempt(update), MARK_MILLISECONDS).unref();
    },
    close: (isLost) => {
      if (timer !== null) clearTimeout(timer);
      if (!isLost) attempt(update);
    },
  };
}

/** The numbers of rows; null where the file is damaged, which the next read reports. */
function readPosition(connection: Connection): Position | null {
  const row = positionRow(connection);
  if (row === null) return null;
  const record_id = row["record_id"];
  return {
    laws: integer(row, "laws"),
    records: integer(row, "records"),
    schemas: integer(row, "schemas"),
    record_id: typeof record_id === "string" ? record_id : null,
  };
}

function positionRow(connection: Connection): Row | null {
  try {
    return connection.statement(POSITION).get() ?? null;
  } catch (error) {
    const known = toStoreError(error, connection.path, "read");
    if (known.code === "corrupt") return null;
    throw known;
  }
}

/** Ignores a failed write of the mark, because the commit succeeded. */
function attempt(update: () => void): void {
  try {
    update();
  } catch {
    // The existing mark still claims no more than was committed.
  }
}

function write(path: string, position: Position): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(position).padEnd(MARK_BYTES - 1)}\n`);
  using file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
  file.writeSync(bytes);
}

/** The mark; null for any other file. */
function readMark(path: string): Position | null {
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size === MARK_BYTES ? parseMark(parseObject(Deno.readTextFileSync(path))) : null;
  } catch {
    return null;
  }
}

function parseMark(value: object | null): Position | null {
  const { laws, records, schemas, record_id, ...rest } = { ...value } as Record<string, unknown>;
  const isRecord = record_id === null || typeof record_id === "string";
  if (!isCount(laws) || !isCount(records) || !isCount(schemas) || !isRecord) return null;
  return Object.keys(rest).length === 0 ? { laws, records, schemas, record_id } : null;
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
