/**
 * Mixed load on a server process over HTTP with bearer tokens: writers that carry runs from start to end, readers of
 * what they write, and exporters that publish and verify it. Whatever is not answered as it should be ends the load.
 *
 * @module
 */

import { type ServerProcess, startServer, type Wire } from "../../e2e/client.ts";
import { gateArgs } from "../../e2e/gate_command.ts";
import { callText, listening, pause } from "../../e2e/http_fixture.ts";
import { percentile } from "../../bench/rows/mutation_bench.ts";
import { createKeepAlive } from "./keep_alive.ts";
import { SCENARIO } from "../../simulation/crash/load.ts";
import { identityOf, type Random, randomOf } from "../../simulation/crash/random.ts";

/** How long, and by how many. */
export interface MixedLoad {
  readonly seconds: number;
  /** Seconds after which memory is taken as settled. */
  readonly settledAfter: number;
  readonly writers: number;
  readonly readers: number;
  readonly exporters: number;
}

/** What was seen. */
export interface LoadReport {
  readonly mutations: number;
  readonly reads: number;
  readonly exports: number;
  /** Milliseconds, of mutations. */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds, of requests to a server beside it that commits one row for each and does nothing else. */
  readonly bystanderP99: number;
  /** Bytes, once settled and at the end. */
  readonly settled: number;
  readonly atEnd: number;
}

interface Run {
  readonly namespace_id: number;
  readonly run_id: string;
  readonly scenario_id: string;
}

interface Load {
  readonly call: (tool: string, input: unknown) => Promise<Wire>;
  readonly close: () => void;
  readonly law: string;
  /** The latest runs, of which readers and exporters take one. */
  readonly recent: Run[];
  readonly latencies: number[];
  readonly counts: { reads: number; exports: number };
  /** True once the time is over, or somebody has failed. */
  over: boolean;
}

const TOKEN = "d2f1c7a09be84c6bb1a3e5f7a9c0d4e6";

/** Submissions of one run. */
const SUBMISSIONS = 24;
/** Runs that are read and exported. */
const RECENT = 64;
/** Between two requests to the bystander. */
const BYSTANDER_MILLISECONDS = 25;
/** A resident set is taken a few times, and the least counts: garbage is not growth. */
const LOOKS = 5;

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"
[server.auth]
mode = "bearer_token"
bearer_tokens = ["${TOKEN}"]
[server.audit]
path = "audit.jsonl"
[run_state_store]
type = "sqlite"
path = "gate.db"
sync_mode = "full"
[schema_registry]
type = "sqlite"
path = "gate.db"
`;

/** Starts a server in a folder, loads it, and stops it. */
export async function runMixedLoad(folder: string, mixed: MixedLoad): Promise<LoadReport> {
  await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG, { mode: 0o600 });
  const args = gateArgs("serve", "--config", `${folder}/gate.toml`, "--log-level", "info");
  await using server = await listening(startServer({ args, cwd: folder }));
  const { url } = server;
  await using bystander = await startBystander(folder);
  const load = await openLoad(url);
  const end = pause(mixed.seconds * 1000).then(() => load.over = true);
  const settling = pause(mixed.settledAfter * 1000).then(() => residentBytes(url));
  const random = (index: number): Random => randomOf(index + 1);
  const workers = [
    ...Array.from({ length: mixed.writers }, (_, index) => write(load, random(index))),
    ...Array.from({ length: mixed.readers }, (_, index) => read(load, random(100 + index))),
    ...Array.from({ length: mixed.exporters }, (_, index) => publish(load, random(200 + index))),
    watch(load, bystander),
  ];
  try {
    await Promise.all([...workers, end]);
  } finally {
    load.over = true;
    await Promise.allSettled([...workers, settling]);
    load.close();
  }
  const [settled, atEnd] = [await settling, await residentBytes(url)];
  await stop(server.process);
  const { latencies, counts } = load;
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)];
  const bystanderP99 = percentile(bystander.latencies, 0.99);
  return { mutations: latencies.length, ...counts, p50, p99, bystanderP99, settled, atEnd };
}

async function stop(process: ServerProcess): Promise<void> {
  process.signal("SIGTERM");
  const code = await process.ended();
  if (code !== 0) throw new Error(`Cannot stop in order: exit code ${code}: ${process.errors().slice(-2000)}`);
  // What comes before is about the configuration.
  const [, served = ""] = process.errors().split('"message":"Listening"', 2);
  const failure = /^.*"level":"(?:error|warn)".*$/m.exec(served);
  if (failure !== null) throw new Error(`Cannot accept what was logged: ${failure[0]}`);
}

async function openLoad(url: string): Promise<Load> {
  let id = 0;
  const sender = createKeepAlive(url, {
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  });
  const call = async (tool: string, input: unknown): Promise<Wire> => {
    const { status, text } = await sender.send("POST", "/mcp", callText(++id, tool, input));
    const result = status === 200 ? (JSON.parse(text) as Wire)["result"] as Wire | undefined : undefined;
    if (result === undefined || result["isError"] === true) throw new Error(`Cannot call ${tool}: ${status} ${text}`);
    return result["structuredContent"] as Wire;
  };
  const { scenario_law_identity } = await call("scenario_define", { spec: SCENARIO });
  const counts = { reads: 0, exports: 0 };
  const { close } = sender;
  return { call, close, law: String(scenario_law_identity), recent: [], latencies: [], counts, over: false };
}

/** Carries one run after the other from start to end. */
async function write(load: Load, random: Random): Promise<void> {
  while (!load.over) {
    const started = await mutate(load, "scenario_start", {
      namespace_id: 2,
      scenario_id: SCENARIO.scenario_id,
      scenario_law_identity: load.law,
      creation_request_id: identityOf(random),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    });
    const run: Run = { ...started["run_key"] as Omit<Run, "scenario_id">, scenario_id: SCENARIO.scenario_id };
    let head = started["head"];
    const step = async (tool: string, change: Wire): Promise<void> => {
      const input = { ...run, expected_head: head, operation_id: identityOf(random), ...change };
      head = (await mutate(load, tool, input))["accepted_head"];
    };
    for (const stage_id of ["a", "b"]) {
      await step("scenario_open_stage", { stage_id });
      for (let at = 0; at < SUBMISSIONS / 2; at++) await step("scenario_submit", submission(random));
      for (const value of [false, true]) {
        await step("scenario_evaluate_stage", { stage_id, caller_evidence: [evidenceOf(value)] });
      }
      remember(load, run);
    }
  }
}

function submission(random: Random): Wire {
  const payload = { kind: "json", value: { note: identityOf(random).repeat(1 + Math.floor(random() * 30)) } };
  return { content_type: "application/json", payload, scope: { kind: "run_wide" } };
}

function evidenceOf(value: boolean): Wire {
  const retention = { retention: "RetainCanonicalValue" };
  return { condition_id: "done", retention, value: { value, value_type: "Boolean" } };
}

function remember({ recent }: Load, run: Run): void {
  recent.push(run);
  if (recent.length > RECENT) recent.shift();
}

async function mutate(load: Load, tool: string, input: unknown): Promise<Wire> {
  const before = performance.now();
  const { outcome, result } = (await load.call(tool, input))["outcome"] as Wire;
  load.latencies.push(performance.now() - before);
  if (outcome !== "accepted") throw new Error(`Cannot ${tool}: ${String(outcome)} ${JSON.stringify(result)}`);
  return result as Wire;
}

/** Reads what is there, one thing after the other. */
async function read(load: Load, random: Random): Promise<void> {
  while (!load.over) {
    const run = load.recent[Math.floor(random() * load.recent.length)];
    if (run === undefined) await pause(10);
    else if (random() < 0.6) await load.call("scenario_status", run);
    else if (random() < 0.5) await load.call("scenario_history", { ...run, limit: 20 });
    else await load.call("scenarios_list", { namespace_id: 2 });
    load.counts.reads++;
  }
}

/** Publishes runs and verifies what was published. */
async function publish(load: Load, random: Random): Promise<void> {
  while (!load.over) {
    const run = load.recent[Math.floor(random() * load.recent.length)];
    if (run === undefined) {
      await pause(10);
      continue;
    }
    const { publication } = await load.call("runpack_export", { namespace_id: 2, run_id: run.run_id });
    const { outcome, runpack_identity } = publication as Wire;
    if (outcome !== "published") throw new Error(`Cannot publish: ${JSON.stringify(publication)}`);
    const report = JSON.stringify(await load.call("runpack_verify", { runpack_identity }));
    if (report.includes('"violated"')) throw new Error(`Cannot verify: ${report}`);
    load.counts.exports++;
    // Exports come now and then: twice a second for each exporter.
    await pause(500);
  }
}

interface Bystander extends AsyncDisposable {
  readonly url: string;
  /** Milliseconds from when each request was due. */
  readonly latencies: number[];
}

/** Starts the server beside the one under load, on the same disk. */
async function startBystander(folder: string): Promise<Bystander> {
  const script = new URL("./bystander.ts", import.meta.url).pathname;
  const permissions = ["--allow-net=127.0.0.1", "--allow-read", "--allow-write"];
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", ...permissions, script, `${folder}/bystander.db`],
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value: port } = await reader.read();
  return {
    url: `http://127.0.0.1:${port?.trim()}/`,
    latencies: [],
    [Symbol.asyncDispose]: async () => {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
    },
  };
}

/** Asks the bystander at times that do not depend on its answers, so that no wait goes uncounted. */
async function watch(load: Load, { url, latencies }: Bystander): Promise<void> {
  const { send, close } = createKeepAlive(url);
  for (let due = performance.now(); !load.over; due += BYSTANDER_MILLISECONDS) {
    await pause(Math.max(0, due - performance.now()));
    await send("GET", "/");
    latencies.push(performance.now() - due);
  }
  close();
}

async function residentBytes(url: string): Promise<number> {
  const sizes: number[] = [];
  for (let look = 0; look < LOOKS; look++) {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    sizes.push(Number(/^process_resident_memory_bytes (\S+)$/m.exec(await response.text())?.[1]));
    await pause(200);
  }
  const least = Math.min(...sizes);
  if (!(least > 0)) throw new Error("Cannot read the resident memory of the server");
  return least;
}

/** Milliseconds within which 99 of 100 mutations are answered, on a machine that does nothing else. */
export const P99_MOST = 20;

/** How much slower than a request to the bystander a mutation may be, which has other requests before it. */
const P99_TIMES = 2.5;

/**
 * Milliseconds within which 99 of 100 mutations are answered on a machine that others use, too: the same, or so many times
 * what a bystander that has nothing else to do needed meanwhile.
 */
export function p99Limit({ bystanderP99 }: Pick<LoadReport, "bystanderP99">): number {
  return Math.max(P99_MOST, P99_TIMES * bystanderP99);
}

/** One line for people. */
export function describeLoad(report: LoadReport): string {
  const { mutations, reads, exports, p50, p99, bystanderP99, settled, atEnd } = report;
  const mebibytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(0);
  return `${mutations} mutations, ${reads} reads, ${exports} exports; mutations p50 ${p50.toFixed(1)} ms, ` +
    `p99 ${p99.toFixed(1)} ms, beside it p99 ${bystanderP99.toFixed(1)} ms; resident ${
      mebibytes(settled)
    } MiB settled, ${mebibytes(atEnd)} MiB at the end, ` +
    `${(atEnd / settled).toFixed(2)}x`;
}
