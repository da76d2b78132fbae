/**
 * A server that `gate client` starts, and talks to over standard input and output.
 *
 * @module
 */

import {
  deserializeMessage,
  type JSONRPCMessage,
  type RequestId,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import { isJsonObject, member } from "../../canonical/json.ts";
import { parseJson } from "../../canonical/scan.ts";
import { recoverRequestId } from "../../server/protocol/request_id_recovery.ts";
import { createLineReader } from "../../canonical/lines.ts";
import { CliError } from "../terminal/cli_error.ts";
import { ANSWER_BYTES_MAXIMUM } from "./fetch.ts";
import { shown } from "../terminal/text.ts";

/** Characters of what a server says on standard error that are kept: the last ones say why it ended. */
const SAID_CHARACTERS = 64 * 1024;
/** Lines of that which are shown. */
const SAID_LINES = 20;
/** Milliseconds that a server has to end, each time that it is asked to. */
const GRACE_MILLIS = 2000;

const [BLANK, OPENING_BRACE] = [0x20, 0x7b];

/** A process with the conversation that is held with it. */
export interface ServerProcess {
  readonly transport: Transport;
  /** How it ended by itself; null while it runs. */
  readonly end: () => Deno.CommandStatus | null;
  /** What keeps an answer from being read, as in `is not UTF-8`; null for nothing. The conversation is over then. */
  readonly fault: () => string | null;
  /** The last messages on its standard error, a line each; all of them once the transport is closed. */
  readonly said: () => string;
}

/** A server that is started when its transport is; the SDK's own transport does not tell how a process ended. */
export function serverProcess(command: string, args: readonly string[]): ServerProcess {
  let child: Deno.ChildProcess | null = null;
  let writer: WritableStreamDefaultWriter<Uint8Array> | null = null;
  let over: Promise<void> = Promise.resolve();
  let end: Deno.CommandStatus | null = null;
  let fault: string | null = null;
  let said = "";
  const giveUp = (why: string): void => {
    if (fault !== null) return;
    fault = why;
    transport.onclose?.();
  };
  const asked = new Set<RequestId>();
  const incoming = createLineReader(ANSWER_BYTES_MAXIMUM, {
    line: (text) => {
      const message = readMessage(text, asked);
      if (message === "unreadable") return giveUp("is no JSON-RPC message");
      if (message === null) return;
      if (!("method" in message) && message.id !== undefined) asked.delete(message.id);
      transport.onmessage?.(message);
    },
    excess: () => giveUp(`has more than ${ANSWER_BYTES_MAXIMUM} bytes`),
    fault: (why, line) => {
      // As every line that is no JSON, one that cannot be is passed over.
      const isObject = line.find((byte) => byte > BLANK) === OPENING_BRACE;
      if (why === "not_utf8" && isObject) giveUp("is not UTF-8");
    },
  });
  const decoder = new TextDecoder();
  const note = (chunk: Uint8Array): void => {
    said = (said + decoder.decode(chunk, { stream: true })).slice(-SAID_CHARACTERS);
  };
  // That there are a `stderr` and a `pid` tells the library that a process is talked to.
  const transport: Transport & { readonly stderr: null; readonly pid: null } = {
    stderr: null,
    pid: null,
    start: () => {
      const started = child = spawn(command, args);
      writer = started.stdin.getWriter();
      over = Promise.all([started.status, each(started.stdout, incoming.push), each(started.stderr, note)])
        .then(([status]) => {
          end = status;
          if (fault === null) transport.onclose?.();
        });
      return Promise.resolve();
    },
    // To a process that is gone nothing can be written; that it is gone says `onclose`.
    send: async (message) => {
      if ("method" in message && "id" in message) asked.add(message.id);
      await writer?.write(new TextEncoder().encode(serializeMessage(message))).catch(() => {});
    },
    close: async () => {
      if (child === null) return;
      await writer?.close().catch(() => {});
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (await isOverSoon(over)) return;
        signalProcess(child, signal);
      }
      await child.status;
    },
  };
  return { transport, end: () => end, fault: () => fault, said: () => wordsOf(said) };
}

/**
 * A message of the server; null for a line that is none, and `unreadable` for one that names what was asked. An error without an id is
 * about a request that could not be read, and where one is asked alone it is about that one.
 */
function readMessage(line: string, asked: ReadonlySet<RequestId>): JSONRPCMessage | "unreadable" | null {
  const message = messageOf(line);
  if (message !== null) return message;
  const parsed = parseJson(line);
  const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  // A number somewhere that a double does not keep leaves the id as it is.
  const named = parsed.ok ? member(value, "id") : recoverRequestId(line);
  const [id] = asked;
  if (asked.size === 1 && named === null && isJsonObject(member(value, "error"))) {
    return messageOf(JSON.stringify({ ...value, id })) ?? "unreadable";
  }
  return asked.has(named as RequestId) ? "unreadable" : null;
}

function messageOf(text: string): JSONRPCMessage | null {
  try {
    return deserializeMessage(text);
  } catch {
    return null;
  }
}

/** What a log says to people: its messages, and nothing of an audit log. */
function wordsOf(said: string): string {
  const lines = said.split("\n").flatMap((line) => {
    const parsed = line.startsWith("{") ? parseJson(line) : null;
    if (parsed === null || !parsed.ok || !isJsonObject(parsed.value)) return line.trim() === "" ? [] : [shown(line)];
    const message = member(parsed.value, "message");
    return typeof message === "string" ? [shown(message)] : [];
  });
  return lines.slice(-SAID_LINES).join("\n");
}

function spawn(command: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(command, { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "there is no such program" : String(error);
    throw new CliError("usage", `Cannot start "${command}": ${why}`);
  }
}

async function each(
  stream: ReadableStream<Uint8Array>,
  take: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  for await (const chunk of stream) await take(chunk);
}

async function isOverSoon(over: Promise<void>): Promise<boolean> {
  const patience = Promise.withResolvers<false>();
  const timer = setTimeout(() => patience.resolve(false), GRACE_MILLIS);
  const isOver = await Promise.race([over.then(() => true), patience.promise]);
  clearTimeout(timer);
  return isOver;
}

function signalProcess(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // It has ended by itself meanwhile.
  }
}
