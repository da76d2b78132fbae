/**
 * How long a run takes to be exported as a runpack, and the runpack to be verified, by the records of the run. Each is one call of a tool
 * of a server with SQLite, over stdio.
 *
 * @module
 */

import type { JsonObject } from "../../../src/canonical/json.ts";
import { gateArgs } from "../../e2e/gate_command.ts";
import { type Measured, median } from "../harness.ts";
import { type BenchRun, type CallTool, startBenchRuns, submit } from "./mutation_bench.ts";
import { callerOf, openPeer } from "../stdio_load.ts";

const RECORDS = { quick: [100, 1000], whole: [100, 1000, 10_000, 100_000] };
/** Calls of each kind; their median counts. */
const CALLS = 3;
const PROFILES = [["verify, full replay", "full_replay_v1"], ["verify, integrity only", "integrity_only_v1"]] as const;

/** Measures the curves. */
export async function run(quick: boolean): Promise<Measured> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  // No commit is measured, so none waits for the disk.
  const store = '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\nsync_mode = "normal"\n';
  await Deno.writeTextFile(`${folder}/gate.toml`, store);
  const gate = await openPeer({
    command: Deno.execPath(),
    args: gateArgs("serve", "--config", `${folder}/gate.toml`),
  });
  try {
    const call = callerOf(gate);
    const sizes = quick ? RECORDS.quick : RECORDS.whole;
    const runs = await startBenchRuns(call, sizes.length);
    await Promise.all(runs.map(async (one, index) => {
      for (let records = 1; records < (sizes[index] ?? 0); records++) await submit(call, one);
    }));
    const names = ["export", ...PROFILES.map(([name]) => name)];
    const series = names.map((name) => ({ name, points: [] as [number, number][] }));
    for (const [index, one] of runs.entries()) {
      const taken = await millisOf(call, one);
      taken.forEach((millis, at) => series[at]?.points.push([sizes[index] ?? 0, millis]));
    }
    return { rows: [], curves: { runpack: series } };
  } finally {
    await gate.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** Milliseconds of an export, and of a verification under each profile. */
async function millisOf(call: CallTool, { run_key }: BenchRun): Promise<number[]> {
  let pack = "";
  const exported = await medianMillis(async () => {
    const { publication } = await call("runpack_export", run_key) as { readonly publication?: JsonObject };
    if (typeof publication?.["runpack_identity"] !== "string") {
      throw new Error(`Cannot measure: ${JSON.stringify(publication)}`);
    }
    pack = publication["runpack_identity"];
  });
  const verified: number[] = [];
  for (const [, profile] of PROFILES) {
    verified.push(
      await medianMillis(async () => {
        const report = JSON.stringify(await call("runpack_verify", { runpack_identity: pack, profile }));
        if (report.includes('"violated"')) throw new Error(`Cannot measure: ${report.slice(0, 300)}`);
      }),
    );
  }
  return [exported, ...verified];
}

async function medianMillis(work: () => Promise<void>): Promise<number> {
  const millis: number[] = [];
  for (let at = 0; at < CALLS; at++) {
    const start = performance.now();
    await work();
    millis.push(performance.now() - start);
  }
  return median(millis);
}
