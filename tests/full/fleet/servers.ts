/**
 * Several servers over HTTP on one database. Each has a folder of its own, with its audit log and its runpacks.
 *
 * @module
 */

import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { startServer, type Wire } from "../../e2e/client.ts";
import { gate, gateArgs, inFolder } from "../../e2e/gate_command.ts";
import { callText, type HttpServer, listening, send } from "../../e2e/http_fixture.ts";
import { contentOf } from "../../e2e/serve/presets_lifecycle.ts";
import { type PostgresServer, runSql } from "../postgres/server.ts";

/** A server of a fleet. */
export interface Member {
  readonly folder: string;
  readonly server: HttpServer;
  /** Calls a tool, and returns the JSON-RPC answer. */
  readonly ask: (tool: string, input: unknown) => Promise<Wire>;
  /** Calls a tool that has to succeed, and returns its structured content. */
  readonly call: (tool: string, input: unknown) => Promise<Wire>;
}

/** Servers on one database. */
export interface Fleet {
  readonly members: readonly Member[];
  /** The name of the database. */
  readonly database: string;
  /** A folder that all servers may read. */
  readonly folder: string;
  /** Ends servers as a service manager does, all unless given; returns their exit codes. */
  readonly stop: (stopped?: readonly Member[]) => Promise<readonly number[]>;
  /** Runs `gate audit verify` over files, compared with the heads in the database. */
  readonly verifyAudit: (...files: readonly string[]) => Promise<Verified>;
}

/** What `gate audit verify --config` reports. */
export interface Verified {
  readonly code: number;
  readonly chains: readonly Wire[];
  readonly files: readonly Wire[];
}

/** How the servers of a fleet are started. */
export interface FleetOptions {
  readonly count?: number;
  /** Lines of every configuration. */
  readonly config?: string;
  /** Default: `http`. */
  readonly transport?: "http" | "sse";
  /** Lines of the table `server`. */
  readonly server?: string;
  readonly flags?: readonly string[];
  /** Whether all servers keep runpacks in one folder. */
  readonly sharesRunpacks?: boolean;
}

const NAMES = ["a", "b", "c"];

let databases = 0;

function configOf(url: string, { transport = "http", server = "", config = "" }: FleetOptions): string {
  const store = `type = "postgres"\nurl = "${url}"\n`;
  return `[server]
transport = "${transport}"
bind = "127.0.0.1:0"
${server}
[server.audit]
path = "audit.jsonl"
[run_state_store]
${store}
[schema_registry]
${store}
[schema_registry.acl]
allow_local_only = true
${config}
`;
}

async function startMember(folder: string, flags: readonly string[]): Promise<Member> {
  const args = gateArgs("serve", "--config", `${folder}/gate.toml`, ...flags);
  const server = await listening(startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } }));
  const ask = async (tool: string, input: unknown): Promise<Wire> =>
    JSON.parse((await send(server.url, callText(1, tool, input))).text);
  return { folder, server, ask, call: async (tool, input) => contentOf(await ask(tool, input)) };
}

/** Runs a body with servers on a fresh database. */
export function withFleet(
  postgres: PostgresServer,
  options: FleetOptions,
  body: (fleet: Fleet) => Promise<void>,
): Promise<void> {
  return inFolder(async (folder) => {
    databases += 1;
    const database = `fleet_${databases}`;
    await runSql(postgres, `CREATE DATABASE ${database}`);
    const url = postgres.url(database);
    await migrateDatabase({ url, tls_ca_path: null, connections: 1 }, null);
    const folders = NAMES.slice(0, options.count ?? 2).map((name) => `${folder}/${name}`);
    for (const own of folders) {
      await Deno.mkdir(own);
      await Deno.writeTextFile(`${own}/gate.toml`, configOf(url, options));
    }
    const members: Member[] = [];
    try {
      const shared = options.sharesRunpacks === true ? ["--data-dir", `${folder}/shared`] : [];
      for (const own of folders) members.push(await startMember(own, [...options.flags ?? [], ...shared]));
      await body({
        members,
        database,
        folder,
        stop: (stopped = members) =>
          Promise.all(stopped.map(({ server }) => {
            server.process.signal("SIGTERM");
            return server.process.ended();
          })),
        verifyAudit: async (...files) => {
          const { code, stdout, stderr } = await gate(
            folder,
            ...["audit", "verify", "--config", "a/gate.toml", "--json", ...files],
          );
          if (stdout === "") throw new Error(stderr);
          const { result } = JSON.parse(stdout) as { readonly result: Omit<Verified, "code"> };
          return { code, ...result };
        },
      });
    } finally {
      for (const { server } of members) await server[Symbol.asyncDispose]();
    }
  });
}
