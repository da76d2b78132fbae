/**
 * The commands of several servers on one database, as processes over a real PostgreSQL server with two roles.
 */
import assert from "node:assert/strict";

import type { JsonObject } from "@/canonical/json.ts";
import { startServer } from "../../e2e/client.ts";
import { callText, listening, send } from "../../e2e/http_fixture.ts";
import { evidence, LAW } from "../../e2e/cli/run_command_fixture.ts";
import { applyLists } from "../../e2e/cli/apply_case.ts";
import { type Ended, gateArgs, inFolder, processOf } from "../../e2e/gate_command.ts";
import { OWNER, runSql, startPostgres } from "./server.ts";

/** Passwords that no output may have. */
const SERVER_PASSWORD = "canary-of-the-server";
const OWNER_PASSWORD = "canary-of-the-owner";

const CONFIG = `
[run_state_store]
type = "postgres"
url = "env:GATE_DATABASE"

[schema_registry]
type = "postgres"
url = "env:GATE_DATABASE"
`;

const server = await startPostgres();
await runSql(server, `CREATE ROLE gate_server LOGIN PASSWORD '${SERVER_PASSWORD}'`);
let databases = 0;

/** Runs a `gate` command to its end. No output may have a password. */
type Gate = (...args: readonly string[]) => Promise<Ended>;

/** A folder with the configuration, and an empty database. */
interface World {
  readonly folder: string;
  readonly database: string;
  readonly env: Readonly<Record<string, string>>;
  readonly gate: Gate;
  readonly migrate: () => Promise<Ended>;
}

async function inWorld(body: (world: World) => Promise<void>, port: number = server.port): Promise<void> {
  databases += 1;
  const database = `commands_${databases}`;
  await runSql(server, `CREATE DATABASE ${database}`);
  const addresses = {
    GATE_DATABASE: `postgres://gate_server:${SERVER_PASSWORD}@127.0.0.1:${port}/${database}`,
    GATE_OWNER: `postgres://${OWNER}:${OWNER_PASSWORD}@127.0.0.1:${port}/${database}`,
  };
  await inFolder(async (folder) => {
    const env = { ...addresses, GATE_CONFIG: `${folder}/gate.toml` };
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await Deno.writeTextFile(`${folder}/law.yaml`, LAW);
    await Deno.writeTextFile(`${folder}/evidence.json`, evidence({ built: true, deployed: true }));
    const gate: Gate = (...args) => run(folder, gateArgs(...args), env);
    const migrate = (): Promise<Ended> =>
      gate("store", "migrate", "--owner", "env:GATE_OWNER", "--server-role", "gate_server");
    await body({ folder, database, env, gate, migrate });
  });
}

/** Runs `deno` with some arguments and an empty standard input; no output may have a password. */
async function run(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ended> {
  const process = processOf(args);
  const options = { args: [...process.args], cwd, env: { NO_COLOR: "1", ...env } };
  const { code, stdout, stderr } = await new Deno.Command(process.command, { ...options, stdin: "null" }).output();
  const ended = { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  for (const password of [SERVER_PASSWORD, OWNER_PASSWORD]) {
    assert.ok(!`${ended.stdout}${ended.stderr}`.includes(password), `${args.at(-1)} shows a password`);
  }
  return ended;
}

function assertEnded(ended: Ended, code: number, output: RegExp): void {
  assert.equal(ended.code, code, ended.stderr);
  assert.match(`${ended.stdout}${ended.stderr}`, output);
}

Deno.test("a database without tables is reported, and gate store migrate creates them", () =>
  inWorld(async ({ database, gate, migrate }) => {
    const missing = /it has no tables of gate, run \\?"gate store migrate\\?"/;
    assertEnded(await gate("serve"), 8, missing);
    assertEnded(await gate("doctor"), 8, missing);
    assertEnded(await gate("runs"), 8, missing);
    const name = `database "${database}" at 127\\.0\\.0\\.1:${server.port}: tables of version 6`;
    assertEnded(await migrate(), 0, new RegExp(`^${name} created\n$`));
    assertEnded(await migrate(), 0, new RegExp(`^${name} are there\n$`));
    const absent = await gate("store", "migrate", "--owner", "env:GATE_OWNER", "--server-role", "absent");
    assertEnded(absent, 8, /: the server has no such role \(42704\)\n$/);
    assertEnded(await gate("doctor"), 0, /^ok +run_state_store, schema_registry +.* accepts writes$/m);
    assertEnded(await gate("runs"), 0, /^No runs\.\n$/);
  }));

Deno.test("tables of version 1 are refused until gate store migrate has brought them to version 6", () =>
  inWorld(async ({ database, gate, migrate }) => {
    await migrate();
    await gate("run", "law.yaml", "--evidence", "evidence.json", "--run-key", "release 6");
    const columns = ["runpack_identity", "archived", "state_identity", "archive_seal"];
    const dropped = columns.map((column) => `DROP COLUMN ${column}`).join(", ");
    await runSql(server, "DROP TABLE gate.audit_heads, gate.archives; DELETE FROM gate.version", database);
    await runSql(server, "DROP TABLE gate.outbox, gate.outbox_targets, gate.open_stages, gate.run_counts", database);
    await runSql(server, "DROP INDEX gate.records_of_creation", database);
    await runSql(server, `ALTER TABLE gate.runs ${dropped}; INSERT INTO gate.version VALUES (1)`, database);
    assertEnded(await gate("runs"), 8, /its tables have version 1, expected 6, run \\?"gate store migrate\\?"/);
    assertEnded(await migrate(), 0, /: tables of version 6 made from version 1\n$/);
    assertEnded(await gate("runs"), 0, /complete/);
    assertEnded(await migrate(), 0, /: tables of version 6 are there\n$/);
  }));

Deno.test("a run in a database is driven, listed, explained, exported and verified by separate processes", () =>
  inWorld(async ({ folder, gate, migrate }) => {
    await migrate();
    const drive = ["run", "law.yaml", "--evidence", "evidence.json", "--run-key", "release 7", "--json"];
    const first = JSON.parse((await gate(...drive, "--export", "run.runpack")).stdout).result;
    assert.deepEqual([first.status, first.recorded, first.accepted_head.revision], ["complete", 2, 5]);
    const again = JSON.parse((await gate(...drive)).stdout).result;
    assert.deepEqual([again.run_id, again.recorded, again.accepted_head], [first.run_id, 0, first.accepted_head]);
    const unrecorded = JSON.parse((await gate(...drive, "--dry-run")).stdout).result;
    assert.notEqual(unrecorded.run_id, first.run_id);

    const { result } = JSON.parse((await gate("runs", "--json")).stdout);
    assert.deepEqual(result.runs.map(({ run_key }: { run_key: { run_id: string } }) => run_key.run_id), [first.run_id]);
    const { run_id } = first;
    assertEnded(await gate("status", run_id.slice(0, 8)), 0, /is complete at revision 5\n2 of 2 stages complete\n/);
    assertEnded(await gate("history", run_id), 0, /^5 .* run complete +\S+$/m);
    assertEnded(await gate("explain", run_id), 0, /is complete at revision 5/);
    const archive = ["runpack", "export", "--namespace", "2", "--run", run_id, "--archive", "exported.runpack"];
    assertEnded(await gate(...archive), 0, /./);
    const packs = ["run.runpack", "exported.runpack"];
    const identities = await Promise.all(packs.map(async (pack) => {
      const verified = await gate("runpack", "verify", pack, "--json");
      assert.equal(verified.code, 0, verified.stderr);
      return JSON.parse(verified.stdout).result.runpack_identity;
    }));
    assert.equal(identities[0], identities[1]);
    assert.ok((await Deno.stat(`${folder}/run.runpack`)).isFile);
  }));

Deno.test("lists of operations in a database are applied by separate processes", () =>
  inWorld(async ({ folder, gate, migrate }) => {
    await migrate();
    await applyLists(folder, gate);
  }));

Deno.test("the role of the servers can neither remove nor change what was accepted", () =>
  inWorld(async ({ database, gate, migrate }) => {
    await migrate();
    await gate("run", "law.yaml", "--evidence", "evidence.json", "--run-key", "release 8");
    // Statement, and whether the role may run it.
    const rows: readonly (readonly [string, boolean])[] = [
      ["SELECT count(*) FROM gate.records", true],
      ["UPDATE gate.readiness SET writes = writes", true],
      ["DELETE FROM gate.records", false],
      ["UPDATE gate.records SET record = ''", false],
      ["DELETE FROM gate.runs", false],
      ["UPDATE gate.runs SET law_identity = ''", false],
      ["UPDATE gate.runs SET creation = ''", false],
      ["DELETE FROM gate.laws", false],
      ["UPDATE gate.laws SET law = ''", false],
      ["DELETE FROM gate.artifacts", false],
      ["UPDATE gate.artifacts SET body = ''", false],
      ["DELETE FROM gate.schemas", false],
      ["UPDATE gate.schemas SET record = ''", false],
      ["DELETE FROM gate.typed_providers", false],
      ["UPDATE gate.typed_providers SET body = ''", false],
      ["UPDATE gate.version SET version = 4", false],
      ["INSERT INTO gate.audit_heads VALUES ('0', 1, '0', 'a', 'b', 0)", true],
      ["UPDATE gate.audit_heads SET head = '1'", false],
      ["DELETE FROM gate.audit_heads", false],
      ["UPDATE gate.runs SET archived = 1", false],
      ["INSERT INTO gate.archives VALUES (2, '', '')", false],
      ["DELETE FROM gate.archives", false],
      ["TRUNCATE gate.records", false],
      ["DROP TABLE gate.records", false],
      ["CREATE TABLE gate.other (id int8)", false],
    ];
    for (const [sql, isAllowed] of rows) {
      const asServer = runSql(server, `SET ROLE gate_server; ${sql}`, database);
      if (isAllowed) await asServer;
      else await assert.rejects(asServer, /permission denied|must be owner/, sql);
    }
  }));

Deno.test("the owner archives old runs of a database, and the role of the servers cannot", () =>
  inWorld(async ({ folder, database, env, gate, migrate }) => {
    await migrate();
    await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${CONFIG}`);
    const drive = ["run", "law.yaml", "--evidence", "evidence.json", "--json", "--run-key"];
    const runs: string[] = [];
    for (const key of ["a", "b", "c"]) runs.push(JSON.parse((await gate(...drive, key)).stdout).result.run_id);
    const run = { namespace_id: 2, scenario_id: "release", run_id: runs[0] ?? "" };

    await using process = startServer({ args: gateArgs("serve"), cwd: folder, env });
    const { url } = await listening(process);
    const call = async (name: string, input: JsonObject): Promise<JsonObject> =>
      JSON.parse((await send(url, callText(1, name, input), {})).text).result.structuredContent;
    const { accepted_head } = await call("scenario_status", run);
    const [first] = (await call("scenario_history", run))["records"] as [
      { record: { operation: { identity: string } } },
    ];
    assert.equal(first.record.operation.identity.length, 32);

    const now = new Date().toISOString();
    const archive = ["store", "archive", "--before", now];
    assertEnded(await gate(...archive, "--dry-run"), 0, /^3 runs would be archived$/m);
    assertEnded(
      await gate(...archive),
      8,
      /archive run "\w{32}" in .*: the role lacks a right \(42501\), expected the role that owns/,
    );
    assertEnded(await gate("store", "check"), 0, /: sound \(1 law, 3 runs, 15 records/);

    const killed = startOwned(folder, env, [...archive, "--owner", "env:GATE_OWNER"]);
    const manifests = `${folder}/.gate/runpacks/manifests`;
    while (!killed.isEnded() && entriesIn(manifests) < 3) await new Promise((resolve) => setTimeout(resolve, 1));
    await killed.kill();
    assertEnded(await gate("store", "check"), 0, /: sound \(/);
    assertEnded(await gate(...archive, "--owner", "env:GATE_OWNER"), 0, /^\d runs? archived to /m);
    assertEnded(await gate(...archive, "--owner", "env:GATE_OWNER"), 0, /^0 runs archived to /m);
    assertEnded(await gate("store", "check"), 0, /: sound \(1 law, 3 runs, 3 of them archived, 0 records/);

    const history = await call("scenario_history", run) as { records: unknown[]; archived: JsonObject };
    assert.deepEqual(history.records, []);
    const submission = {
      content_type: "application/json",
      payload: { kind: "json", value: 1 },
      scope: { kind: "run_wide" },
    };
    const submitted = { ...run, ...submission, operation_id: "1".repeat(32), expected_head: accepted_head ?? null };
    const { outcome } = await call("scenario_submit", submitted) as { outcome: { result: JsonObject } };
    assert.deepEqual(
      [outcome.result["reason"], outcome.result["runpack_identity"]],
      ["run_archived", history.archived["runpack_identity"]],
    );
    for (const runId of runs) {
      const named = ["runpack", "export", "--namespace", "2", "--run", runId, "--archive", `${runId}.runpack`];
      assertEnded(await gate(...named), 0, /^[0-9a-f]{64}\n$/);
      assertEnded(await gate("runpack", "verify", `${runId}.runpack`), 0, /^Complete; /);
    }
    assertEnded(await gate(...drive, "a"), 0, /"status":"complete"/);
    const left = "SELECT count(*) FROM gate.records WHERE record <> '' OR material <> ''";
    await runSql(server, `DO $$ BEGIN ASSERT (${left}) = 0; END $$`, database);
  }));

/** A command that a test kills. */
function startOwned(cwd: string, env: Readonly<Record<string, string>>, args: readonly string[]): {
  readonly isEnded: () => boolean;
  readonly kill: () => Promise<void>;
} {
  const { command, args: given } = processOf(gateArgs(...args));
  const options = { args: [...given], cwd, env: { NO_COLOR: "1", ...env } };
  const child = new Deno.Command(command, { ...options, stdin: "null", stdout: "null", stderr: "null" }).spawn();
  let isEnded = false;
  const ended = child.status.then(() => void (isEnded = true));
  return {
    isEnded: () => isEnded,
    kill: async () => {
      if (!isEnded) child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Entries of a folder; none where it does not exist. */
function entriesIn(folder: string): number {
  try {
    return [...Deno.readDirSync(folder)].length;
  } catch {
    return 0;
  }
}

Deno.test("a server with exactly the permissions that gate permissions prints serves on a database", () =>
  inWorld(async ({ folder, gate, migrate, env }) => {
    await migrate();
    const { result } = JSON.parse((await gate("permissions", "--json")).stdout);
    // The standard input is empty, so the server ends after its start.
    assertEnded(await run(folder, result.run.slice(1), env), 0, /"level":"info"/);
    const unset = await run(folder, gateArgs("permissions"), { ...env, GATE_DATABASE: "" });
    assertEnded(unset, 0, /^# GATE_DATABASE has no address of a database here: /m);
  }));

Deno.test("a database that does not answer ends every command with exit code 8", () =>
  inWorld(async ({ gate }) => {
    // Nothing listens on port 1.
    const down = /Cannot use database \\?"commands_\d+\\?" at 127\.0\.0\.1:1: it is not available \(ECONNREFUSED\)/;
    const commands = [["serve"], ["doctor"], ["runs"], ["run", "law.yaml"], ["store", "migrate"], [
      ...["runpack", "export", "--namespace", "2", "--run", "0".repeat(32)],
    ]];
    for (const command of commands) assertEnded(await gate(...command), 8, down);
  }, 1));

Deno.test("gate store check reads the database, and gate store backup names the command of PostgreSQL", () =>
  inWorld(async ({ database, gate, migrate }) => {
    assertEnded(await gate("store", "check"), 8, /it has no tables of gate/);
    await migrate();
    await gate("run", "law.yaml", "--evidence", "evidence.json", "--run-key", "release 9");
    const name = `database "${database}" at 127\\.0\\.0\\.1:${server.port}`;
    const sound = new RegExp(`^${name}: sound \\(1 law, 1 run, 5 records, 0 schemas, \\d snapshots?\\)\n$`);
    for (const args of [[], ["env:GATE_DATABASE"], ["gate.toml"], ["--config", "gate.toml"]]) {
      assertEnded(await gate("store", "check", ...args), 0, sound);
    }
    await runSql(server, "UPDATE gate.records SET result = result || ' ' WHERE revision = 2", database);
    assertEnded(
      await gate("store", "check"),
      6,
      /1 problem .*\n {2}record in namespace 2 of run \S+ at revision 2: its receipt/,
    );
    const backup = await gate("store", "backup", "copy.db");
    const command = "pg_dump --format=custom --file=FILE";
    assertEnded(
      backup,
      2,
      new RegExp(`Cannot back up the database of environment variable "GATE_DATABASE": .* \\(${command} backs it up`),
    );
  }));

Deno.test.afterAll(() => server[Symbol.asyncDispose]());
