/**
 * A gate server process under load: many calls in flight over stdio, and a sudden end.
 *
 * @module
 */

import type { JsonObject } from "@/canonical/json.ts";
import { assertPublished } from "../../answers.ts";
import { gateArgs, processOf } from "../../e2e/gate_command.ts";

/** A tool's answer: its `structuredContent`. */
export type Answer = Record<string, unknown>;

/** The process died before it answered. */
export class Died extends Error {
  /** Says that there will be no answer. */
  constructor() {
    super("Cannot wait for the answer: the process died");
    this.name = "Died";
  }
}

/** A server process. */
export interface GateProcess {
  /** Calls a tool; rejects with {@link Died} where the process ends first. */
  readonly call: (tool: string, input: unknown) => Promise<Answer>;
  /** Calls a tool that answers with an outcome, and gives that: `{outcome, result}`. */
  readonly decide: (tool: string, input: unknown) => Promise<Answer>;
  /** Ends the process with SIGKILL and waits for its end. */
  readonly kill: () => Promise<void>;
  /** Closes standard input, as a client that is done does, and waits for the end; returns the exit code. */
  readonly close: () => Promise<number>;
}

const CHECKOUT = new URL("../../../", import.meta.url).pathname;

interface Waiter {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Died) => void;
}

async function readAnswers(stream: ReadableStream<Uint8Array>, waiting: Map<number, Waiter>): Promise<void> {
  let rest = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const message = JSON.parse(line) as { id: number; result?: { structuredContent?: Answer } };
      const waiter = waiting.get(message.id);
      waiting.delete(message.id);
      // A protocol error has no structured content; no call of these tests may get one.
      waiter?.resolve(message.result?.structuredContent ?? { protocol_error: message });
    }
  }
  for (const waiter of waiting.values()) waiter.reject(new Died());
  waiting.clear();
}

/** Starts a server on a configuration file and greets it. What it logs is shown unless told otherwise. */
export async function startGate(configPath: string, stderr: "inherit" | "null" = "inherit"): Promise<GateProcess> {
  const { command, args } = processOf(gateArgs("serve", "--config", configPath, "--log-level", "error"));
  const child = new Deno.Command(command, {
    args: [...args],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0" },
    stdin: "piped",
    stdout: "piped",
    stderr,
  }).spawn();
  const waiting = new Map<number, Waiter>();
  const reading = readAnswers(child.stdout, waiting);
  const writer = child.stdin.getWriter();
  const encoder = new TextEncoder();
  let lastId = 0;
  const request = (method: string, params: unknown): Promise<Answer> => {
    const id = ++lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    waiting.set(id, { resolve, reject });
    const line = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    writer.write(encoder.encode(`${line}\n`)).catch(() => reject(new Died()));
    return promise;
  };
  await request("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "crash", version: "1" },
  });
  await writer.write(encoder.encode(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`));
  const call = async (tool: string, input: unknown): Promise<Answer> => {
    const answer = await request("tools/call", { name: tool, arguments: input });
    if (!("protocol_error" in answer)) await assertPublished(tool, answer as JsonObject);
    return answer;
  };
  return {
    call,
    decide: async (tool, input) => (await call(tool, input))["outcome"] as Answer,
    kill: async () => {
      child.kill("SIGKILL");
      await child.status;
      await reading;
      await writer.abort().catch(() => undefined);
    },
    close: async () => {
      await writer.close();
      const { code } = await child.status;
      await reading;
      return code;
    },
  };
}
