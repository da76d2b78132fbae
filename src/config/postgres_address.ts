/** The address of a PostgreSQL database: `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE`. */

/** One server of a database. */
export interface PostgresServer {
  readonly host: string;
  readonly port: number;
}

/** A parsed address. */
export interface PostgresAddress {
  readonly servers: readonly PostgresServer[];
  readonly user: string;
  readonly password: string;
  readonly database: string;
}

const DEFAULT_PORT = 5432;

const PART = "(?:%[0-9A-Fa-f]{2}|[^%:@/?#\\s\\p{Cc}])";
const HOST = "(?:\\[[0-9a-fA-F:.]{2,45}\\]|[^%:@/?#,\\[\\]\\s\\p{Cc}]{1,253})";
const PORT = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])";
const SERVER = `${HOST}(?::${PORT})?`;

/**
 * The form of an address, with at most 8 servers. Query parameters and an address without user or database are not
 * allowed, since the client would take what is missing from the environment.
 */
export const POSTGRES_ADDRESS =
  `^postgres(?:ql)?://${PART}{1,255}(?::${PART}{0,1024})?@${SERVER}(?:,${SERVER}){0,7}/${PART}{1,255}$`;

const PIECES = /^postgres(?:ql)?:\/\/([^:@]+)(?::([^@]*))?@([^/]+)\/(.+)$/;

/** Parses an address; null where it does not have the form of one, or its percent-encoded characters are not UTF-8. */
export function parsePostgresAddress(text: string): PostgresAddress | null {
  const match = new RegExp(POSTGRES_ADDRESS, "u").test(text) ? PIECES.exec(text) : null;
  if (match === null) return null;
  const [, user = "", password = "", servers = "", database = ""] = match;
  try {
    return {
      servers: servers.split(",").map(parseServer),
      user: decodeURIComponent(user),
      password: decodeURIComponent(password),
      database: decodeURIComponent(database),
    };
  } catch {
    return null;
  }
}

function parseServer(text: string): PostgresServer {
  const [, bracketed, name, port] = /^(?:\[(.+)\]|([^:]+))(?::([0-9]+))?$/.exec(text) ?? [];
  return { host: bracketed ?? name ?? "", port: port === undefined ? DEFAULT_PORT : Number(port) };
}

/** Whether a host is this machine, to which a connection without TLS is allowed. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(?:\.[0-9]{1,3}){3}$/.test(host);
}

/** The variable that a url refers to; null for an address. */
export function variableOfUrl(url: string): string | null {
  return url.startsWith("env:") ? url.slice("env:".length) : null;
}

/** The form of an address in messages. */
const FORM = "postgres://USER:PASSWORD@HOST:PORT/DATABASE";

/** Reads an environment variable; undefined where it is not set. */
export type ReadVariable = (name: string) => string | undefined;

/** The address that a url stands for, or the reason why it stands for none, which shows no value. */
export function resolveAddress(url: string, read: ReadVariable): PostgresAddress | { readonly fault: string } {
  const variable = variableOfUrl(url);
  const value = variable === null ? url : read(variable);
  if (variable !== null && (value === undefined || value === "")) {
    return { fault: `refers to variable "${variable}", which is not set` };
  }
  const address = parsePostgresAddress(value ?? "");
  if (address !== null) return address;
  return { fault: variable === null ? `must be ${FORM}` : `refers to variable "${variable}", which must be ${FORM}` };
}

/** The servers and the database of an address, without user and password. */
export function describeAddress({ servers, database }: PostgresAddress): string {
  return `database "${database}" at ${servers.map(({ host, port }) => `${host}:${port}`).join(", ")}`;
}

/** The name of a database for messages: it has no user and no password, and a variable is not read. */
export function describeUrl(url: string): string {
  const variable = variableOfUrl(url);
  if (variable !== null) return `the database of environment variable "${variable}"`;
  const address = parsePostgresAddress(url);
  return address === null ? "a database" : describeAddress(address);
}
