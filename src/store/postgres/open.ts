/** Opens stores on PostgreSQL, on a database that keeps what it accepts. */

import type { Sha256 } from "../../canonical/identity.ts";
import { readFileAtMost } from "../../config/files.ts";
import { resolveAddress } from "../../config/postgres_address.ts";
import type { SchemaLimits } from "../shape.ts";
import { integer, text } from "../rows/columns.ts";
import { type RunStore, type SchemaRegistry, type StorageOptions, StoreError } from "../types.ts";
import type { StoreRows } from "../rows/store_rows.ts";
import { type AuditHeads, createAuditHeads } from "./audit_heads.ts";
import type { DatabaseOptions } from "./connection.ts";
import { type Database, openDatabase, type Row, type Transaction } from "./database.ts";
import { createPostgresRunStore } from "./run_store.ts";
import { createPostgresSchemaRegistry } from "./schema_registry.ts";
import { postgresRows } from "./store_rows.ts";
import { CREATE_TABLES, grantsTo, TABLES_VERSION, UPGRADES } from "./tables.ts";

/** Settings of a database. */
export type PostgresOptions = Pick<StorageOptions, "url" | "tls_ca_path" | "connections">;

/** Settings of a run store. */
type RunOptions = StorageOptions & { readonly max_versions: number | null };

/** Opens the run store and the schema registry on one database. */
export async function openPostgresStores(
  run: RunOptions,
  schemas: SchemaLimits,
  sha256: Sha256,
): Promise<{ readonly runs: RunStore; readonly schemas: SchemaRegistry }> {
  const database = await openChecked(run);
  let users = 2;
  const release = async (): Promise<void> => {
    users -= 1;
    if (users === 0) await database.close();
  };
  return {
    runs: createPostgresRunStore(database, { ...run, sha256 }, release),
    schemas: createPostgresSchemaRegistry(database, schemas, sha256, release),
  };
}

/** Opens the heads of audit logs, on a connection of their own: they are recorded after the stores were closed too. */
export async function openAuditHeads(options: PostgresOptions): Promise<AuditHeads> {
  return createAuditHeads(await openChecked({ ...options, connections: 1 }));
}

async function openChecked(options: PostgresOptions, use: "read" | "write" = "write"): Promise<Database> {
  const database = await connect(options, { readOnly: use === "read" });
  try {
    await requireDatabase(database, use);
    await requireVersion(database);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Opens the rows of a database, which may be a standby or set up for speed: nothing is written to it.
 *
 * @throws {StoreError} As {@link openPostgresStores}
 */
export async function openPostgresRows(options: PostgresOptions): Promise<StoreRows> {
  return postgresRows(await openChecked(options, "read"));
}

/**
 * A database as the settings name it, not checked and not connected.
 *
 * @throws {StoreError} `misconfigured` where the url stands for no address, `io` where a file cannot be used
 */
async function connect(
  { url, tls_ca_path, connections }: PostgresOptions,
  how: Pick<DatabaseOptions, "readOnly" | "statementMillis"> = {},
): Promise<Database> {
  const address = resolveAddress(url ?? "", (name) => Deno.env.get(name));
  if ("fault" in address) throw new StoreError("misconfigured", `Cannot use the database: its url ${address.fault}`);
  const authorities = tls_ca_path === null ? null : await readAuthorities(tls_ca_path);
  return openDatabase({ address, authorities, connections, ...how });
}

/** Most bytes of the file of `tls_ca_path`. */
const AUTHORITIES_BYTES = 1024 * 1024;

async function readAuthorities(path: string): Promise<string> {
  try {
    const bytes = await readFileAtMost(path, AUTHORITIES_BYTES);
    if (bytes.length <= AUTHORITIES_BYTES) return new TextDecoder().decode(bytes);
    throw new Error(`it has more than ${AUTHORITIES_BYTES} bytes`);
  } catch (cause) {
    throw new StoreError("io", `Cannot read "${path}", which tls_ca_path names`, { cause });
  }
}

const SETTINGS = `SELECT current_setting('server_encoding') AS encoding, ('a' < 'B')::int AS ordered_by_language,
  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
  current_setting('synchronous_commit') AS synchronous_commit, current_setting('transaction_read_only') AS read_only,
  current_setting('server_version_num')::int8 AS version`;

/** The oldest version that the tests use. */
const OLDEST_VERSION = 150000;

/** Values of `synchronous_commit` under which a committed record survives the loss of a server. */
const SYNCHRONOUS: readonly string[] = ["on", "remote_apply"];

/**
 * Checks that a database orders texts by code point, and keeps what it accepts where it is written.
 *
 * @throws {StoreError} `version_unsupported`, naming every setting that differs
 */
async function requireDatabase(database: Database, use: "read" | "write" = "write"): Promise<void> {
  const [row] = await database.query(SETTINGS);
  if (row === undefined) throw new StoreError("io", `Cannot use ${database.name}: it has no settings`);
  const faults: string[] = [];
  const require = (isMet: boolean, fault: string): void => {
    if (!isMet) faults.push(fault);
  };
  const version = integer(row, "version");
  require(version >= OLDEST_VERSION, `server version is ${version}, expected at least ${OLDEST_VERSION}`);
  require(text(row, "encoding") === "UTF8", `encoding is ${text(row, "encoding")}, expected UTF8`);
  require(row["ordered_by_language"] === 0, "collation orders by language, expected C (code points)");
  if (use === "write") requireDurability(row, require);
  if (faults.length > 0) {
    throw new StoreError("version_unsupported", `Cannot use ${database.name}: ${faults.join("; ")}`);
  }
}

function requireDurability(row: Row, require: (isMet: boolean, fault: string) => void): void {
  const synchronous = text(row, "synchronous_commit");
  require(text(row, "fsync") === "on", "fsync is off, expected on");
  require(text(row, "full_page_writes") === "on", "full_page_writes is off, expected on");
  require(
    SYNCHRONOUS.includes(synchronous),
    `synchronous_commit is ${synchronous}, expected ${SYNCHRONOUS.join(" or ")}`,
  );
  require(text(row, "read_only") === "off", "the server accepts no writes");
}

async function versionOf(query: Transaction): Promise<number> {
  const [row] = await query("SELECT max(version) AS version FROM gate.version");
  return row === undefined || row["version"] === null ? 0 : integer(row, "version");
}

async function requireVersion(database: Database): Promise<void> {
  const version = await versionOf(database.query);
  if (version === TABLES_VERSION) return;
  const advice = version > 0 && version < TABLES_VERSION ? ', run "gate store migrate"' : "";
  throw new StoreError(
    "version_unsupported",
    `Cannot use ${database.name}: its tables have version ${version}, expected ${TABLES_VERSION}${advice}`,
  );
}

/** The result of a migration. */
export interface Migration {
  readonly database: string;
  /** The version of the tables before; null where they were created now. */
  readonly from: number | null;
  readonly version: number;
}

/** The longest time of one statement of a migration, in milliseconds: it may visit every record of a large store. */
const MIGRATION_MILLIS = 24 * 60 * 60 * 1000;

/** Lets one migration of a database run at a time; the number is "gate" in ASCII. */
const LOCK_MIGRATION = "SELECT pg_advisory_xact_lock(1734440037)::text";

/** A statement that waits for the lock of a table also holds up every server that comes after it. */
const LIMIT_LOCKS = "SELECT set_config('lock_timeout', '10s', true)";

/**
 * Creates the tables, or brings those of an earlier version to the current one, and grants the rights of a server to a
 * role. The role of the url has to own the schema.
 *
 * @param serverRole The role that servers use; null where it is the owner itself
 * @throws {StoreError} `version_unsupported` where the database or its tables cannot be used
 */
export async function migrateDatabase(options: PostgresOptions, serverRole: string | null): Promise<Migration> {
  const database = await connect(options, { statementMillis: MIGRATION_MILLIS });
  try {
    await requireDatabase(database);
    const from = await database.transaction(async (query) => {
      await query(LOCK_MIGRATION);
      await query(LIMIT_LOCKS);
      const [row] = await query("SELECT count(*) AS schemas FROM pg_namespace WHERE nspname = 'gate'");
      const version = row !== undefined && integer(row, "schemas") > 0 ? await versionOf(query) : null;
      const statements = version === null ? CREATE_TABLES : version === 0 ? [] : UPGRADES.slice(version - 1).flat();
      for (const statement of statements) await query(statement);
      for (const statement of serverRole === null ? [] : grantsTo(serverRole)) await query(statement);
      return version;
    });
    await requireVersion(database);
    return { database: database.name, from, version: TABLES_VERSION };
  } finally {
    await database.close();
  }
}
