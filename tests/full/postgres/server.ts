/**
 * Real PostgreSQL servers for tests, from Debian's package. Each has a folder of its own and listens on the loopback address alone.
 *
 * @module
 */

import { createServer } from "node:net";

import { migrateDatabase } from "../../../src/store/postgres/open.ts";

/** The programs of Debian's package. */
const PROGRAMS = "/usr/lib/postgresql/15/bin";

/** The name and password of the owner of every database of the tests. */
export const OWNER = "gate_owner";

/** A running server. */
export interface PostgresServer {
  readonly port: number;
  readonly folder: string;
  /** Kills the server as a crash of the machine would. */
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** The URL of a database of the server. */
  readonly url: (database: string, role?: string) => string;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** The user that runs the server, which refuses to run as root; empty where the tests do not run as root. */
async function serverUser(): Promise<{ uid?: number; gid?: number }> {
  if (await read("id", "-u") !== "0") return {};
  return { uid: Number(await read("id", "-u", "postgres")), gid: Number(await read("id", "-g", "postgres")) };
}

async function read(program: string, ...args: string[]): Promise<string> {
  const { stdout } = await new Deno.Command(program, { args }).output();
  return new TextDecoder().decode(stdout).trim();
}

/** A port that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** Runs a program of the package to its end. */
async function run(program: string, args: string[], user: { uid?: number; gid?: number }): Promise<void> {
  const { success, stderr } = await new Deno.Command(`${PROGRAMS}/${program}`, { args, stdout: "null", ...user })
    .output();
  if (!success) throw new Error(`${program} failed: ${new TextDecoder().decode(stderr)}`);
}

/**
 * Creates and starts a server.
 *
 * @param settings Lines of `postgresql.conf`
 */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const user = await serverUser();
  const folder = await folderFor(user);
  const initialize = ["-D", `${folder}/data`, "-U", OWNER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  await run("initdb", initialize, user);
  const server = control(folder, await freePort(), user, settings);
  await server.start();
  return server;
}

/** Copies a running server, and starts the copy as its standby. */
export async function startStandby(primary: PostgresServer): Promise<PostgresServer> {
  const user = await serverUser();
  const folder = await folderFor(user);
  const source = ["-h", "127.0.0.1", "-p", String(primary.port), "-U", OWNER];
  await run("pg_basebackup", [...source, "-D", `${folder}/data`, "-R", "-X", "stream", "-c", "fast"], user);
  const server = control(folder, await freePort(), user, ["hot_standby=on"]);
  await server.start();
  return server;
}

/** Lets commits of a primary wait for its standby, or not. */
export async function setSynchronous(server: PostgresServer, isSynchronous: boolean): Promise<void> {
  await runSql(server, `ALTER SYSTEM SET synchronous_standby_names = '${isSynchronous ? "*" : ""}'`);
  await runSql(server, "SELECT pg_reload_conf()");
  if (!isSynchronous) return;
  const state = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'";
  for (let attempt = 0; attempt < 300; attempt++) {
    if (await runSql(server, state) === "1") return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("The standby does not become synchronous");
}

/** Makes a standby the primary, which waits for no standby of its own. */
export async function promote(server: PostgresServer): Promise<void> {
  await run("pg_ctl", ["-D", `${server.folder}/data`, "-w", "promote"], await serverUser());
  await setSynchronous(server, false);
}

async function folderFor(user: { uid?: number; gid?: number }): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "gate-postgres-" });
  await Deno.chown(folder, user.uid ?? null, user.gid ?? null);
  return folder;
}

function control(
  folder: string,
  port: number,
  user: { uid?: number; gid?: number },
  settings: readonly string[],
): PostgresServer {
  const data = `${folder}/data`;
  let child: Deno.ChildProcess | null = null;
  const start = async (): Promise<void> => {
    const all = [`port=${port}`, "listen_addresses=127.0.0.1", `unix_socket_directories=${folder}`, ...settings];
    child = new Deno.Command(`${PROGRAMS}/postgres`, {
      args: ["-D", data, ...all.flatMap((setting) => ["-c", setting])],
      stdout: "null",
      stderr: "null",
      stdin: "null",
      ...user,
    }).spawn();
    await untilReady(port, user);
  };
  const kill = async (): Promise<void> => {
    if (child === null) return;
    const running = child;
    child = null;
    const children = await read("ps", "-o", "pid=", "--ppid", String(running.pid));
    running.kill("SIGKILL");
    for (const pid of children.split(/\s+/).filter((text) => text !== "")) {
      try {
        Deno.kill(Number(pid), "SIGKILL");
      } catch { /* It ended with its parent. */ }
    }
    await running.status;
    for (const name of [`${data}/postmaster.pid`, `${folder}/.s.PGSQL.${port}`, `${folder}/.s.PGSQL.${port}.lock`]) {
      await Deno.remove(name).catch(() => {});
    }
  };
  return {
    port,
    folder,
    kill,
    start,
    url: (database, role = OWNER) => `postgres://${role}:unused@127.0.0.1:${port}/${database}`,
    [Symbol.asyncDispose]: async () => {
      await kill();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

async function untilReady(port: number, user: { uid?: number; gid?: number }): Promise<void> {
  for (let attempt = 0; attempt < 300; attempt++) {
    const args = ["-h", "127.0.0.1", "-p", String(port), "-U", OWNER, "-q"];
    if ((await new Deno.Command(`${PROGRAMS}/pg_isready`, { args, ...user }).output()).success) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`PostgreSQL on port ${port} does not get ready`);
}

/** Runs SQL as the owner in a database of a server. */
export async function runSql(server: PostgresServer, sql: string, database = "postgres"): Promise<string> {
  const args = ["-h", "127.0.0.1", "-p", String(server.port), "-U", OWNER, "-d", database, "-v", "ON_ERROR_STOP=1"];
  const { success, stdout, stderr } = await new Deno.Command(`${PROGRAMS}/psql`, { args: [...args, "-Atc", sql] })
    .output();
  if (!success) throw new Error(`psql failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

/** Backs up a database of a server to a file with the engine's own program, as the guide says. */
export async function dump(server: PostgresServer, database: string, file: string): Promise<void> {
  await run("pg_dump", ["--format=custom", `--file=${file}`, server.url(database)], {});
}

/** Restores a file into an empty database of a server, as the guide says. */
export async function restore(server: PostgresServer, database: string, file: string): Promise<void> {
  await run("pg_restore", ["--exit-on-error", `--dbname=${server.url(database)}`, file], {});
}

/** Creates a database with the tables of gate, and the rights of a role that servers use; returns its name. */
export async function createMigrated(server: PostgresServer, database: string, serverRole: string): Promise<string> {
  await runSql(server, `CREATE DATABASE ${database}`);
  await migrateDatabase({ url: server.url(database), tls_ca_path: null, connections: 1 }, serverRole);
  return database;
}
