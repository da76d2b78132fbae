/**
 * The connections to one PostgreSQL database.
 *
 * A statement is sent on a connection that was found to lead to the server that accepts writes. A connection whose
 * statement failed in any other way than by an answer of the server is dropped. The next statement opens one, at the
 * server that accepted writes last or at the others. A statement ends within {@link STATEMENT_MILLIS}. A connection
 * that does not answer by then (a cut line, a stopped machine) would stay busy for ever, so all connections are then
 * dropped. The time begins again after each statement of a transaction, which may have as many as the records of a run
 * need.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";

import { StoreError } from "../types.ts";
import { describeAddress } from "../../config/postgres_address.ts";
import { type Connection, type DatabaseOptions, openFirst, STATEMENT_MILLIS } from "./connection.ts";
import { endsConnection, isConnectionLost, isRefused, isRolledBack, toStoreError, unavailable } from "./errors.ts";

/** The pause before a connection that could not be opened is tried again, in milliseconds. */
const PAUSE_MILLIS = 100;

/** Repetitions of a statement that was rolled back because of another one. */
const REPETITIONS = 20;

/** A row of the client: an object with a text or number for each column. */
export type Row = Record<string, unknown>;

/** A value of a statement. */
export type Value = string | number | null | readonly (string | number | null)[];

/** Runs statements in one transaction. */
export type Transaction = (text: string, values?: readonly Value[]) => Promise<Row[]>;

/** An open database. */
export interface Database {
  /** Hosts and database, without user and password. */
  readonly name: string;
  /**
   * Runs one statement; one that was rolled back because of another is repeated.
   *
   * @throws {StoreError} `unavailable` where the outcome is not known, or another code where nothing was changed
   */
  readonly query: (text: string, values?: readonly Value[]) => Promise<Row[]>;
  /** Runs statements in one transaction, which is repeated where it was rolled back because of another one. */
  readonly transaction: <Result>(work: (query: Transaction) => Promise<Result>) => Promise<Result>;
  readonly close: () => Promise<void>;
}

/** A place for one connection, which is opened when it is first needed, and again after it was lost. */
interface Slot {
  connection: Connection | null;
  opening: Promise<Connection> | null;
  /** Statements and transactions that have no answer yet. */
  calls: number;
  transactions: number;
  /** When it may be opened, as `performance.now()`. */
  notBefore: number;
  /** Whether the server has as many connections as it may have, as it said last. */
  isRefused: boolean;
}

interface State {
  readonly name: string;
  readonly options: DatabaseOptions;
  readonly slots: readonly Slot[];
  /** The index of the server that accepted writes last. */
  primary: number;
  /** Aborted once the database is closed. */
  readonly closed: AbortController;
}

/** Opens a database without connecting to it. */
export function openDatabase(options: DatabaseOptions): Database {
  const name = describeAddress(options.address);
  const newSlot = (): Slot => ({
    ...{ connection: null, opening: null, calls: 0, transactions: 0 },
    ...{ notBefore: 0, isRefused: false },
  });
  const slots = Array.from({ length: options.connections }, newSlot);
  const state: State = { name, options, slots, primary: 0, closed: new AbortController() };
  return {
    name,
    query: (text, values = []) => run(state, 0, (client) => statement(client, text, values)),
    transaction: (work) =>
      run(state, 1, async (client, renew) => {
        const result = await client.begin((inner) =>
          work((text, values = []) =>
            statement(inner, text, values).finally(renew).catch((error) =>
              isConnectionLost(error) ? untilClosed() : Promise.reject(error)
            )
          )
        );
        return result as Awaited<ReturnType<typeof work>>;
      }),
    close: async () => {
      state.closed.abort();
      await Promise.all(slots.map(async ({ connection, opening }) => {
        const open = await opening?.catch(() => null) ?? connection;
        await open?.close();
      }));
    },
  };
}

/** Work on a connection; `renew` gives it the time of another statement. */
type Work<Result> = (client: Sql, renew: () => void) => Promise<Result>;

/**
 * Runs a statement or transaction on the connection with the least to do. It runs again where it was rolled back
 * because of another, or where the server refused a further connection and others are open.
 */
async function run<Result>(
  state: State,
  transactions: 0 | 1,
  work: Work<Result>,
): Promise<Result> {
  const { name, slots } = state;
  for (let repetition = 0;; repetition++) {
    if (state.closed.signal.aborted) throw new StoreError("closed", `Cannot use ${name}: it is closed`);
    const slot = leastBusy(slots);
    slot.calls += 1;
    slot.transactions += transactions;
    const attempt: { connection: Connection | null; isLate: boolean } = { connection: null, isLate: false };
    const late = (): void => {
      attempt.isLate = true;
      for (const { connection } of slots) connection?.drop();
    };
    const send = async (renew: () => void): Promise<Result> => {
      attempt.connection = isOpen(slot) ? slot.connection : await opened(state, slot);
      // The caller has its answer already.
      if (attempt.isLate) throw unavailable(name, "it did not answer");
      return await work(attempt.connection.sql, renew);
    };
    try {
      return await withDeadline(send, state, late);
    } catch (error) {
      if (endsConnection(error)) attempt.connection?.drop();
      const isRepeated = isRolledBack(error) || (isRefused(error) && slots.some(isOpen));
      if (!isRepeated || repetition === REPETITIONS) throw toStoreError(error, name);
    } finally {
      slot.calls -= 1;
      slot.transactions -= transactions;
    }
    await delay(repetition);
  }
}

function isOpen(slot: Slot): slot is Slot & { readonly connection: Connection } {
  return slot.connection !== null && !slot.connection.isLost();
}

/**
 * Statements wait for a transaction on their connection, so those come last. An idle open connection is taken before
 * one is opened, and a busy one before one that the server has just refused.
 */
function leastBusy(slots: readonly Slot[]): Slot {
  const now = performance.now();
  const costOfOpening = (slot: Slot): number => isOpen(slot) ? 0 : slot.isRefused && now < slot.notBefore ? 1e3 : 1;
  const costOf = (slot: Slot): number => slot.transactions * 1e6 + slot.calls * 2 + costOfOpening(slot);
  return slots.reduce((best, slot) => costOf(slot) < costOf(best) ? slot : best);
}

function opened(state: State, slot: Slot): Promise<Connection> {
  slot.opening ??= openSlot(state, slot).finally(() => slot.opening = null);
  return slot.opening;
}

async function openSlot(state: State, slot: Slot): Promise<Connection> {
  const { name, options, primary, closed } = state;
  await delay(Math.max(0, slot.notBefore - performance.now()));
  try {
    const { connection, at } = await openFirst(options, primary, closed.signal);
    slot.connection = connection;
    state.primary = at;
    return connection;
  } catch (error) {
    const failures = (error instanceof AggregateError ? error.errors : [error]).map((one) => toStoreError(one, name));
    slot.notBefore = performance.now() + PAUSE_MILLIS;
    slot.isRefused = failures.some(isRefused);
    throw failures.find(isRefused) ?? failures.find(({ code }) => code === "unavailable") ?? failures[0] ??
      unavailable(name, "it has no server");
  }
}

/**
 * Never settles. The client sends a rollback for a rejected transaction, and writing to a connection that was lost
 * would end the process. It rejects the transaction itself when the connection is closed.
 */
function untilClosed(): Promise<never> {
  return new Promise(() => {});
}

async function statement(client: Sql | TransactionSql, text: string, values: readonly Value[]): Promise<Row[]> {
  const parameters = values.map((value) => typeof value === "object" && value !== null ? arrayLiteral(value) : value);
  return [...await client.unsafe(text, parameters as never, { prepare: true })];
}

/**
 * An array as text (PostgreSQL documentation, "Array Input and Output Syntax"). The client serializes arrays by types
 * that it asks the server for at each connection; the rejection of that query, when the connection ends first, would
 * end the process.
 */
function arrayLiteral(items: readonly (string | number | null)[]): string {
  const texts = items.map((item) =>
    item === null ? "NULL" : typeof item === "number" ? String(item) : `"${item.replace(/["\\]/g, "\\$&")}"`
  );
  return `{${texts.join(",")}}`;
}

async function withDeadline<Result>(
  work: (renew: () => void) => Promise<Result>,
  { name, options: { statementMillis = STATEMENT_MILLIS } }: State,
  late: () => void,
): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const { promise: missed, reject } = Promise.withResolvers<never>();
  const renew = (): void => {
    clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(() => {
      isOver = true;
      late();
      reject(unavailable(name, "it does not answer"));
    }, statementMillis + 2000);
  };
  renew();
  try {
    return await Promise.race([work(renew), missed]);
  } finally {
    isOver = true;
    clearTimeout(timer);
  }
}
