/**
 * Rows 9 and 10: how fast a runpack is verified. A full replay against a loop that only reads, canonicalises and hashes
 * the same bytes, and against the live calls that made such records; the integrity of a large pack against `openssl`
 * hashing the same files.
 *
 * @module
 */

import { hash } from "node:crypto";
import { join } from "node:path";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../../../src/canonical/json.ts";
import { verifyRunpack } from "../../../src/runpack/verify/verify.ts";
import { startGate } from "../../simulation/crash/gate_process.ts";
import { writeTree } from "../../simulation/runpack/files.ts";
import { type MemoryPack, memorySource, packOf, PRIMITIVES } from "../../simulation/runpack/memory.ts";
import { playGoldenRun } from "../../simulation/runpack/run.ts";
import { alternate, type BenchRow, makeRow } from "../harness.ts";
import { type CallTool, loadRound, startBenchRuns } from "./mutation_bench.ts";
import { largePack } from "../verifier_pack.ts";

/** Records of the replay, and of a quick one. */
const RECORDS = { whole: 100_000, quick: 10_000 };
/** Payloads of the large pack, and of a quick one, 2 MiB each. */
const PAYLOADS = { whole: 128, quick: 32 };
/** Live calls of one round. */
const CALLS = 400;
/** MiB that the verification of a large pack may take above what the process takes idle. */
const MEMORY_MEBIBYTES = 64;
const MEBIBYTE = 1024 * 1024;

/** Measures rows 9 and 10; with `quick` on smaller packs. */
export async function run(quick = false): Promise<BenchRow[]> {
  return [
    ...await replayRows(quick ? RECORDS.quick : RECORDS.whole),
    ...await integrityRows(quick ? PAYLOADS.quick : PAYLOADS.whole),
  ];
}

async function replayRows(records: number): Promise<BenchRow[]> {
  const pack = await packOf(playGoldenRun(records - 11));
  const texts = linesOf(pack);
  const replay = async (): Promise<number> => {
    const started = performance.now();
    const request = { runpack_identity: null, profile: "full_replay_v1", budget: null, trusted_keys: null } as const;
    const report = await verifyRunpack(memorySource(pack, MEBIBYTE), request, PRIMITIVES);
    if (report.claims.some(({ status }) => status.status === "violated") || report.budget.records !== records) {
      throw new Error(`Cannot measure: ${JSON.stringify(report)}`);
    }
    return records / (performance.now() - started) * 1000;
  };
  const name = `full replay of ${records} records`;
  const parts = { row: "9", unit: "records/s", direction: "higher" } as const;
  const loop = await alternate(replay, () => canonicalLoop(texts, records), { counted: 5, warmUp: 1 });
  const live = await withLiveCalls((round) => alternate(replay, round, { counted: 5, warmUp: 1 }));
  return [
    makeRow({ ...parts, name, peer_name: "parse, canonicalize and hash the same lines", must: 0.3, goal: 0.5 }, loop),
    makeRow({ ...parts, name, peer_name: "one caller's scenario_submit over stdio", must: 5, goal: 10 }, live),
  ];
}

/** The bytes of every object that is lines of JSON. */
function linesOf({ objects }: MemoryPack): readonly Uint8Array[] {
  const feed = 0x0a;
  return [...objects.values()].filter((bytes) => bytes.at(-1) === feed);
}

/**
 * Reads every line, writes it canonically and hashes that; the native parser, which no verifier may trust, is the
 * fastest there is.
 */
function canonicalLoop(texts: readonly Uint8Array[], records: number): number {
  const decoder = new TextDecoder();
  const started = performance.now();
  for (const bytes of texts) {
    const text = decoder.decode(bytes);
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at);
      hash("sha256", canonicalize(JSON.parse(text.slice(at, end)) as JsonValue), "hex");
      at = end + 1;
    }
  }
  return records / (performance.now() - started) * 1000;
}

async function withLiveCalls<Result>(measure: (round: () => Promise<number>) => Promise<Result>): Promise<Result> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  await Deno.writeTextFile(`${folder}/gate.toml`, '[run_state_store]\ntype = "sqlite"\npath = "gate.db"\n');
  const gate = await startGate(`${folder}/gate.toml`, "null");
  try {
    const call: CallTool = async (tool, input) => await gate.call(tool, input) as JsonObject;
    const runs = await startBenchRuns(call, 1);
    return await measure(() => loadRound(call, runs, CALLS, []));
  } finally {
    await gate.close();
    await Deno.remove(folder, { recursive: true });
  }
}

/** What the child process of an integrity verification says. */
interface ChildReport {
  readonly bytes_per_second: number;
  readonly above_idle_bytes: number;
}

async function integrityRows(payloads: number): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  try {
    const pack = largePack(payloads);
    const bytes = [...pack.objects.values()].reduce((sum, object) => sum + object.length, pack.manifest.length);
    await writeTree(folder, pack);
    const memory: number[] = [];
    const ours = async (): Promise<number> => {
      const report = await verifyInChild(folder);
      memory.push(report.above_idle_bytes / MEBIBYTE);
      return report.bytes_per_second / MEBIBYTE;
    };
    const samples = await alternate(ours, () => opensslRound(folder, pack, bytes), { counted: 5, warmUp: 1 });
    const name = `integrity of a pack of ${Math.round(bytes / MEBIBYTE)} MiB`;
    return [
      makeRow({
        row: "10",
        name,
        peer_name: "openssl dgst -sha256",
        unit: "MiB/s",
        must: 0.75,
        goal: 0.9,
        direction: "higher",
      }, samples),
      makeRow({
        row: "10",
        name: `${name}: memory above idle against its limit`,
        peer_name: "limit",
        unit: "MiB",
        must: 1,
        goal: 0.5,
        direction: "lower",
      }, { ours: memory.slice(-5), peer: [MEMORY_MEBIBYTES] }),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function verifyInChild(folder: string): Promise<ChildReport> {
  const script = new URL("../verifier_child.ts", import.meta.url).pathname;
  const args = ["run", "--no-prompt", "--no-check", "--frozen", "-A", script, folder];
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, stdin: "null" }).output();
  if (code !== 0) throw new Error(`Cannot measure: ${new TextDecoder().decode(stderr)}`);
  return JSON.parse(new TextDecoder().decode(stdout)) as ChildReport;
}

/** Lets one process of openssl hash every file of the pack; MiB a second, its start included. */
async function opensslRound(folder: string, { objects }: MemoryPack, bytes: number): Promise<number> {
  const files = [...objects.keys()].map((identity) => join("objects", identity.slice(0, 2), identity));
  const command = new Deno.Command("openssl", {
    args: ["dgst", "-sha256", "manifest.json", ...files],
    cwd: folder,
    stdin: "null",
    stdout: "null",
  });
  const started = performance.now();
  const { code } = await command.output();
  if (code !== 0) throw new Error("Cannot measure: openssl failed");
  return bytes / MEBIBYTE / (performance.now() - started) * 1000;
}
