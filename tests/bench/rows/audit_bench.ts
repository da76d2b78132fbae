/**
 * What the audit log costs: durable mutations through the dispatcher with it in a file, against the same without it.
 *
 * @module
 */

import { NO_GRANTS } from "../../../src/evidence/typed/grants.ts";
import { loadConfig } from "../../../src/config/load.ts";
import { createAuditService } from "../../../src/server/audit/service.ts";
import { type AuditCall, createDispatcher, type Dispatcher } from "../../../src/server/protocol/dispatcher.ts";
import { openRuntime, type ToolRuntime } from "../../../src/tools/runtime.ts";
import type { Call } from "../../../src/tools/framework/types.ts";
import { type BenchRow, compare } from "../harness.ts";
import { type BenchRun, type CallTool, loadRound, startBenchRuns } from "./mutation_bench.ts";

/** Callers of the second row, each on a run of its own. */
const CALLERS = 64;

const CALL: Call = {
  principal: { subject: "stdio", authMethod: "local", policyClass: null, roles: [], tenants: [1] },
  signal: new AbortController().signal,
  correlationId: "gate-bench-1",
  origin: {
    transport: "stdio",
    peer_address: null,
    correlation_id: null,
    server_correlation_id: "gate-bench-1",
    traceparent: null,
  },
};

function dispatcherOf({ tools }: ToolRuntime, loadCallAudit?: () => Promise<AuditCall>): Dispatcher {
  return createDispatcher({
    loadTools: () => Promise.resolve(tools),
    tools: { mode: "filter", allowlist: [], denylist: [] },
    auth: null,
    log: () => undefined,
    ...loadCallAudit === undefined ? {} : { loadCallAudit },
  });
}

function callerOf(dispatcher: Dispatcher): CallTool {
  return async (tool, input) => {
    const outcome = await dispatcher.call(tool, input, CALL);
    if (!outcome.ok || !outcome.answer.ok) throw new Error(`Cannot measure: ${JSON.stringify(outcome)}`);
    return outcome.answer.result;
  };
}

async function measure(
  name: string,
  runs: readonly BenchRun[],
  calls: number,
  sides: readonly [CallTool, CallTool],
): Promise<BenchRow> {
  const [audited, plain] = sides;
  return await compare({
    row: "audit",
    name,
    peer_name: "without an audit log",
    unit: "calls/s",
    must: 0.9,
    goal: 0.95,
    direction: "higher",
    ours: () => loadRound(audited, runs, calls, []),
    peer: () => loadRound(plain, runs, calls, []),
    rounds: { counted: 15, warmUp: 6 },
  });
}

/** Measures one caller, and many. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  await Deno.writeTextFile(`${folder}/gate.toml`, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const config = await loadConfig({ config: `${folder}/gate.toml` });
  const runtime = await openRuntime(config, { dataDir: folder, signingKey: null, typed: NO_GRANTS });
  const audit = createAuditService({
    config: { enabled: true, path: `${folder}/audit.jsonl`, log_precheck_payloads: false },
    writeError: () => Promise.resolve(),
    log: () => undefined,
  });
  try {
    const plain = callerOf(dispatcherOf(runtime));
    const audited = callerOf(dispatcherOf(runtime, audit.loadCallAudit));
    const runs = await startBenchRuns(plain, CALLERS);
    return [
      await measure("scenario_submit, one caller", runs.slice(0, 1), 400, [audited, plain]),
      await measure("scenario_submit, 64 callers on 64 runs", runs, 40, [audited, plain]),
    ];
  } finally {
    await audit.close();
    await runtime.close();
    await Deno.remove(folder, { recursive: true });
  }
}
