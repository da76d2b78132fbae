/**
 * Profiles what a call costs inside the server, by share: `call_profile.ts`. It starts a server with the CPU profiler
 * of the runtime and calls one tool many times over stdio. It adds up the samples by part of the source.
 *
 * @module
 */

import { schemaRecord } from "../../src/tools/tests/tools_fixture.ts";
import { gateArgs, STORES } from "../e2e/gate_command.ts";
import { type CallTool, startBenchRuns, submit } from "./rows/mutation_bench.ts";
import { callerOf, openPeer, type StdioPeer } from "./stdio_load.ts";
import { submitRound } from "./submit_load.ts";

const CALLS = 20_000;
const IN_FLIGHT = 32;
const CALLERS = 32;

/** The parts of a call, in the order of the table, each with the beginnings of its paths below `src`. */
const PARTS: readonly (readonly [part: string, paths: readonly string[]])[] = [
  ["scan", ["canonical/scan", "canonical/reader.ts", "canonical/lines.ts", "canonical/number.ts", "canonical/utf8.ts"]],
  ["decode", [
    ...["server/protocol/message.ts", "server/protocol/parse_message.ts", "server/protocol/plan.ts"],
    ...["server/protocol/protocol_era.ts", "server/protocol/wire_check.ts", "server/protocol/client_shapes.ts"],
    ...["server/protocol/fast_lane.ts", "tools/framework/decode.ts", "tools/framework/input.ts", "canonical/shape.ts"],
    "canonical/table_shape.ts",
  ]],
  ["access", ["access/", "tools/services/"]],
  ["hash", ["canonical/identity.ts", "evidence/host_primitives.ts", "node:crypto"]],
  ["encode", [
    "server/protocol/result_json.ts",
    "canonical/canonicalize.ts",
    "tools/framework/",
  ]],
  ["audit", ["server/audit/"]],
  ["store", ["store/", "node:sqlite"]],
  ["decide", ["run/", "law/", "tools/mutation/", "tools/", "evidence/", "runpack/"]],
  ["transport", ["server/stdio/", "server/protocol/session.ts", "server/protocol/", "server/", "ext:", "node:"]],
];

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** What is called, and how it is prepared. */
interface Case {
  readonly tool: string;
  readonly run: (peer: StdioPeer, call: CallTool) => Promise<number>;
}

const CASES: readonly Case[] = [
  {
    tool: "schemas_get",
    run: async (peer, call) => {
      await call("schemas_register", { record: schemaRecord() });
      const input = { namespace_id: 2, schema_id: "report", version: "1" };
      await peer.load(CALLS, IN_FLIGHT, () => ({ name: "schemas_get", arguments: input }));
      return CALLS;
    },
  },
  {
    tool: "scenario_status",
    run: async (peer, call) => {
      const [run] = await startBenchRuns(call, 1);
      if (run === undefined) throw new Error("Cannot profile: no run was started");
      for (let at = 0; at < 10; at++) await submit(call, run);
      const input = { ...run.run_key, scenario_id: "crash" };
      await peer.load(CALLS, IN_FLIGHT, () => ({ name: "scenario_status", arguments: input }));
      return CALLS;
    },
  },
  {
    tool: "scenario_submit",
    run: async (peer, call) => {
      await submitRound(peer, await startBenchRuns(call, CALLERS), CALLS / CALLERS);
      return CALLS;
    },
  },
];

/** Microseconds a call of each part. */
async function profileOf({ run }: Case): Promise<ReadonlyMap<string, number>> {
  const folder = await Deno.makeTempDir({ prefix: "gate-profile-" });
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, `${STORES}\n[server.audit]\npath = "audit.log"\n`);
    const [command = "", ...rest] = gateArgs("serve", "--config", `${folder}/gate.toml`);
    const args = [command, "--cpu-prof", `--cpu-prof-dir=${folder}/profiles`, ...rest];
    const peer = await openPeer({ command: Deno.execPath(), args });
    const calls = await run(peer, callerOf(peer));
    await peer.close();
    const profiles = await Array.fromAsync(
      Deno.readDir(`${folder}/profiles`),
      async ({ name }) => JSON.parse(await Deno.readTextFile(`${folder}/profiles/${name}`)) as Profile,
    );
    // The serving thread has the most work; other profiles are those of workers.
    const all = profiles.map((profile) => partsOf(profile, calls)).sort((a, b) => totalOf(b) - totalOf(a));
    return all[0] ?? new Map();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function partsOf({ nodes, samples, timeDeltas }: Profile, calls: number): Map<string, number> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const partAt = (id: number | undefined): string => {
    for (let at = id; at !== undefined; at = parents.get(at)) {
      const part = partOf(byId.get(at));
      if (part !== null) return part;
    }
    return "transport";
  };
  const spent = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const part = partAt(id);
    if (part !== "(idle)") spent.set(part, (spent.get(part) ?? 0) + (timeDeltas[index] ?? 0) / calls);
  }
  return spent;
}

/** The part of a frame; null where its caller decides. */
function partOf(node: ProfileNode | undefined): string | null {
  const { functionName = "", url = "" } = node?.callFrame ?? {};
  if (functionName === "(idle)") return functionName;
  if (functionName === "(garbage collector)" || functionName === "(program)") return functionName;
  const path = /\/src\/(.*)$/.exec(url)?.[1] ?? (url.startsWith("node:") ? url : null);
  if (path === null) return null;
  return PARTS.find(([, paths]) => paths.some((start) => path.startsWith(start)))?.[0] ?? null;
}

function totalOf(parts: ReadonlyMap<string, number>): number {
  return parts.values().reduce((sum, spent) => sum + spent, 0);
}

if (import.meta.main) {
  const all = new Map<string, ReadonlyMap<string, number>>();
  for (const one of CASES) all.set(one.tool, await profileOf(one));
  const parts = [...PARTS.map(([part]) => part), "(garbage collector)", "(program)"];
  const rows = parts.map((part) => [
    part,
    ...all.values().map((spent) => {
      const mine = spent.get(part) ?? 0;
      return `${mine.toFixed(1)} us ${(mine / totalOf(spent) * 100).toFixed(0)} %`;
    }),
  ]);
  const totals = ["all", ...all.values().map((spent) => `${totalOf(spent).toFixed(1)} us`)];
  for (const row of [["part", ...all.keys()], ...rows, totals]) console.log(`| ${row.join(" | ")} |`);
}
