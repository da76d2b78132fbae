/**
 * Row 6b: durable mutations of 64 callers over stdio, through a real server process.
 *
 * @module
 */

import type { JsonObject } from "../../src/canonical/json.ts";
import { startGate } from "../simulation/crash/gate_process.ts";
import { alternate, type BenchRow, makeRow } from "./harness.ts";
import { type CallTool, loadRound, rawCommitLoop, startBenchRuns } from "./mutation_bench.ts";

/** Callers, each on a run of its own. */
const CALLERS = 64;
/** Calls of one round and one caller. */
const CALLS = 40;

/** Measures row 6b. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  const configPath = `${folder}/gate.toml`;
  await Deno.writeTextFile(configPath, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const gate = await startGate(configPath, "null");
  const raw = rawCommitLoop(folder);
  try {
    const call: CallTool = async (tool, input) => await gate.call(tool, input) as JsonObject;
    const runs = await startBenchRuns(call, CALLERS);
    const samples = await alternate(() => loadRound(call, runs, CALLS, []), raw.round);
    return [makeRow({
      row: "6b",
      name: "scenario_submit, 64 callers over stdio",
      peer_name: "raw one-row commit loop",
      unit: "calls/s",
      must: null,
      goal: 1,
      direction: "higher",
    }, samples)];
  } finally {
    await gate.close();
    raw.close();
    await Deno.remove(folder, { recursive: true });
  }
}
