/**
 * Row 1: from spawning the process to the first answer, SQLite store on disk.
 *
 * @module
 */

import { gateArgs, STORES } from "../../e2e/gate_command.ts";
import { envelope, initializeParams } from "../../e2e/client.ts";
import { type BenchRow, compare } from "../harness.ts";
import { type CommandLine, installServerEverything, SERVER_EVERYTHING } from "../server_everything.ts";

const ROOT = new URL("../../..", import.meta.url).pathname;

/** The first message of a client. */
export const INITIALIZE: string = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: initializeParams(),
});
const DISCOVER = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: envelope() } });

/** Measures both ways to begin; the peer knows `initialize` only. */
export async function run(): Promise<BenchRow[]> {
  const folder = await Deno.makeTempDir({ prefix: "gate_cold_start_" });
  try {
    await Deno.writeTextFile(`${folder}/gate.toml`, STORES);
    const args = gateArgs("serve", "--config", `${folder}/gate.toml`);
    const ours = { command: Deno.execPath(), args };
    const peer = await installServerEverything(folder);
    // The store exists, and the runtime has compiled what it caches.
    await firstAnswer(ours, INITIALIZE, true);
    const row = (name: string, message: string, rowNumber: string): Promise<BenchRow> =>
      compare({
        row: rowNumber,
        name: `cold start to the first ${name} answer`,
        peer_name: `${SERVER_EVERYTHING} on Node, initialize`,
        unit: "ms",
        must: 0.3,
        goal: 0.15,
        direction: "lower",
        ceiling: "raw Deno is 0.06",
        ours: () => firstAnswer(ours, message),
        peer: () => firstAnswer(peer, INITIALIZE),
        rounds: { counted: 9 },
      });
    return [await row("initialize", INITIALIZE, "1"), await row("server/discover", DISCOVER, "1")];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Starts a server, sends one message and waits for its answer; then ends the server.
 *
 * @param orderly Whether the server is left to end by itself
 * @returns Milliseconds from the start of the process to the end of the answer's line
 */
export async function firstAnswer(server: CommandLine, message: string, orderly = false): Promise<number> {
  return (await startAndAsk(server, message, { orderly })).milliseconds;
}

/** A first answer, and the memory of the server some time after it. */
export interface Started {
  readonly milliseconds: number;
  /** Resident memory; 0 where it was not asked for. */
  readonly mebibytes: number;
}

/**
 * As {@link firstAnswer}, with the memory of the idle server.
 *
 * @param idleMillis Milliseconds to wait before the memory is read; 0 reads none
 */
export async function startAndAsk(
  server: CommandLine,
  message: string,
  { orderly = false, idleMillis = 0 }: { readonly orderly?: boolean; readonly idleMillis?: number } = {},
): Promise<Started> {
  const start = performance.now();
  const child = new Deno.Command(server.command, {
    args: [...server.args],
    cwd: ROOT,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  await input.write(new TextEncoder().encode(`${message}\n`));
  const line = await readLine(child.stdout);
  const milliseconds = performance.now() - start;
  const answer = JSON.parse(line) as { id?: unknown; result?: unknown };
  if (answer.id !== 1 || answer.result === undefined) throw new Error(`Cannot measure: the first line was ${line}`);
  let mebibytes = 0;
  if (idleMillis > 0) {
    await new Promise((resolve) => setTimeout(resolve, idleMillis));
    mebibytes = await residentMebibytes(child.pid);
  }
  if (orderly) await input.close();
  else child.kill("SIGKILL");
  await child.status;
  return { milliseconds, mebibytes };
}

/** Another program reads it: the runtime reads `/proc` with all permissions only. */
async function residentMebibytes(pid: number): Promise<number> {
  const { stdout } = await new Deno.Command("cat", { args: [`/proc/${pid}/status`] }).output();
  return Number(/VmRSS:\s+(\d+)/.exec(new TextDecoder().decode(stdout))?.[1]) / 1024;
}

async function readLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error("Cannot measure: the server ended without an answer");
}
