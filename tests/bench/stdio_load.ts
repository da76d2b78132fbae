/**
 * The load of the stdio benchmarks: so many requests in flight on one connection, each answer followed by the next
 * request. The client is a bare one that writes and counts lines, the same for both sides: it shares the processors with the server, and
 * it is not what is measured.
 *
 * @module
 */

import type { JsonObject } from "../../src/canonical/json.ts";
import { initializeParams } from "../e2e/client.ts";
import type { CallTool } from "./rows/mutation_bench.ts";
import type { CommandLine } from "./server_everything.ts";

/** A server process under load. */
export interface StdioPeer {
  /** Sends a request and gives the line of its answer. */
  readonly ask: (method: string, params: unknown) => Promise<string>;
  /**
   * Sends so many requests, so many of them in flight, and nothing besides.
   *
   * @param params Of the request with an index
   * @returns Answers a second
   */
  readonly load: (calls: number, inFlight: number, params: (index: number) => unknown) => Promise<number>;
  /**
   * Writes a text, and after it what each read of answers leads to, until that is null.
   *
   * @param first Whole lines
   * @param next Receives the lines that were read together; returns whole lines, or an empty text
   */
  readonly exchange: (first: string, next: (lines: readonly string[]) => string | null) => Promise<void>;
  /** Bytes of memory that the process has resident. */
  readonly resident: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const encoder = new TextEncoder();

/** Starts a server and initialises the connection. */
export async function openPeer(server: CommandLine, environment: Record<string, string> = {}): Promise<StdioPeer> {
  const child = new Deno.Command(server.command, {
    args: [...server.args],
    env: environment,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const input = child.stdin.getWriter();
  const waiting = new Map<number, (line: string) => void>();
  let exchanging: ((lines: readonly string[]) => void) | null = null;
  const reading = readLines(child.stdout, (lines) => {
    if (exchanging !== null) return exchanging(lines);
    for (const line of lines) {
      const { id } = JSON.parse(line) as { id?: number };
      // What a server says of its own accord answers nothing.
      if (id === undefined) continue;
      waiting.get(id)?.(line);
      waiting.delete(id);
    }
  });
  let nextId = 0;
  const text = (method: string, params: unknown): string =>
    `${JSON.stringify({ jsonrpc: "2.0", id: ++nextId, method, params })}\n`;
  const write = (requests: string): Promise<void> => input.write(encoder.encode(requests));
  const ask = (method: string, params: unknown): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const request = text(method, params);
    waiting.set(nextId, resolve);
    write(request).catch(reject);
    return promise;
  };
  const exchange = (first: string, next: (lines: readonly string[]) => string | null): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    exchanging = (lines) => {
      try {
        const requests = next(lines);
        if (requests === null) resolve();
        else if (requests !== "") write(requests).catch(reject);
      } catch (error) {
        reject(error);
      }
    };
    write(first).catch(reject);
    return promise.finally(() => exchanging = null);
  };
  await ask("initialize", initializeParams());
  await write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return {
    ask,
    load: (calls, inFlight, params) => {
      const requests = Array.from({ length: calls }, (_, index) => text("tools/call", params(index)));
      return loadWith(exchange, requests, inFlight);
    },
    exchange,
    resident: async () => {
      // Deno itself reads below /proc only with every permission there is.
      const { stdout } = await new Deno.Command("cat", { args: [`/proc/${child.pid}/status`] }).output();
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(new TextDecoder().decode(stdout))?.[1] ?? NaN) * 1024;
    },
    close: async () => {
      await input.close().catch(() => undefined);
      await Promise.all([child.status, reading]);
    },
  };
}

/** Sends requests, so many of them in flight; answers a second. */
async function loadWith(
  exchange: StdioPeer["exchange"],
  requests: readonly string[],
  inFlight: number,
): Promise<number> {
  const start = performance.now();
  let sent = inFlight;
  let answered = 0;
  await exchange(requests.slice(0, inFlight).join(""), (lines) => {
    const failed = lines.find((line) => line.includes('"error"'));
    if (failed !== undefined) throw new Error(`Cannot measure: ${failed.slice(0, 300)}`);
    answered += lines.length;
    const next = requests.slice(sent, sent + lines.length);
    sent += next.length;
    return answered >= requests.length ? null : next.join("");
  });
  return requests.length / (performance.now() - start) * 1000;
}

/** Calls a tool of a server and gives its structured content. */
export function callerOf(peer: StdioPeer): CallTool {
  return async (name, input) => {
    const answer = JSON.parse(await peer.ask("tools/call", { name, arguments: input })) as {
      result?: { structuredContent?: JsonObject };
    };
    const content = answer.result?.structuredContent;
    if (content === undefined) throw new Error(`Cannot measure: ${JSON.stringify(answer).slice(0, 300)}`);
    return content;
  };
}

/** Hands on the complete lines of a stream, as many as there are. */
async function readLines(stream: ReadableStream<Uint8Array>, take: (lines: readonly string[]) => void): Promise<void> {
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  let rest = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const parts = (rest + decoder.decode(chunk.value, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    const lines = parts.filter((part) => part !== "");
    if (lines.length > 0) take(lines);
  }
}
