/**
 * Three gate servers on one database whose callers want the same runs.
 *
 * @module
 */

import assert from "node:assert/strict";
import { type Answer, type GateProcess, startGate } from "../../simulation/crash/gate_process.ts";
import { type Head, headAfter, type LoadedRun, nextMutation, startRuns } from "../../simulation/crash/load.ts";
import { identityOf, type Random, randomOf } from "../../simulation/crash/random.ts";
import { readChain } from "../../simulation/crash/round.ts";
import { checkRealTime, type Observation } from "../../simulation/real_time.ts";
import { migrateDatabase } from "../../../src/store/postgres/open.ts";
import { OWNER, type PostgresServer, runSql, startPostgres } from "./server.ts";

const SERVERS = 3;

/** Callers of the mixed load, and the runs that they share. */
const CALLERS = 96;
const SHARED_RUNS = 48;

/** A fleet on one database. */
export interface Fleet extends AsyncDisposable {
  readonly database: PostgresServer;
  readonly servers: readonly GateProcess[];
  readonly start: () => Promise<GateProcess>;
  /** How many deadlocks the database has counted. Ends the servers, since a connection counts at its end. */
  readonly deadlocks: () => Promise<number>;
}

/** Starts a database and its servers. */
export async function startFleet(): Promise<Fleet> {
  const folder = await Deno.makeTempDir({ prefix: "gate-contention-" });
  const database = await startPostgres();
  await runSql(database, "CREATE DATABASE gate");
  await migrateDatabase({ url: database.url("gate"), tls_ca_path: null, connections: 1 }, null);
  const store = `type = "postgres"\nurl = "postgres://${OWNER}:unused@127.0.0.1:${database.port}/gate"\n`;
  const registry = `[schema_registry]\n${store}[schema_registry.acl]\nallow_local_only = true\n`;
  const config = `[server.audit]\nenabled = false\n[run_state_store]\n${store}${registry}`;
  await Deno.writeTextFile(`${folder}/gate.toml`, config);
  const started: GateProcess[] = [];
  const start = async (): Promise<GateProcess> => {
    const server = await startGate(`${folder}/gate.toml`);
    started.push(server);
    return server;
  };
  const end = async (): Promise<void> => {
    for (const server of started.splice(0)) await server.kill();
  };
  return {
    database,
    servers: await Promise.all(Array.from({ length: SERVERS }, start)),
    start,
    deadlocks: async () => {
      await end();
      return await countDeadlocks(database);
    },
    [Symbol.asyncDispose]: async () => {
      await end();
      await database[Symbol.asyncDispose]();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** The deadlocks of a database, once every other connection to it has ended. */
export async function countDeadlocks(database: PostgresServer): Promise<number> {
  const others = "SELECT count(*) FROM pg_stat_activity WHERE datname = 'gate' AND backend_type = 'client backend'";
  for (let attempt = 0; await runSql(database, others) !== "0"; attempt++) {
    if (attempt === 300) throw new Error("The connections of the servers do not end");
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return Number(await runSql(database, "SELECT deadlocks FROM pg_stat_database WHERE datname = 'gate'"));
}

/** Lets many writers name one head at once, over all servers; returns the winners of each round. */
export async function raceOnOneHead(fleet: Fleet, writers: number, rounds: number): Promise<number[]> {
  const random = randomOf(1);
  const [first] = fleet.servers;
  assert.ok(first !== undefined);
  const { runs: [run], heads: [created] } = await startRuns(first, random);
  assert.ok(run !== undefined && created !== undefined);
  const winners: number[] = [];
  let head: Head = created;
  for (let round = 0; round < rounds; round++) {
    const answers: Answer[] = await Promise.all(Array.from({ length: writers }, (_, writer) => {
      const input = {
        ...{ ...run, expected_head: head, operation_id: identityOf(random), scope: { kind: "run_wide" } },
        ...{ content_type: "application/json", payload: { kind: "json", value: { writer } } },
      };
      return (fleet.servers[writer % SERVERS] ?? first).decide("scenario_submit", input);
    }));
    const [won] = answers.filter(({ outcome }) => outcome === "accepted");
    assert.ok(won !== undefined, "nobody won");
    winners.push(answers.filter(({ outcome }) => outcome === "accepted").length);
    const next: Head = headAfter(won, head);
    assert.equal(next.revision, head.revision + 1);
    for (const answer of answers) {
      if (answer["outcome"] === "accepted") continue;
      assert.equal(answer["outcome"], "stale");
      assert.deepEqual(headAfter(answer, head), next);
    }
    head = next;
  }
  const chain = await readChain(await fleet.start(), run);
  assert.equal(chain.length, rounds + 1);
  assert.equal(chain.at(-1)?.record_id, head.record_id);
  return winners;
}

/** What a mixed load did. */
export interface MixedReport {
  readonly accepted: number;
  readonly stale: number;
  readonly created: number;
  readonly registered: number;
  readonly reads: number;
}

interface Mixed {
  readonly fleet: Fleet;
  readonly law: string;
  readonly runs: readonly LoadedRun[];
  /** The newest head of each run that an answer named. */
  readonly heads: Head[];
  /** The identities of accepted records, by run. */
  readonly accepted: Set<string>[];
  readonly observations: Observation[];
  readonly counts: { accepted: number; stale: number; created: number; registered: number; reads: number };
}

/** Lets callers change and read the same runs over all servers, and holds a new server to what they were answered. */
export async function runMixedLoad(fleet: Fleet, seconds: number): Promise<MixedReport> {
  const [first] = fleet.servers;
  assert.ok(first !== undefined);
  const { law, runs, heads } = await startRuns(first, randomOf(2));
  const load: Mixed = {
    fleet,
    law,
    runs: runs.slice(0, SHARED_RUNS),
    heads: heads.slice(0, SHARED_RUNS),
    accepted: Array.from({ length: SHARED_RUNS }, () => new Set()),
    observations: [],
    counts: { accepted: 0, stale: 0, created: 0, registered: 0, reads: 0 },
  };
  const end = performance.now() + seconds * 1000;
  await Promise.all(Array.from({ length: CALLERS }, async (_, caller) => {
    const random = randomOf(100 + caller);
    while (performance.now() < end) await callOnce(load, random);
  }));
  checkRealTime(load.observations);
  const witness = await fleet.start();
  for (const [index, run] of load.runs.entries()) {
    const [, ...added] = await readChain(witness, run);
    assert.deepEqual(new Set(added.map(({ record_id }) => record_id)), load.accepted[index]);
  }
  return load.counts;
}

async function callOnce(load: Mixed, random: Random): Promise<void> {
  const { counts, law, runs } = load;
  const choice = random();
  const index = Math.floor(random() * SHARED_RUNS);
  const run = runs[index];
  assert.ok(run !== undefined);
  const { namespace_id, run_id, scenario_id } = run;
  if (choice < 0.6) return await mutate(load, index, run, random);
  if (choice < 0.75) {
    // Several callers make each request, so creations compete.
    const creation_request_id = String(Math.floor(counts.created / 8)).padStart(32, "0");
    const start = { namespace_id, scenario_id, scenario_law_identity: law, creation_request_id };
    const answer = await call(load, random, "scenario_start", {
      ...{ ...start, correlation: { kind: "unset" }, genesis: { kind: "empty" } },
    });
    assert.equal((answer["outcome"] as Answer)["outcome"], "accepted");
    counts.created += 1;
  } else if (choice < 0.8) {
    const schema_id = `schema_${Math.floor(counts.registered / 8) % 200}`;
    const record = { schema_id, version: "1", namespace_id, description: "A schema of the load", schema: {} };
    const created_at = { kind: "unix_millis", value: 1 };
    const known = ["schema_exists"];
    await call(load, random, "schemas_register", { record: { ...record, created_at } }, known);
    counts.registered += 1;
  } else {
    counts.reads += 1;
    if (choice < 0.9) await call(load, random, "scenario_status", { namespace_id, run_id, scenario_id });
    else if (choice < 0.95) {
      const after_revision = Math.max(0, (load.heads[index]?.revision ?? 0) - 10);
      await call(load, random, "scenario_history", { namespace_id, run_id, scenario_id, after_revision });
    } else await call(load, random, "runs_list", { namespace_id, limit: 20 });
  }
}

async function mutate(load: Mixed, index: number, run: LoadedRun, random: Random): Promise<void> {
  const head = load.heads[index];
  assert.ok(head !== undefined);
  const mutation = nextMutation(run, head, random);
  const sent = performance.now();
  const answer = (await call(load, random, mutation.tool, mutation.input))["outcome"] as Answer;
  const isAdded = answer["outcome"] === "accepted";
  if (!isAdded && answer["outcome"] !== "stale") return;
  const next = headAfter(answer, head);
  load.observations.push({
    ...{ run: run.run_id, revision: next.revision, isAdded, sent, answered: performance.now() },
  });
  load.counts[isAdded ? "accepted" : "stale"] += 1;
  if (isAdded) load.accepted[index]?.add(next.record_id);
  if (next.revision > (load.heads[index]?.revision ?? 0)) load.heads[index] = next;
}

/** Calls any server. The database is there all the time, so no call may fail, except with an expected error. */
async function call(
  load: Mixed,
  random: Random,
  tool: string,
  input: unknown,
  expected: readonly string[] = [],
): Promise<Answer> {
  const server = load.fleet.servers[Math.floor(random() * SERVERS)];
  const answer = await server?.call(tool, input) ?? {};
  const error = answer["error"] as { readonly code: string } | undefined;
  const isExpected = error === undefined ? !("protocol_error" in answer) : expected.includes(error.code);
  assert.ok(isExpected, `${tool}: ${JSON.stringify(answer)}`);
  return answer;
}
