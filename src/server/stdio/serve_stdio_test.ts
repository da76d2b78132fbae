import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "../../config/defaults.ts";
import { createDispatcher } from "../protocol/dispatcher.ts";
import { createLimits } from "../process/limits.ts";
import { serveStdio, type StdioEnd } from "./serve_stdio.ts";
import type { Tool } from "../../tools/framework/types.ts";

const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

const call = (id: number, name: string): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, _meta: ENVELOPE } })}\n`;

interface Setup {
  /** What the client writes; after it the input ends, or stays open. */
  readonly input: string;
  readonly ends: boolean;
  /** Whether the client reads. */
  readonly reads: boolean;
  /** When the process is stopped, in milliseconds after the calls began; null for never. */
  readonly stopAfter: number | null;
  /** When it turns out that there is nothing to serve with, in milliseconds after that; never unless given. */
  readonly breaksAfter?: number;
  /** Whether writing fails. */
  readonly gone?: boolean;
}

/** What became of a connection. */
interface Outcome {
  readonly end: StdioEnd;
  readonly answered: number[];
  /** Messages of the errors among them. */
  readonly refused: string[];
  readonly aborted: boolean;
  readonly warned: boolean;
  /** Calls that have begun. */
  readonly begun: number;
}

/** What {@link serve} counts while it runs. */
interface Counts {
  readonly answered: number[];
  readonly refused: string[];
  aborted: boolean;
  warned: boolean;
  begun: number;
  readonly timers: ReturnType<typeof setTimeout>[];
}

/** The tools `quick`, `slow` (40 ms), `stuck` (until aborted) and `large` (100 kB). */
function makeTools(counts: Counts): Map<string, Tool> {
  const tool = (name: string, answer: Tool["handle"]): [string, Tool] => {
    const handle: Tool["handle"] = (input, call) => {
      counts.begun++;
      return answer(input, call);
    };
    const hints = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };
    return [name, {
      name,
      title: name,
      description: name,
      hints,
      group: "Read",
      audit: "request",
      inputSchema: {},
      outputSchema: {},
      handle,
    }];
  };
  return new Map([
    tool("quick", () => Promise.resolve({ ok: true, result: {} })),
    tool("large", () => Promise.resolve({ ok: true, result: { text: "x".repeat(50_000) } })),
    tool("slow", () =>
      new Promise((resolve) => {
        counts.timers.push(setTimeout(() => resolve({ ok: true, result: {} }), 40));
      })),
    tool("stuck", (_input, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          counts.aborted = true;
          resolve({ ok: true, result: {} });
        });
      })),
  ]);
}

/** Serves one connection with little patience. */
async function serve(setup: Setup): Promise<Outcome> {
  const outcome: Counts = { answered: [], refused: [], aborted: false, warned: false, begun: 0, timers: [] };
  const { timers } = outcome;
  const tools = makeTools(outcome);
  const pieces: (Uint8Array | null)[] = [new TextEncoder().encode(setup.input), ...(setup.ends ? [null] : [])];
  const never = new Promise<never>(() => {});
  const stop = new AbortController();
  const broken = new AbortController();
  const { stopAfter, breaksAfter } = setup;
  // What happens while calls are in work happens after they have begun: all of them, or as many as a mebibyte holds.
  const requests = Math.min(11, setup.input.split("\n").length - 1);
  const look = setInterval(() => {
    if (outcome.begun < requests) return;
    clearInterval(look);
    if (stopAfter !== null) timers.push(setTimeout(() => stop.abort(), stopAfter));
    if (breaksAfter !== undefined) timers.push(setTimeout(() => broken.abort(new Error("No store")), breaksAfter));
  }, 1);
  const { server } = DEFAULT_SETTINGS;
  const end = await serveStdio({
    streams: {
      read: (buffer) => {
        const piece = pieces.shift();
        if (piece === undefined) return never;
        if (piece !== null) buffer.set(piece);
        return Promise.resolve(piece === null ? null : piece.length);
      },
      write: (bytes) => {
        if (setup.gone === true) return Promise.reject(new Deno.errors.BrokenPipe("broken pipe"));
        if (!setup.reads) return never;
        for (const line of new TextDecoder().decode(bytes).trim().split("\n")) {
          const { id, error } = JSON.parse(line);
          outcome.answered.push(id);
          if (error !== undefined) outcome.refused.push(`${error.data.kind}: ${error.message}`);
        }
        return Promise.resolve(bytes.length);
      },
    },
    server,
    limits: createLimits(server.limits),
    dispatcher: createDispatcher({
      loadTools: () => Promise.resolve(tools),
      tools: server.tools,
      auth: null,
      log: () => undefined,
    }),
    log: (level) => {
      if (level === "warn") outcome.warned = true;
    },
    stop: stop.signal,
    broken: broken.signal,
    answered: () => undefined,
    patience: { stopped: 120, end_of_input: 120, broken: 120 },
  });
  for (const timer of [look, ...timers]) clearTimeout(timer);
  return { end, ...outcome };
}

const BOTH = call(1, "quick") + call(2, "slow");
const STUCK = call(1, "quick") + call(2, "stuck");

type Row = readonly [what: string, setup: Setup, outcome: string];

const ROWS: readonly Row[] = [
  ["the end of input", { input: BOTH, ends: true, reads: true, stopAfter: null }, "end_of_input 1,2"],
  [
    "the end of input, a stuck call",
    { input: STUCK, ends: true, reads: true, stopAfter: null },
    "end_of_input 1 aborted warned",
  ],
  [
    "the end of input, no reader",
    { input: BOTH, ends: true, reads: false, stopAfter: null },
    "end_of_input  warned",
  ],
  ["a stop while nothing comes", { input: BOTH, ends: false, reads: true, stopAfter: 10 }, "stopped 1,2"],
  ["a stop, a stuck call", { input: STUCK, ends: false, reads: true, stopAfter: 10 }, "stopped 1 aborted warned"],
  ["a stop, no reader", { input: BOTH, ends: false, reads: false, stopAfter: 10 }, "stopped  warned"],
  ["a stop before anything", { input: "", ends: false, reads: true, stopAfter: 0 }, "stopped "],
  [
    "a failed start, no request",
    { input: "", ends: false, reads: true, stopAfter: null, breaksAfter: 10 },
    "stopped ",
  ],
  [
    "a failed start, a stuck call",
    { input: STUCK, ends: false, reads: true, stopAfter: null, breaksAfter: 10 },
    "stopped 1,2 aborted unavailable: No store",
  ],
  [
    "a failed start, no reader",
    { input: STUCK, ends: false, reads: false, stopAfter: null, breaksAfter: 10 },
    "stopped  aborted warned",
  ],
  [
    "a reader that is gone",
    { input: STUCK, ends: false, reads: true, stopAfter: null, gone: true },
    "reader_gone  aborted",
  ],
];

for (const [what, setup, expected] of ROWS) {
  Deno.test(`serveStdio() ends after ${what}: ${expected}`, async () => {
    const { end, answered, refused, aborted, warned } = await serve(setup);
    const words = [...aborted ? ["aborted"] : [], ...warned ? ["warned"] : [], ...refused];
    assert.equal([end, answered.join(), ...words].join(" "), expected);
  });
}

Deno.test("serveStdio() starts no more requests while a mebibyte is unread, and can still be stopped", async () => {
  const input = Array.from({ length: 300 }, (_, id) => call(id, "large")).join("");
  const unread = await serve({ input, ends: true, reads: false, stopAfter: 60 });
  assert.equal(unread.end, "stopped");
  assert.ok(unread.begun >= 11 && unread.begun <= 32, `${unread.begun} begun`);
  const read = await serve({ input, ends: true, reads: true, stopAfter: null });
  assert.deepEqual([read.end, read.begun, read.answered.length], ["end_of_input", 300, 300]);
});
