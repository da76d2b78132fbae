/**
 * Row 14: the delay of the serving thread, measured inside the server. Meanwhile runpacks are exported and verified,
 * laws of 1,024 stages are defined and 256 callers ask. The load is niced: it is not what is measured.
 *
 * @module
 */

import { listening, pause, send } from "../../e2e/http_fixture.ts";
import { startServer } from "../../e2e/client.ts";
import { gateArgs } from "../../e2e/gate_command.ts";
import { createKeepAlive } from "../../full/load/keep_alive.ts";
import { type BenchRow, makeRow } from "../harness.ts";
import { percentile } from "./mutation_bench.ts";

/** Milliseconds that 99.9 of 100 looks may be late: a bound of a bucket, and three times it is one too. */
const LATE_MOST = 50;

const SECONDS = { quick: 20, whole: 40 };

const CONFIG = `
[server]
transport = "http"
bind = "127.0.0.1:0"
[server.audit]
path = "audit.jsonl"
[run_state_store]
type = "sqlite"
path = "gate.db"
`;

/** What was seen. */
export interface LoopReport {
  /** Milliseconds within which 99.9 of 100 looks came: an upper bound of a bucket. */
  readonly late: number;
  readonly looks: number;
  /** Milliseconds that 99 of 100 requests for `/healthz` took beside the load, and how many there were. */
  readonly health: number;
  readonly probes: number;
  /** What the load did. */
  readonly done: { readonly verify: number; readonly export: number; readonly define: number; readonly status: number };
}

/** Upper bounds of the buckets in milliseconds, and how many looks came within each. */
type Buckets = readonly (readonly [bound: number, looks: number])[];

/** Reads the histogram of the loop's delay. */
export function delayBuckets(metrics: string): Buckets {
  return [...metrics.matchAll(/^gate_loop_delay_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm)].map((
    [, bound, looks],
  ) => [bound === "+Inf" ? Infinity : Number(bound) * 1000, Number(looks)]);
}

/** The least bound within which 99.9 of 100 looks came between two readings; an infinite one where there were none. */
export function lateP999(before: Buckets, after: Buckets): { readonly late: number; readonly looks: number } {
  const between = after.map(([bound, looks], index) => [bound, looks - (before[index]?.[1] ?? 0)] as const);
  const looks = between.at(-1)?.[1] ?? 0;
  const [late = Infinity] = between.find(([, within]) => looks > 0 && within >= looks * 0.999) ?? [];
  return { late, looks };
}

/** Measures the row. */
export async function run(quick: boolean): Promise<BenchRow[]> {
  const { late } = await measureLoop(quick ? SECONDS.quick : SECONDS.whole);
  return [makeRow({
    row: "14",
    name: "delay of the serving thread, p99.9, 256 callers, of whom 12 verify, 4 export and 1 defines",
    peer_name: "what it may be",
    unit: "ms",
    must: 1,
    goal: 0.5,
    direction: "lower",
  }, { ours: [late], peer: [LATE_MOST] })];
}

/** Between two requests for `/healthz`, in milliseconds. */
const PROBE_MILLISECONDS = 20;

/** Asks for `/healthz` at times that do not depend on the answers, one after the other, until it is ended. */
function startProbe(url: string): { readonly end: () => Promise<Pick<LoopReport, "health" | "probes">> } {
  const { send, close } = createKeepAlive(url);
  const taken: number[] = [];
  let over = false;
  const probing = (async () => {
    for (let due = performance.now(); !over; due += PROBE_MILLISECONDS) {
      await pause(Math.max(0, due - performance.now()));
      await send("GET", "/healthz");
      taken.push(performance.now() - due);
    }
  })();
  return {
    end: async () => {
      over = true;
      await probing;
      close();
      return { health: percentile(taken, 0.99), probes: taken.length };
    },
  };
}

/** Starts a server, loads it, and reads its own measure. */
export async function measureLoop(seconds: number): Promise<LoopReport> {
  const folder = await Deno.makeTempDir({ prefix: "gate-bench-" });
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, CONFIG);
    await using gate = await listening(startServer({ args: gateArgs("serve", "--config", `${folder}/gate.toml`) }));
    const metrics = async (): Promise<Buckets> => delayBuckets((await send(gate.url, null, { path: "/metrics" })).text);
    const script = new URL("../loop_load.ts", import.meta.url).pathname;
    const load = new Deno.Command("nice", {
      args: [
        "-n",
        "19",
        Deno.execPath(),
        "run",
        "--no-prompt",
        "--quiet",
        "--allow-net=127.0.0.1",
        script,
        gate.url,
        `${seconds}`,
      ],
      stdout: "piped",
    }).spawn();
    const lines = load.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (end: RegExp): Promise<void> => {
      while (!end.test(text)) {
        const { value, done } = await lines.read();
        if (done) throw new Error(`Cannot measure: the load ended early: ${text}`);
        text += value;
      }
    };
    await until(/^ready\n/);
    const before = await metrics();
    const probe = startProbe(gate.url);
    await until(/\{.*\}\n/);
    const after = await metrics();
    const probed = await probe.end();
    await load.status;
    return { ...lateP999(before, after), ...probed, done: JSON.parse(text.split("\n")[1] ?? "") as LoopReport["done"] };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
