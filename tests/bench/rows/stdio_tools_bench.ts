/**
 * Rows 2, 3 and 12: tools over stdio against the reference servers, and what a server costs in memory and in context.
 *
 * @module
 */

import { gateArgs, STORES } from "../../e2e/gate_command.ts";
import { evidence, id, schemaRecord, spec, stage } from "../../../src/tools/tests/tools_fixture.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { alternate, type BenchRow, makeRow, type RowSpec } from "../harness.ts";
import { type BenchRun, type CallTool, startBenchRuns, submit } from "./mutation_bench.ts";
import {
  type CommandLine,
  installServerEverything,
  installServerMemory,
  SERVER_EVERYTHING,
  SERVER_MEMORY,
} from "../server_everything.ts";
import { callerOf, openPeer, type StdioPeer } from "../stdio_load.ts";

const IN_FLIGHT = 32;
const ROUND_CALLS = { quick: 3000, whole: 15_000 };
const STAGES = 10;
const RECORDS = 50;

/** Callers of the load of row 12, and how many mutations follow the baseline. */
const CALLERS = 16;
const GROWTH = { quick: { seconds: 10, mutations: 10_000 }, whole: { seconds: 60, mutations: 100_000 } };

const CONFIG = `${STORES}
[server.audit]
path = "audit.log"
`;

/** Measures the rows. */
export async function run(quick: boolean): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    const args = gateArgs("serve", "--config", `${folder}/gate.toml`);
    const gate = await openPeer({ command: Deno.execPath(), args });
    const everything = await installServerEverything(folder);
    try {
      const idle = await idleRows(everything, folder);
      const size = await sizeRow(gate);
      const calls = quick ? ROUND_CALLS.quick : ROUND_CALLS.whole;
      return [
        await trivialRow(calls, gate, everything),
        await statusRow(calls, gate, folder),
        ...idle,
        await growthRow(gate, quick ? GROWTH.quick : GROWTH.whole),
        size,
      ];
    } finally {
      await gate.close();
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function against(
  calls: number,
  gate: StdioPeer,
  ours: unknown,
  peer: StdioPeer,
  theirs: unknown,
  spec: RowSpec,
): Promise<BenchRow> {
  const samples = await alternate(
    () => gate.load(calls, IN_FLIGHT, () => ours),
    () => peer.load(calls, IN_FLIGHT, () => theirs),
  );
  return makeRow(spec, samples);
}

async function trivialRow(calls: number, gate: StdioPeer, everything: CommandLine): Promise<BenchRow> {
  await callerOf(gate)("schemas_register", { record: schemaRecord() });
  const peer = await openPeer(everything);
  try {
    const ours = { name: "schemas_get", arguments: { namespace_id: 2, schema_id: "report", version: "1" } };
    return await against(calls, gate, ours, peer, { name: "echo", arguments: { message: "hello" } }, {
      row: "2",
      name: `schemas_get, ${IN_FLIGHT} in flight over stdio`,
      peer_name: `${SERVER_EVERYTHING} echo`,
      unit: "calls/s",
      must: 0.8,
      goal: 1.5,
      direction: "higher",
      ceiling: "a raw echo is 2.5 to 4",
    });
  } finally {
    await peer.close();
  }
}

async function statusRow(calls: number, gate: StdioPeer, folder: string): Promise<BenchRow> {
  const run = await walkRun(callerOf(gate));
  const peer = await openPeer(await installServerMemory(folder), { MEMORY_FILE_PATH: `${folder}/memory.json` });
  try {
    const entities = Array.from({ length: RECORDS }, (_, index) => ({
      name: `record ${index}`,
      entityType: "record",
      observations: [`revision ${index}`, "a".repeat(64)],
    }));
    await callerOf(peer)("create_entities", { entities }).catch(() => undefined);
    return await against(
      calls,
      gate,
      { name: "scenario_status", arguments: run },
      peer,
      { name: "read_graph", arguments: {} },
      {
        row: "3",
        name: `scenario_status of ${STAGES} stages and ${RECORDS} records over stdio`,
        peer_name: `${SERVER_MEMORY} read_graph`,
        unit: "calls/s",
        must: 4,
        goal: 6,
        direction: "higher",
      },
    );
  } finally {
    await peer.close();
  }
}

/** A run of ten stages in a row, five of them done, filled up with submissions. */
async function walkRun(call: CallTool): Promise<JsonObject> {
  const names = Array.from({ length: STAGES }, (_, index) => `stage${index}`);
  const law = await call("scenario_define", {
    spec: spec({
      scenario_id: "walk",
      stages: names.map((name, index) => stage(name, "built", names[index - 1])),
      completion_requirement: { Condition: names.at(-1) ?? "" },
    }),
  });
  const accepted = async (tool: string, input: JsonObject): Promise<JsonObject> => {
    const { outcome } = await call(tool, input) as { outcome?: { outcome: string; result: JsonObject } };
    if (outcome?.outcome !== "accepted") throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
    return outcome.result;
  };
  const started = await accepted("scenario_start", {
    namespace_id: 2,
    scenario_id: "walk",
    scenario_law_identity: law["scenario_law_identity"] ?? "",
    creation_request_id: id(1),
    correlation: { kind: "unset" },
    genesis: { kind: "empty" },
  });
  const run = { namespace_id: 2, scenario_id: "walk", run_id: (started["run_key"] as JsonObject)["run_id"] ?? "" };
  let head = started["head"] ?? null;
  let operation = 0;
  const mutate = async (tool: string, input: JsonObject): Promise<void> => {
    operation++;
    const result = await accepted(tool, { ...run, expected_head: head, operation_id: id(operation), ...input });
    head = result["accepted_head"] ?? null;
  };
  for (const name of names.slice(0, STAGES / 2)) {
    await mutate("scenario_open_stage", { stage_id: name });
    await mutate("scenario_evaluate_stage", { stage_id: name, caller_evidence: [evidence("built", true)] });
  }
  while (operation < RECORDS - 1) {
    const payload = { kind: "json", value: { operation } };
    await mutate("scenario_submit", { content_type: "application/json", payload, scope: { kind: "run_wide" } });
  }
  return run;
}

/** Rounds of the idle memory. */
const IDLE_ROUNDS = 5;

/** Memory of a server that was greeted and has listed its tools: as installed, and with a configuration and stores on disk. */
async function idleRows(everything: CommandLine, folder: string): Promise<BenchRow[]> {
  const rounds: (readonly number[])[] = [];
  for (let round = 0; round < IDLE_ROUNDS; round++) rounds.push(await idleRound(everything, `${folder}/idle ${round}`));
  const row = (name: string, side: number): BenchRow => {
    const spec = { row: "12", name, peer_name: SERVER_EVERYTHING, unit: "MB", must: 0.9, goal: 0.7 } as const;
    const of = (index: number): number[] => rounds.map((sides) => sides[index] ?? NaN);
    return makeRow({ ...spec, direction: "lower" }, { ours: of(side), peer: of(2) });
  };
  return [
    row("resident memory when idle, without a configuration", 0),
    row("resident memory when idle, with a configuration and stores on disk", 1),
  ];
}

/** Megabytes of new processes: gate as installed, gate with a configuration, and the peer. */
async function idleRound(everything: CommandLine, folder: string): Promise<number[]> {
  const path = `${folder}/gate.toml`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(path, CONFIG);
  const gate = (...args: string[]): CommandLine => ({ command: Deno.execPath(), args: gateArgs("serve", ...args) });
  const commands = [gate("--data-dir", folder), gate("--config", path), everything];
  const sides = await Promise.all(commands.map((command) => openPeer(command)));
  try {
    for (const side of sides) await side.ask("tools/list", {});
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return await Promise.all(sides.map(async (side) => await side.resident() / 1e6));
  } finally {
    await Promise.all(sides.map((side) => side.close()));
  }
}

/** Memory after many mutations, against that after a time of them. */
async function growthRow(gate: StdioPeer, { seconds, mutations }: typeof GROWTH.whole): Promise<BenchRow> {
  const call = callerOf(gate);
  const runs = await startBenchRuns(call, CALLERS);
  const until = async (isOver: (done: number) => boolean): Promise<void> => {
    for (let done = 0; !isOver(done); done += CALLERS * 25) await submitRound(gate, runs, 25);
  };
  const start = performance.now();
  await until(() => performance.now() - start > seconds * 1000);
  const baseline = await gate.resident();
  await until((done) => done >= mutations);
  const after = await gate.resident();
  return makeRow({
    row: "12",
    name: `resident memory after ${mutations} more mutations`,
    peer_name: `after ${seconds} s of them`,
    unit: "MB",
    must: 1.25,
    goal: 1.1,
    direction: "lower",
  }, { ours: [after / 1e6], peer: [baseline / 1e6] });
}

/** Each caller submits so often in a loop of its own. */
async function submitRound(gate: StdioPeer, runs: readonly BenchRun[], calls: number): Promise<void> {
  const call = callerOf(gate);
  await Promise.all(runs.map(async (run) => {
    for (let at = 0; at < calls; at++) await submit(call, run);
  }));
}

async function sizeRow(gate: StdioPeer): Promise<BenchRow> {
  const bytes = new TextEncoder().encode(await gate.ask("tools/list", {})).length;
  return makeRow({
    row: "12",
    name: "tools/list",
    peer_name: "its limit",
    unit: "kB",
    must: 1,
    goal: 0.75,
    direction: "lower",
  }, { ours: [bytes / 1000], peer: [32] });
}
