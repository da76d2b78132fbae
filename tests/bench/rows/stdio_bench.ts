/**
 * Rows 5e, 6e and 15: durable mutations over stdio, through a real server process, against the loop of rows 5 and 6.
 *
 * @module
 */

import { gateArgs } from "../../e2e/gate_command.ts";
import { alternate, type BenchRow, makeRow, median } from "../harness.ts";
import { percentile, rawCommitLoop, startBenchRuns } from "./mutation_bench.ts";
import { callerOf, openPeer } from "../stdio_load.ts";
import { applyRound, submitRound } from "../submit_load.ts";

/** Callers of row 6e, each on a run of its own. */
const CALLERS = 64;
/** Calls of one round and one caller: of the only one, and of one of many. */
const CALLS = { one: 400, many: 40 };
/** Lists of one round of row 15, each of an operation on every run. */
const LISTS = 20;
/** Milliseconds that row 6e allows its 99th percentile. */
const P99_MILLIS = 10;

/** Measures the rows. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  const configPath = `${folder}/gate.toml`;
  await Deno.writeTextFile(configPath, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const gate = await openPeer({ command: Deno.execPath(), args: gateArgs("serve", "--config", configPath) });
  const raw = rawCommitLoop(folder);
  try {
    const runs = await startBenchRuns(callerOf(gate), CALLERS);
    const one = await alternate(
      async () => (await submitRound(gate, runs.slice(0, 1), CALLS.one)).rate,
      raw.round,
    );
    const p99s: number[] = [];
    const many = await alternate(async () => {
      const { rate, latencies } = await submitRound(gate, runs, CALLS.many);
      p99s.push(percentile(latencies, 0.99));
      return rate;
    }, raw.round);
    const lists = (): Promise<number> => applyRound(gate, runs, LISTS);
    const listed = await alternate(lists, raw.round);
    const alone = await alternate(lists, async () => (await submitRound(gate, runs.slice(0, 1), CALLS.one)).rate);
    const spec = { peer_name: "raw one-row commit loop", unit: "calls/s", direction: "higher" } as const;
    return [
      makeRow({ ...spec, row: "5e", name: "scenario_submit, one caller over stdio", must: 0.35, goal: 0.6 }, one),
      makeRow({ ...spec, row: "6e", name: "scenario_submit, 64 callers over stdio", must: 1.5, goal: 3 }, many),
      makeRow({
        row: "6e",
        name: "p99 of 64 callers over stdio against its limit",
        peer_name: "limit",
        unit: "ms",
        must: 1,
        goal: 0.5,
        direction: "lower",
      }, { ours: [median(p99s)], peer: [P99_MILLIS] }),
      makeRow({ ...spec, row: "15", name: "scenario_apply, 64 submits to 64 runs", must: 0.8, goal: 1.5 }, listed),
      makeRow({
        ...{ ...spec, row: "15", name: "scenario_apply, 64 submits against single calls", must: 4, goal: 7 },
        peer_name: "one caller's scenario_submit over stdio",
      }, alone),
    ];
  } finally {
    await gate.close();
    raw.close();
    await Deno.remove(folder, { recursive: true });
  }
}
