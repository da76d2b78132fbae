/**
 * Rows 5 and 6: durable mutations through the dispatcher, against a loop that commits one row at a time on the same disk.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { HOST_PRIMITIVES } from "../../../src/evidence/host_primitives.ts";
import { createSchemaSandbox } from "../../../src/evidence/sandbox/schema_sandbox.ts";
import { createDispatcher, type Dispatcher } from "../../../src/server/protocol/dispatcher.ts";
import { openStores } from "../../../src/store/open.ts";
import { createServices } from "../../../src/tools/services/services.ts";
import { createTools } from "../../../src/tools/table.ts";
import type { Call } from "../../../src/tools/framework/types.ts";
import { SCENARIO } from "../../simulation/crash/load.ts";
import { identityOf, randomOf } from "../../simulation/crash/random.ts";
import { alternate, type BenchRow, makeRow, median } from "../harness.ts";

/** Calls of one round and one caller. */
const CALLS = 400;
/** Callers of row 6, each on a run of its own. */
const CALLERS = 64;
/** Rows of one round of the peer. */
const ROWS = 1500;
/** Bytes of the peer's row: what one submission writes. */
const ROW_BYTES = 1500;
/** Milliseconds that row 6 allows its 99th percentile. */
const P99_MILLIS = 20;

const random = randomOf(7);

const CALL: Call = {
  principal: { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] },
  signal: new AbortController().signal,
  correlationId: null,
};

interface Head {
  readonly record_id: string;
  readonly revision: number;
}

/** A run that one caller submits to. */
export interface BenchRun {
  readonly run_key: { readonly namespace_id: number; readonly run_id: string };
  head: Head;
}

/** Calls a tool and gives its structured content. */
export type CallTool = (tool: string, input: JsonObject) => Promise<JsonObject>;

/** Calls a tool that answers with an outcome; throws where that is not `accepted`. */
async function acceptedResult<Result>(call: CallTool, tool: string, input: JsonObject): Promise<Result> {
  const { outcome } = await call(tool, input) as unknown as { outcome: { outcome: string; result: Result } };
  if (outcome.outcome !== "accepted") throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
  return outcome.result;
}

/** Defines the bench law and starts runs. */
export async function startBenchRuns(call: CallTool, count: number): Promise<BenchRun[]> {
  const law = await call("scenario_define", { spec: SCENARIO as unknown as JsonObject });
  return await startRunsOf(call, count, String(law["scenario_law_identity"]));
}

/** Starts runs of the bench law, which is registered. */
export async function startRunsOf(call: CallTool, count: number, law: string): Promise<BenchRun[]> {
  const start = (): Promise<BenchRun> =>
    acceptedResult(call, "scenario_start", {
      namespace_id: 2,
      scenario_id: SCENARIO.scenario_id,
      scenario_law_identity: law,
      creation_request_id: identityOf(random),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    });
  const started = await Promise.all(Array.from({ length: count }, start));
  return started.map(({ run_key, head }) => ({ run_key, head }));
}

/** Submits once; throws where it is not accepted. */
export async function submit(call: CallTool, run: BenchRun): Promise<void> {
  const result = await acceptedResult<{ accepted_head: Head }>(call, "scenario_submit", {
    ...run.run_key,
    scenario_id: SCENARIO.scenario_id,
    expected_head: { ...run.head },
    operation_id: identityOf(random),
    content_type: "application/json",
    payload: { kind: "json", value: { build: "4711", note: "artifact of the build", passed: true } },
    scope: { kind: "run_wide" },
  });
  run.head = result.accepted_head;
}

async function openDispatcher(folder: string): Promise<{ dispatcher: Dispatcher; close: () => Promise<void> }> {
  const path = `${folder}/gate.toml`;
  await Deno.writeTextFile(path, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const config = await loadConfig({ config: path });
  const stores = await openStores(
    { run: config.run_state_store, schemas: config.schema_registry },
    HOST_PRIMITIVES.sha256,
  );
  const schemaSandbox = createSchemaSandbox();
  const services = await createServices({ config, ...stores, schemaSandbox });
  const dispatcher = createDispatcher({
    loadTools: () => Promise.resolve(createTools(services)),
    tools: config.server.tools,
    auth: config.server.auth,
    log: () => undefined,
  });
  return {
    dispatcher,
    close: async () => {
      schemaSandbox.close();
      await stores.runs.close();
      await stores.schemas.close();
    },
  };
}

/** The peer: one row a transaction, WAL and FULL. */
export function rawCommitLoop(folder: string): { readonly round: () => number; readonly close: () => void } {
  const database = new DatabaseSync(`${folder}/raw.db`);
  database.exec(
    "PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE t (id INTEGER PRIMARY KEY, row BLOB)",
  );
  const insert = database.prepare("INSERT INTO t (row) VALUES (?)");
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const row = new Uint8Array(ROW_BYTES);
  return {
    round: () => {
      const started = performance.now();
      for (let at = 0; at < ROWS; at++) {
        begin.run();
        insert.run(row);
        commit.run();
      }
      return ROWS / (performance.now() - started) * 1000;
    },
    close: () => database.close(),
  };
}

/** The value below which a part of the sorted values lies. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}

/** One round of many callers, each submitting in a loop of its own; returns calls a second. */
export async function loadRound(
  call: CallTool,
  runs: readonly BenchRun[],
  calls: number,
  latencies: number[],
): Promise<number> {
  const started = performance.now();
  await Promise.all(runs.map(async (run) => {
    for (let at = 0; at < calls; at++) {
      const before = performance.now();
      await submit(call, run);
      latencies.push(performance.now() - before);
    }
  }));
  return runs.length * calls / (performance.now() - started) * 1000;
}

const SUBMITTED =
  /^{"outcome":{"outcome":"accepted","result":{"accepted_head":{"record_id":"(\w{64})","revision":(\d+)}/;

/** The new head in the answer to a submission. The rest is not parsed, since the client is not what is measured. */
function submitted(text = ""): JsonObject {
  const [, record_id, revision] = SUBMITTED.exec(text) ?? [];
  if (record_id === undefined) throw new Error(`Cannot measure: ${text}`);
  return { outcome: { outcome: "accepted", result: { accepted_head: { record_id, revision: Number(revision) } } } };
}

/** Measures rows 5 and 6. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  const { dispatcher, close } = await openDispatcher(folder);
  const raw = rawCommitLoop(folder);
  try {
    const call: CallTool = async (tool, input) => {
      const outcome = await dispatcher.call(tool, input, CALL);
      if (!outcome.ok || !outcome.answer.ok) throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
      return tool === "scenario_submit" ? submitted(outcome.answer.text) : outcome.answer.result;
    };
    const runs = await startBenchRuns(call, CALLERS);
    const one = await alternate(() => loadRound(call, runs.slice(0, 1), CALLS, []), raw.round);
    const p99s: number[] = [];
    const many = await alternate(async () => {
      const latencies: number[] = [];
      const rate = await loadRound(call, runs, CALLS / 10, latencies);
      p99s.push(percentile(latencies, 0.99));
      return rate;
    }, raw.round);
    const peer = { peer_name: "raw one-row commit loop", unit: "calls/s", direction: "higher" } as const;
    return [
      makeRow({ row: "5", name: "scenario_submit, one caller, WAL+FULL", must: 0.35, goal: 0.6, ...peer }, one),
      makeRow({ row: "6", name: "scenario_submit, 64 callers on 64 runs", must: 1.5, goal: 3, ...peer }, many),
      makeRow({
        row: "6",
        name: "p99 of 64 callers against its limit",
        peer_name: "limit",
        unit: "ms",
        must: 1,
        goal: 0.5,
        direction: "lower",
      }, { ours: [median(p99s)], peer: [P99_MILLIS] }),
    ];
  } finally {
    await close();
    raw.close();
    await Deno.remove(folder, { recursive: true });
  }
}
