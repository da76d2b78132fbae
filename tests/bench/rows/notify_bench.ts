/**
 * What a receiver of events costs while it is down: durable mutations with it, against the same without it.
 *
 * @module
 */

import { loadConfig } from "../../../src/config/load.ts";
import { NO_GRANTS } from "../../../src/evidence/typed/grants.ts";
import { createDispatcher } from "../../../src/server/protocol/dispatcher.ts";
import { openRuntime, type RuntimeOptions } from "../../../src/tools/runtime.ts";
import type { Call } from "../../../src/tools/framework/types.ts";
import { SCENARIO } from "../../simulation/crash/load.ts";
import { type BenchRow, compare } from "../harness.ts";
import { type BenchRun, type CallTool, loadRound, startBenchRuns } from "./mutation_bench.ts";

/** Callers of the second row, each on a run of its own. */
const CALLERS = 64;
/** No process listens on it. */
const DOWN = "http://127.0.0.1:9";

const CALL: Call = {
  principal: { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] },
  signal: new AbortController().signal,
  correlationId: null,
};

interface Opened {
  readonly call: CallTool;
  readonly runs: readonly BenchRun[];
  readonly close: () => Promise<void>;
}

async function open(folder: string, receiver: Pick<RuntimeOptions, "receiver">): Promise<Opened> {
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/gate.toml`, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const config = await loadConfig({ config: `${folder}/gate.toml` });
  const runtime = await openRuntime(config, { dataDir: folder, signingKey: null, typed: NO_GRANTS, ...receiver });
  const dispatcher = createDispatcher({
    loadTools: () => Promise.resolve(runtime.tools),
    tools: { mode: "filter", allowlist: [], denylist: [] },
    auth: null,
    log: () => undefined,
  });
  const call: CallTool = async (tool, input) => {
    const outcome = await dispatcher.call(tool, input, CALL);
    if (!outcome.ok || !outcome.answer.ok) throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
    return outcome.answer.result;
  };
  const runs = await startBenchRuns(call, CALLERS);
  for (const run of runs) await openStage(call, run);
  return { call, runs, close: runtime.close };
}

/** Opens a stage, so that an event waits for the receiver. */
async function openStage(call: CallTool, run: BenchRun): Promise<void> {
  const { outcome } = await call("scenario_open_stage", {
    ...run.run_key,
    scenario_id: SCENARIO.scenario_id,
    expected_head: { ...run.head },
    operation_id: "0".repeat(32),
    stage_id: "a",
  }) as unknown as { outcome: { result: { accepted_head: BenchRun["head"] } } };
  run.head = outcome.result.accepted_head;
}

async function measure(
  name: string,
  sides: readonly [Opened, Opened],
  callers: number,
  calls: number,
): Promise<BenchRow> {
  const [notified, plain] = sides.map(({ call, runs }) => () => loadRound(call, runs.slice(0, callers), calls, []));
  if (notified === undefined || plain === undefined) throw new RangeError("Cannot measure: a side is missing");
  return await compare({
    row: "notify",
    name,
    peer_name: "without a receiver",
    unit: "calls/s",
    must: 0.9,
    goal: 0.97,
    direction: "higher",
    ours: notified,
    peer: plain,
    rounds: { counted: 9, warmUp: 3 },
  });
}

/** Measures one caller, and many. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  const secret = new Uint8Array(24);
  const notified = await open(`${folder}/notified`, { receiver: { url: DOWN, secret } });
  const plain = await open(`${folder}/plain`, {});
  try {
    return [
      await measure("scenario_submit with --notify and the receiver down, one caller", [notified, plain], 1, 400),
      await measure("the same, 64 callers on 64 runs", [notified, plain], CALLERS, 40),
    ];
  } finally {
    await notified.close();
    await plain.close();
    await Deno.remove(folder, { recursive: true });
  }
}
