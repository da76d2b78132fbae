/**
 * One connection to a server of a database: the one that accepts writes, unless nothing is written.
 *
 * The client of a connection opens one socket and no second one. A client that connects again keeps what it received of
 * an unfinished reply, and adds the next reply to it. A statement would then get rows of another one.
 *
 * @module
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

/** Settings of a database. */
export interface DatabaseOptions {
  readonly address: PostgresAddress;
  /** PEM text of the authorities that sign server certificates; null for those of the system. */
  readonly authorities: string | null;
  readonly connections: number;
  /** Whether the database refuses statements that write; any of its servers then answers. */
  readonly readOnly?: boolean;
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

/**
 * Opens a connection to one server. Nothing but a read of the server's role was sent when it fails.
 *
 * @throws The client's error, or one of code `CONNECTION_STANDBY` for a server that accepts no writes
 */
export async function openConnection(
  options: DatabaseOptions,
  server: PostgresServer,
  lookUp: HostLookup = lookUpHost,
): Promise<Connection> {
  const { default: postgres } = await import("postgres");
  let socket: Socket | null = null;
  let isLost = false;
  const dial = async (): Promise<Socket> => {
    if (socket !== null || isLost) throw connectionError("CONNECTION_CLOSED");
    return socket = await connectTo(server, lookUp);
  };
  const drop = (): void => {
    isLost = true;
    socket?.destroy();
    void sql.end({ timeout: 0 }).catch(() => {});
  };
  const all = { ...clientOptions(options, server), socket: dial, onclose: drop };
  const sql = postgres(all as never) as unknown as Sql;
  const timer = setTimeout(drop, 2 * CONNECT_MILLIS);
  try {
    const [row] = await sql.unsafe(STANDBY);
    if (options.readOnly !== true && row?.["standby"] !== 0) throw connectionError("CONNECTION_STANDBY");
  } catch (error) {
    drop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
  return { sql, isLost: () => isLost, drop, close: () => sql.end({ timeout: 1 }) };
}

function connectTo({ host, port }: PostgresServer, lookUp: HostLookup): Promise<Socket> {
  const closed = new AbortController();
  const lookup: LookupFunction = (name, _options, done) => {
    lookUp(name, closed.signal).then(
      (addresses) => done(null, addresses.map((address) => ({ address, family: isIP(address) }))),
      (error) => done(error, []),
    );
  };
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true, autoSelectFamily: true, lookup });
    const timer = setTimeout(() => socket.destroy(connectionError("CONNECT_TIMEOUT")), CONNECT_MILLIS);
    socket.once("error", reject);
    socket.once("close", () => {
      clearTimeout(timer);
      closed.abort();
    });
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.removeListener("error", reject);
      resolve(Object.assign(socket, { host, port }));
    });
  });
}

/** Every option is given, so that the client takes nothing from the environment. */
function clientOptions(
  { address, authorities, readOnly = false }: DatabaseOptions,
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
      statement_timeout: STATEMENT_MILLIS,
      search_path: "gate",
      default_transaction_isolation: "read committed",
      ...readOnly ? { default_transaction_read_only: "on" } : {},
    },
  };
}

/** TLS verifies chain and name. The client gives a name to verify for a host name only, so an address is verified as such here. */
function tlsOptions(authorities: string | null, host: string): object | false {
  if (authorities === null && isLoopbackHost(host)) return false;
  return {
    rejectUnauthorized: true,
    ...authorities === null ? {} : { ca: authorities },
    ...isIP(host) === 0 ? {} : { host },
  };
}
