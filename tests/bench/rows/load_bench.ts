/**
 * What a server answers, and when, by the number of its callers: first as fast as they can call, then at times that do not depend on the
 * answers. A call that waits for the answer to the one before it is measured from its due time. So a slow answer counts
 * for every call that it delays.
 *
 * @module
 */

import { gateArgs } from "../../e2e/gate_command.ts";
import { SCENARIO } from "../../simulation/crash/load.ts";
import type { Measured } from "../harness.ts";
import { percentile, startBenchRuns, submit } from "./mutation_bench.ts";
import { type Act, closedLoop, openLoop } from "../open_loop.ts";
import type { Series } from "../plot.ts";
import { callerOf, openPeer } from "../stdio_load.ts";

const CALLERS = { quick: [1, 16, 64], whole: [1, 4, 16, 64, 256] };
/** Milliseconds of each part. */
const PARTS = {
  quick: { warmUp: 200, closed: 500, open: 1000 },
  whole: { warmUp: 300, closed: 1500, open: 4000 },
};
/** The part of the answers at full speed that callers ask for in the second part. */
const SHARE = 0.7;
const PERCENTILES = [["p50", 0.5], ["p99", 0.99], ["p99.9", 0.999]] as const;

/** Measures the curves. */
export async function run(quick: boolean): Promise<Measured> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  await Deno.writeTextFile(`${folder}/gate.toml`, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const gate = await openPeer({
    command: Deno.execPath(),
    args: gateArgs("serve", "--config", `${folder}/gate.toml`),
  });
  try {
    const call = callerOf(gate);
    const counts = quick ? CALLERS.quick : CALLERS.whole;
    const parts = quick ? PARTS.quick : PARTS.whole;
    const runs = await startBenchRuns(call, counts.at(-1) ?? 1);
    const submits = runs.map((one) => (): Promise<void> => submit(call, one));
    const statuses = runs.map(({ run_key }) => (): Promise<unknown> =>
      call("scenario_status", { ...run_key, scenario_id: SCENARIO.scenario_id })
    );
    const submitted = await curvesOf("scenario_submit", submits, counts, parts);
    const asked = await curvesOf("scenario_status", statuses, counts, parts);
    return {
      rows: [],
      curves: {
        throughput: [submitted.throughput, asked.throughput],
        submit_latency: submitted.latency,
        status_latency: asked.latency,
      },
    };
  } finally {
    await gate.close();
    await Deno.remove(folder, { recursive: true });
  }
}

async function curvesOf(
  name: string,
  acts: readonly Act[],
  counts: readonly number[],
  parts: typeof PARTS.whole,
): Promise<{ readonly throughput: Series; readonly latency: readonly Series[] }> {
  const throughput: [number, number][] = [];
  const latency = PERCENTILES.map(([name]) => ({ name, points: [] as [number, number][] }));
  for (const count of counts) {
    const callers = acts.slice(0, count);
    await closedLoop(callers, parts.warmUp);
    const rate = await closedLoop(callers, parts.closed);
    const latencies = await openLoop(callers, rate * SHARE, parts.open);
    throughput.push([count, rate]);
    PERCENTILES.forEach(([, part], index) => latency[index]?.points.push([count, percentile(latencies, part)]));
  }
  return { throughput: { name, points: throughput }, latency };
}
