/**
 * The high-water mark: a small file beside a store that says how much was committed to it at the least.
 *
 * A database that lost its tail, or was removed with its log and made anew, is sound in itself. The mark is how the next start sees it.
 * It is written after commits, at most once a second, and at the close; so it never claims more than was committed, and it knows nothing
 * of the last second before a process was killed. It is no part of the store: without it nothing is refused.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";

import { parseObject } from "../record_check.ts";
import type { Connection, WriterConnection } from "./connection.ts";
import { toStoreError } from "./errors.ts";
import { integer, type Row } from "./rows.ts";

/** How much a store holds. Rows are never removed, so that no number ever falls. */
interface Position {
  readonly laws: number;
  readonly records: number;
  readonly schemas: number;
  /** Identity of the last record; null where there is none. */
  readonly record_id: string | null;
}

/** Writes the mark of one open store. */
export interface MarkKeeper {
  /** Reports a commit: the mark is written within {@link MARK_MILLISECONDS}. */
  readonly committed: () => void;
  /** Ends it; the mark is written once more unless the store lost its files. */
  readonly close: (isLost: boolean) => void;
}

/** How long a commit may go without a mark, in milliseconds. */
const MARK_MILLISECONDS = 1_000;

/** Bytes of a mark: always as many, so that one is replaced by one write. */
const MARK_BYTES = 512;

const POSITION = `SELECT (SELECT coalesce(max(law_row), 0) FROM laws) AS laws,
  (SELECT coalesce(max(record_row), 0) FROM records) AS records,
  (SELECT coalesce(max(rowid), 0) FROM schemas) AS schemas,
  (SELECT record_id FROM records ORDER BY record_row DESC LIMIT 1) AS record_id`;

const RECORD_ID = "SELECT record_id FROM records WHERE record_row = ?";

const COUNTS = ["laws", "records", "schemas"] as const;

/**
 * Where the mark of a store is: a name that a pattern for the store's own files does not match.
 *
 * @param path The store's file with links followed
 */
export function markPath(path: string): string {
  return join(dirname(path), `.${basename(path)}.mark`);
}

/** What a store lost since its mark was written, in words; null where it lost nothing, and where there is no mark. */
export function findLoss(connection: Connection): string | null {
  // The mark first: what it says was committed before the database is read.
  const mark = readMark(markPath(Deno.realPathSync(connection.path)));
  return mark === null ? null : lossSince(mark, connection);
}

function lossSince(mark: Position, connection: Connection): string | null {
  const now = readPosition(connection);
  if (now === null) return null;
  const fewer = COUNTS.filter((name) => now[name] < mark[name]);
  if (fewer.length > 0) {
    const counts = fewer.map((name) => `${now[name]} of at least ${mark[name]} ${name}`).join(", ");
    return `it lost what was accepted, and holds ${counts}`;
  }
  if (mark.record_id === null) return null;
  const found = connection.statement(RECORD_ID).get(mark.records)?.["record_id"];
  return found === mark.record_id ? null : `its record ${mark.records} is not the one that was accepted there`;
}

/** Keeps the mark of a store that was just opened. What it lost stays in the mark until something new is committed. */
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

/** Null where the file is damaged there: whoever reads it next is told so. */
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

/** A mark that cannot be written is no reason to refuse what was committed. */
function attempt(update: () => void): void {
  try {
    update();
  } catch {
    // The mark that is there still claims no more than was committed.
  }
}

function write(path: string, position: Position): void {
  const bytes = new TextEncoder().encode(`${JSON.stringify(position).padEnd(MARK_BYTES - 1)}\n`);
  using file = Deno.openSync(path, { write: true, create: true, mode: 0o600 });
  file.writeSync(bytes);
}

/** A file that is no mark counts as none. */
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
