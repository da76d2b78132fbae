/**
 * One connection to a server of a database: the one that accepts writes, unless nothing is written.
 *
 * The client of a connection opens one socket and no second one. A client that connects again keeps what it received of
 * an unfinished reply, and adds the next reply to it. A statement would then get rows of another one.
 */

import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Sql } from "postgres";

import { isLoopbackHost, type PostgresAddress, type PostgresServer } from "../../config/postgres_address.ts";
import { type HostLookup, lookUpHost } from "../../config/host_lookup.ts";
import { connectionError } from "./errors.ts";

/** The longest time of one statement, in milliseconds. */
export const STATEMENT_MILLIS = 10_000;

/** The longest time to connect, in milliseconds. */
const CONNECT_MILLIS = 5000;

/** A standby has `default_transaction_read_only` off, so its role is asked for. */
const STANDBY = "SELECT pg_is_in_recovery()::int::int8 AS standby";

/** How long a server may be silent before the next one of an address is tried beside it, in milliseconds. */
const PATIENCE_MILLIS = 500;

/** Settings of a database. */
export interface DatabaseOptions {
  readonly address: PostgresAddress;
  /** PEM text of the authorities that sign server certificates; null for those of the system. */
  readonly authorities: string | null;
  readonly connections: number;
  /** Whether the database refuses statements that write; any of its servers then answers. */
  readonly readOnly?: boolean;
  /** The longest time of one statement, in milliseconds; {@link STATEMENT_MILLIS} where it is left out. */
  readonly statementMillis?: number;
}

/** An open connection. */
export interface Connection {
  readonly sql: Sql;
  /** Whether it ended, or was dropped. */
  readonly isLost: () => boolean;
  /** Ends it at once: every statement that has no answer yet is rejected. */
  readonly drop: () => void;
  /** Ends it after its statements, within a second. */
  readonly close: () => Promise<void>;
}

/** A connection with the place of its server in the address. */
export interface Reached {
  readonly connection: Connection;
  readonly at: number;
}

/**
 * Opens a connection to the first server that takes it. The servers are tried in order from the place `first`: the next
 * one as soon as the one before it failed, or was silent for a moment. So a stopped machine costs that moment, and not
 * the time to connect.
 *
 * @param ended Ends all attempts
 * @throws {AggregateError} The errors of all servers
 */
export async function openFirst(options: DatabaseOptions, first: number, ended: AbortSignal): Promise<Reached> {
  const { servers } = options.address;
  const won = new AbortController();
  const signal = AbortSignal.any([ended, won.signal]);
  const attempts: Promise<Reached>[] = [];
  for (const index of servers.keys()) {
    const at = (first + index) % servers.length;
    const server = servers[at];
    if (server === undefined || signal.aborted) continue;
    const attempt = openConnection(options, server, lookUpHost, signal).then((connection) => {
      if (signal.aborted) connection.drop();
      won.abort();
      return { connection, at };
    });
    attempts.push(attempt);
    await settledWithin(attempt, PATIENCE_MILLIS);
  }
  return await Promise.any(attempts);
}

/** Resolves once a promise is settled, or after a time. */
function settledWithin(promise: Promise<unknown>, millis: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, millis);
    const settled = (): void => {
      clearTimeout(timer);
      resolve();
    };
    promise.then(settled, settled);
  });
}

/**
 * Opens a connection to one server. Nothing but a read of the server's role was sent when it fails.
 *
 * @param ended Ends the attempt
 * @throws The client's error, or one of code `CONNECTION_STANDBY` for a server that accepts no writes
 */
export async function openConnection(
  options: DatabaseOptions,
  server: PostgresServer,
  lookUp: HostLookup = lookUpHost,
  ended?: AbortSignal,
): Promise<Connection> {
  const { default: postgres } = await import("postgres");
  let socket: Socket | null = null;
  let isLost = false;
  const dial = async (): Promise<Socket> => {
    if (socket !== null || isLost) throw connectionError("CONNECTION_CLOSED");
    return socket = await connectTo(server, lookUp, ended);
  };
  const drop = (): void => {
    isLost = true;
    socket?.destroy();
    void sql.end({ timeout: 0 }).catch(() => {});
  };
  const all = { ...clientOptions(options, server), socket: dial, onclose: drop };
  const sql = postgres(all as never) as Sql;
  const timer = setTimeout(drop, 2 * CONNECT_MILLIS);
  ended?.addEventListener("abort", drop);
  try {
    const [row] = await sql.unsafe(STANDBY);
    if (options.readOnly !== true && row?.["standby"] !== 0) throw connectionError("CONNECTION_STANDBY");
  } catch (error) {
    drop();
    throw error;
  } finally {
    clearTimeout(timer);
    ended?.removeEventListener("abort", drop);
  }
  return { sql, isLost: () => isLost, drop, close: () => sql.end({ timeout: 1 }) };
}

function connectTo({ host, port }: PostgresServer, lookUp: HostLookup, ended?: AbortSignal): Promise<Socket> {
  const closed = new AbortController();
  const lookup: LookupFunction = (name, _options, done) => {
    lookUp(name, closed.signal).then(
      (addresses) => done(null, addresses.map((address) => ({ address, family: isIP(address) }))),
      (error) => done(error, []),
    );
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, autoSelectFamily: true, lookup });
    const end = (): void => void socket.destroy(connectionError("CONNECTION_CLOSED"));
    const timer = setTimeout(() => socket.destroy(connectionError("CONNECT_TIMEOUT")), CONNECT_MILLIS);
    ended?.addEventListener("abort", end);
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(timer);
      ended?.removeEventListener("abort", end);
      closed.abort();
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      ended?.removeEventListener("abort", end);
      socket.removeListener("error", reject);
      resolve(Object.assign(socket, { host, port }));
    });
  });
}

/** Every option is given, so that the client takes nothing from the environment. */
function clientOptions(
  { address, authorities, readOnly = false, statementMillis = STATEMENT_MILLIS }: DatabaseOptions,
  { host, port }: PostgresServer,
): Record<string, unknown> {
  const { user, password, database } = address;
  return {
    host: [host],
    port: [port],
    user,
    pass: password,
    database,
    path: undefined,
    max: 1,
    ssl: tlsOptions(authorities, host),
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: CONNECT_MILLIS / 1000,
    keep_alive: 30,
    backoff: () => 0,
    prepare: true,
    fetch_types: false,
    debug: false,
    onnotice: () => {},
    publications: "none",
    target_session_attrs: undefined,
    // Revisions and counts are safe integers.
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
    connection: {
      application_name: "gate",
      statement_timeout: statementMillis,
      search_path: "gate",
      default_transaction_isolation: "read committed",
      ...readOnly ? { default_transaction_read_only: "on" } : {},
    },
  };
}

/**
 * TLS verifies chain and name. The client gives a name to verify for a host name only, so an address is verified as
 * such here.
 */
function tlsOptions(authorities: string | null, host: string): object | false {
  if (authorities === null && isLoopbackHost(host)) return false;
  return {
    rejectUnauthorized: true,
    ...authorities === null ? {} : { ca: authorities },
    ...isIP(host) === 0 ? {} : { host },
  };
}
