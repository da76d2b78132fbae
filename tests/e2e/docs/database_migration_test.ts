/** The database migration of the documentation, with services of its own, its keys, and the clock of this machine. */

import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "@/canonical/json.ts";
import type { SeenServer } from "./agent_script.ts";
import { DATABASE_MIGRATION, withExample, withServerIn } from "./example_goals.ts";
import { gate } from "../gate_command.ts";

const COMMIT = "3a7bd3e2360a3d29eea436fcfb7e44c735d117c4";
const OTHER_COMMIT = "0000000000000000000000000000000000000000";
const MINUTE = 60_000;

/** What the three services answer; null is the status 404. */
interface World {
  failed: number | null;
  /** Minutes since the commit is on staging. */
  staged: number;
  /** Minutes since the last backup. */
  backup: number;
}

function ago(minutes: number): string {
  return new Date(Date.now() - minutes * MINUTE).toISOString();
}

function answer({ failed, staged, backup }: World, path: string): Response {
  const found: Readonly<Record<string, JsonObject | null>> = {
    [`/commits/${COMMIT}/tests`]: failed === null ? null : { failed },
    [`/deployments/${COMMIT}`]: { since: ago(staged) },
    "/main": { taken_at: ago(backup) },
  };
  const body = found[path] ?? null;
  return body === null ? new Response(null, { status: 404 }) : Response.json(body);
}

/** A run of the example that is open. */
interface Migration {
  readonly folder: string;
  readonly server: SeenServer;
  readonly law: string;
  readonly run: JsonObject;
  head: JsonValue;
  operations: number;
}

function result(answer: JsonObject): JsonObject {
  const { outcome, result } = answer["outcome"] as { outcome: string; result: JsonObject };
  assert.equal(outcome, "accepted", JSON.stringify(result));
  return result;
}

function id(number: number): string {
  return number.toString(16).padStart(32, "0");
}

async function start(folder: string, server: SeenServer, spec: JsonObject, commit: string): Promise<Migration> {
  const law = String((await server.call("scenario_define", { spec }))["scenario_law_identity"]);
  const scenario = { namespace_id: 2, scenario_id: "database-migration" };
  const started = result(
    await server.call("scenario_start", {
      ...scenario,
      scenario_law_identity: law,
      creation_request_id: id(1),
      correlation: { kind: "unset" },
      genesis: {
        kind: "parameters",
        parameters: [{ parameter_id: "commit", value: { value: commit, value_type: "String" } }],
      },
    }),
  );
  const { run_id = "" } = started["run_key"] as JsonObject;
  const migration: Migration = {
    folder,
    server,
    law,
    run: { ...scenario, run_id },
    head: started["head"] ?? null,
    operations: 1,
  };
  const input = { ...migration.run, stage_id: "migration", expected_head: migration.head, operation_id: id(2) };
  migration.head = result(await server.call("scenario_open_stage", input))["accepted_head"] ?? null;
  return migration;
}

/** The approval of a person for the present head. */
async function approval({ folder, law, run, head }: Migration, person: string): Promise<JsonObject> {
  const { record_id, revision } = head as { record_id: string; revision: number };
  const { code, stdout, stderr } = await gate(
    folder,
    ...[
      "evidence",
      "sign",
      "--key",
      `keys/${person}.key`,
      "--namespace",
      "2",
      "--law",
      law,
      "--run",
      String(run["run_id"]),
    ],
    ...["--stage", "migration", "--condition", "approved", "--head", `${record_id}:${revision}`, "--value", "true"],
  );
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as JsonObject;
}

/** Evaluates with the approvals of some people; the outcome, and the conditions that are not true. */
async function evaluate(migration: Migration, people: readonly string[]): Promise<string> {
  const caller_evidence: JsonObject[] = [];
  for (const person of people) caller_evidence.push(await approval(migration, person));
  migration.operations += 1;
  const answer = result(
    await migration.server.call("scenario_evaluate_stage", {
      ...migration.run,
      stage_id: "migration",
      expected_head: migration.head,
      operation_id: id(migration.operations + 1),
      caller_evidence,
    }),
  );
  migration.head = answer["accepted_head"] ?? null;
  const { outcome } = answer["attempt"] as { outcome: string };
  const { recent_attempts } = await migration.server.call("scenario_status", migration.run);
  const [{ trace = [] } = {}] = (recent_attempts as { trace?: readonly JsonObject[] }[]).slice(-1);
  const unmet = trace.filter(({ value }) => value !== "true").map(({ condition_id, value }) =>
    `${condition_id} ${value}`
  );
  return [outcome, ...unmet].join(", ");
}

/** Runs a body in a folder of the example, with services on this machine. */
async function withMigration(
  commit: string,
  world: World,
  body: (migration: Migration) => Promise<void>,
): Promise<void> {
  const services = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url }) => answer(world, new URL(url).pathname),
  );
  const origin = `http://127.0.0.1:${services.addr.port}`;
  try {
    await withExample(
      DATABASE_MIGRATION,
      ({ folder, goal }) =>
        withServerIn(folder, async (server) => await body(await start(folder, server, goal.spec, commit))),
      async (folder) => {
        const law = `${folder}/scenario.yaml`;
        const text = await Deno.readTextFile(law);
        await Deno.writeTextFile(law, text.replaceAll(/https:\/\/(ci|staging|backup)\.example/g, origin));
        const config = `${folder}/gate.toml`;
        const hosts = /allowed_hosts = \[[^\]]*\]/;
        const local = 'allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"]';
        await Deno.writeTextFile(config, (await Deno.readTextFile(config)).replace(hosts, local));
        for (const person of ["alice", "bob", "carol"]) {
          assert.equal((await gate(folder, "key", "create", `keys/${person}.key`)).code, 0);
        }
      },
    );
  } finally {
    await services.shutdown();
  }
}

Deno.test("database_migration: the gate opens when all four hold at once, and for this commit alone", () => {
  const world: World = { failed: 0, staged: 31, backup: 60 };
  return withMigration(COMMIT, world, async (migration) => {
    assert.equal(await evaluate(migration, []), "unknown, approved unknown");
    assert.equal(await evaluate(migration, ["alice"]), "unknown, approved unknown");
    assert.equal(await evaluate(migration, ["alice", "alice"]), "unknown, approved unknown");
    world.staged = 29;
    assert.equal(await evaluate(migration, ["alice", "bob"]), "false, staged_at false");
    world.staged = 31;
    world.backup = 24 * 60 + 1;
    assert.equal(await evaluate(migration, ["alice", "bob"]), "false, backup_at false");
    world.backup = 24 * 60 - 5;
    world.failed = 1;
    assert.equal(await evaluate(migration, ["alice", "bob"]), "false, tests_failed false");
    world.failed = null;
    assert.equal(await evaluate(migration, ["alice", "bob"]), "unknown, tests_failed unknown");
    world.failed = 0;
    assert.equal(await evaluate(migration, ["bob", "carol"]), "true");
    const { folder, run } = migration;
    const exported = await gate(
      folder,
      ...["runpack", "export", "--namespace", "2", "--run", String(run["run_id"]), "--config", "gate.toml"],
      ...["--out", "pack"],
    );
    assert.equal(exported.code, 0, exported.stderr);
    const verified = await gate(folder, "runpack", "verify", "pack", "--profile", "full_replay_v1");
    assert.equal(verified.code, 0, verified.stdout);
    assert.match(verified.stdout, /pure_semantic_replay/);
  });
});

Deno.test("database_migration: green tests of another commit do not count", () =>
  withMigration(OTHER_COMMIT, { failed: 0, staged: 31, backup: 60 }, async (migration) => {
    assert.equal(
      await evaluate(migration, ["alice", "bob"]),
      "unknown, staged_at unknown, tests_failed unknown",
    );
  }));
