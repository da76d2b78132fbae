/**
 * Talks to a server process over stdio, message by message, so that tests see exactly what goes over the wire.
 *
 * @module
 */

import { checkAnswers } from "./checked_answers.ts";
import { processOf } from "./gate_command.ts";

/** A JSON-RPC message as it came. */
export type Wire = Record<string, unknown>;

/** What to start. */
export interface ServerCommand {
  /** Runs `deno`, or the gate that is tested, unless given. */
  readonly program?: string;
  /** Arguments of `deno`, `run` included. */
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A server process. */
export interface ServerProcess {
  /** Writes one message as a line. */
  readonly send: (message: unknown) => Promise<void>;
  /** Writes bytes as they are. */
  readonly write: (bytes: Uint8Array | string) => Promise<void>;
  /** Sends a request and waits for the message with its id. */
  readonly request: (method: string, params?: unknown) => Promise<Wire>;
  /** Waits for the message with an id; null is the id of what could not be read. */
  readonly answer: (id: string | number | null) => Promise<Wire>;
  /** Closes standard input. */
  readonly closeInput: () => Promise<void>;
  readonly signal: (signal: Deno.Signal) => void;
  /** Every line of standard output so far, also those that were waited for. */
  readonly lines: () => readonly string[];
  /** What standard error holds so far. */
  readonly errors: () => string;
  /** Waits until standard error holds a text. */
  readonly logged: (text: string) => Promise<void>;
  /** Waits for the end of the process and of its output; returns the exit code. */
  readonly ended: () => Promise<number>;
  readonly pid: number;
  /** Ends the process if it is still there. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** No answer of these servers takes this long, in milliseconds. */
const PATIENCE_MILLISECONDS = 60_000;

/** Arguments of `deno` for the fixture server: it needs no permission. */
export function fixtureArgs(options: unknown = {}): string[] {
  const entry = new URL("./fixture_server.ts", import.meta.url).pathname;
  return ["run", "--no-prompt", "--quiet", entry, JSON.stringify(options)];
}

/** Starts the fixture server. */
export function startFixture(options: unknown = {}): ServerProcess {
  return startServer({ args: fixtureArgs(options) });
}

/** Starts a server. */
export function startServer(command: ServerCommand): ServerProcess {
  const { program, args } = command;
  const process = program === undefined ? processOf(args) : { command: program, args };
  const child = new Deno.Command(process.command, {
    args: [...process.args],
    cwd: command.cwd ?? new URL("../..", import.meta.url).pathname,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", ...command.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  const input = child.stdin.getWriter();
  let nextId = 1000;
  let open = true;
  const checked = checkAnswers();
  const write = async (bytes: Uint8Array | string): Promise<void> => {
    checked.sent(typeof bytes === "string" ? bytes : new TextDecoder().decode(bytes));
    await input.write(typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  };
  const send = (message: unknown): Promise<void> => write(`${JSON.stringify(message)}\n`);
  const closeInput = async (): Promise<void> => {
    if (open) await input.close().catch(() => undefined);
    open = false;
  };
  const find = finder(output, errors);
  const answer = async (id: string | number | null): Promise<Wire> => {
    const message = await find(id);
    await checked.received(message);
    return message;
  };
  const ended = async (): Promise<number> => {
    const [status] = await Promise.all([child.status, output.done, errors.done]);
    return status.code;
  };
  return {
    send,
    write,
    closeInput,
    answer,
    ended,
    request: async (method, params) => {
      const id = nextId++;
      await send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
      return await answer(id);
    },
    pid: child.pid,
    signal: (signal) => child.kill(signal),
    lines: output.lines,
    errors: errors.text,
    logged: async (text) => {
      await errors.until(`"${text}" on standard error`, () => errors.text().includes(text) || undefined);
    },
    [Symbol.asyncDispose]: async () => {
      await closeInput();
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
      await ended();
    },
  };
}

/** The text of a stream, while it grows. */
interface Collected {
  readonly text: () => string;
  /** Its complete lines. */
  readonly lines: () => readonly string[];
  /** Waits until something is found in it. */
  readonly until: <T>(what: string, find: () => T | undefined) => Promise<T>;
  readonly done: Promise<void>;
}

/** Waits for messages by their ids, each of which is given once. */
function finder(output: Collected, errors: Collected): (id: string | number | null) => Promise<Wire> {
  const seen = new Map<unknown, Wire>();
  let read = 0;
  return (id) =>
    output.until(`the answer to ${JSON.stringify(id)}; standard error: ${errors.text()}`, () => {
      const lines = output.lines();
      for (; read < lines.length; read++) {
        const message = JSON.parse(lines[read] ?? "") as Wire;
        if ("id" in message) seen.set(message["id"], message);
      }
      const found = seen.get(id);
      seen.delete(id);
      return found;
    });
}

function collect(stream: ReadableStream<Uint8Array>): Collected {
  const lines: string[] = [];
  let rest = "";
  let ended = false;
  let changed = Promise.withResolvers<void>();
  const tell = (): void => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const pump = async (): Promise<void> => {
    for await (const chunk of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      const parts = (rest + chunk).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) lines.push(part);
      tell();
    }
    ended = true;
    tell();
  };
  const until = async <T>(what: string, find: () => T | undefined): Promise<T> => {
    const late = Promise.withResolvers<"late">();
    const timer = setTimeout(() => late.resolve("late"), PATIENCE_MILLISECONDS);
    try {
      for (;;) {
        const found = find();
        if (found !== undefined) return found;
        if (ended) throw new Error(`Cannot find ${what}: the stream ended`);
        if (await Promise.race([changed.promise, late.promise]) === "late") {
          throw new Error(`Cannot find ${what} in time`);
        }
      }
    } finally {
      clearTimeout(timer);
    }
  };
  return { text: () => [...lines, rest].join("\n"), lines: () => lines, until, done: pump() };
}

/** The `params` of a plain `initialize`. */
export function initializeParams(protocolVersion = "2025-11-25"): Wire {
  return { protocolVersion, capabilities: {}, clientInfo: { name: "wire", version: "1" } };
}

/** The `_meta` that every request of 2026-07-28 carries. */
export function envelope(protocolVersion = "2026-07-28"): Wire {
  return {
    "io.modelcontextprotocol/protocolVersion": protocolVersion,
    "io.modelcontextprotocol/clientInfo": { name: "wire", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
}
