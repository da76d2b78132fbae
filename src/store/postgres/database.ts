/**
 * The connections to one PostgreSQL database.
 *
 * A statement ends within {@link STATEMENT_MILLIS}. A connection that does not answer by then (a cut line, a stopped machine) would
 * stay busy for ever, so all connections are then replaced. The client connects again by itself, to the server that accepts writes.
 *
 * @module
 */

import { isIP } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql, TransactionSql } from "postgres";

import { StoreError } from "../types.ts";
import { describeAddress, isLoopbackHost, type PostgresAddress } from "../../config/postgres_address.ts";
import { isConnectionLost, isReadOnly, isRolledBack, toStoreError, unavailable } from "./errors.ts";

/** The longest time of one statement, in milliseconds. */
const STATEMENT_MILLIS = 10_000;

/** The longest time to connect, in seconds. */
const CONNECT_SECONDS = 5;

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

/** Settings of a database. */
export interface DatabaseOptions {
  readonly address: PostgresAddress;
  /** PEM text of the authorities that sign server certificates; null for those of the system. */
  readonly authorities: string | null;
  readonly connections: number;
  /** Whether the database refuses statements that write; any of its servers then answers. */
  readonly readOnly?: boolean;
}

/** Opens a database without connecting to it. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { default: postgres } = await import("postgres");
  const name = describeAddress(options.address);
  const open = (): Sql => postgres(clientOptions(options) as never) as unknown as Sql;
  let sql = open();
  let isClosed = false;
  const replace = (old: Sql): void => {
    if (sql !== old || isClosed) return;
    sql = open();
    void old.end({ timeout: 0 }).catch(() => {});
  };
  const run = async <Result>(work: (client: Sql) => Promise<Result>): Promise<Result> => {
    for (let repetition = 0;; repetition++) {
      if (isClosed) throw new StoreError("closed", `Cannot use ${name}: it is closed`);
      const client = sql;
      try {
        return await withDeadline(work(client), name, () => replace(client));
      } catch (error) {
        if (isReadOnly(error)) replace(client);
        if (!isRolledBack(error) || repetition === REPETITIONS) throw toStoreError(error, name);
        await delay(repetition);
      }
    }
  };
  return {
    name,
    query: (text, values = []) => run((client) => statement(client, text, values)),
    transaction: (work) =>
      run(async (client) => {
        const result = await client.begin((inner) => {
          const done = work((text, values = []) => statement(inner, text, values));
          return done.catch((error) => isConnectionLost(error) ? untilClosed() : Promise.reject(error));
        });
        return result as Awaited<ReturnType<typeof work>>;
      }),
    close: async () => {
      isClosed = true;
      await sql.end({ timeout: 1 });
    },
  };
}

/**
 * Never settles. The client sends a rollback for a rejected transaction, and writing to a connection that was lost would end the
 * process. It rejects the transaction itself when the connection is closed.
 */
function untilClosed(): Promise<never> {
  return new Promise(() => {});
}

async function statement(client: Sql | TransactionSql, text: string, values: readonly Value[]): Promise<Row[]> {
  const parameters = values.map((value) => typeof value === "object" && value !== null ? arrayLiteral(value) : value);
  return [...await client.unsafe(text, parameters as never, { prepare: true })];
}

/**
 * An array as text (PostgreSQL documentation, "Array Input and Output Syntax"). The client serializes arrays by types that it asks the
 * server for at each connection; the rejection of that query, when the connection ends first, would end the process.
 */
function arrayLiteral(items: readonly (string | number | null)[]): string {
  const texts = items.map((item) =>
    item === null ? "NULL" : typeof item === "number" ? String(item) : `"${item.replace(/["\\]/g, "\\$&")}"`
  );
  return `{${texts.join(",")}}`;
}

async function withDeadline<Result>(work: Promise<Result>, name: string, late: () => void): Promise<Result> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late();
      reject(unavailable(name, "it does not answer"));
    }, STATEMENT_MILLIS + 2000);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/** Every option is given, so that the client takes nothing from the environment. */
function clientOptions(
  { address, authorities, connections, readOnly = false }: DatabaseOptions,
): Record<string, unknown> {
  const { servers, user, password, database } = address;
  return {
    host: servers.map(({ host }) => host),
    port: servers.map(({ port }) => port),
    user,
    pass: password,
    database,
    path: undefined,
    max: connections,
    ssl: tlsOptions(address, authorities),
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: CONNECT_SECONDS,
    keep_alive: 30,
    backoff: () => 0.2,
    prepare: true,
    fetch_types: false,
    debug: false,
    onnotice: () => {},
    publications: "none",
    // With one server the start checks that it accepts writes, and says so.
    target_session_attrs: servers.length > 1 && !readOnly ? "read-write" : undefined,
    // Revisions and counts are safe integers.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: "gate",
      statement_timeout: STATEMENT_MILLIS,
      search_path: "gate",
      default_transaction_isolation: "read committed",
      ...readOnly ? { default_transaction_read_only: "on" } : {},
    },
  };
}

/**
 * TLS verifies chain and name. The client gives a name to verify for a host name only, so an address is verified as such here.
 *
 * @throws {StoreError} `io` for an address among several servers
 */
function tlsOptions({ servers }: PostgresAddress, authorities: string | null): object | false {
  if (authorities === null && servers.every(({ host }) => isLoopbackHost(host))) return false;
  const [first] = servers;
  const isAddress = servers.some(({ host }) => isIP(host) !== 0);
  if (isAddress && servers.length > 1) {
    throw new StoreError(
      "io",
      "Cannot verify the certificates of several servers by their addresses: name the servers",
    );
  }
  return {
    rejectUnauthorized: true,
    ...authorities === null ? {} : { ca: authorities },
    ...isAddress ? { host: first?.host } : {},
  };
}
