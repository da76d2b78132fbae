/** A server process that `gate client` starts and uses over standard input and output. */

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

/** Characters of the server's standard error that are kept: the last ones explain its end. */
const LOG_CHARACTERS = 64 * 1024;
/** Lines of the kept standard error that are shown. */
const LOG_LINES = 20;
/** Milliseconds for a server to end after its input is closed, and after each signal. */
const GRACE_MILLIS = 2000;

const BLANK = 0x20;
const OPENING_BRACE = 0x7b;

/** A server process with its transport. */
export interface ServerProcess {
  readonly transport: Transport;
  /** The exit status; null while the process runs. */
  readonly end: () => Deno.CommandStatus | null;
  /** Why an answer cannot be read, such as `is not UTF-8`, or null. A fault closes the transport. */
  readonly fault: () => string | null;
  /** The last messages on standard error, one per line; complete once the transport is closed. */
  readonly log: () => string;
}

/** A server that starts with its transport. The SDK's own transport does not report the exit status. */
export function serverProcess(command: string, args: readonly string[]): ServerProcess {
  let child: Deno.ChildProcess | null = null;
  let writer: WritableStreamDefaultWriter<Uint8Array> | null = null;
  let ended: Promise<void> = Promise.resolve();
  let end: Deno.CommandStatus | null = null;
  let fault: string | null = null;
  let log = "";
  const fail = (why: string): void => {
    if (fault !== null) return;
    fault = why;
    transport.onclose?.();
  };
  const pending = new Set<RequestId>();
  const incoming = createLineReader(ANSWER_BYTES_MAXIMUM, {
    line: (text) => {
      const message = readMessage(text, pending);
      if (message === "unreadable") return fail("is not a JSON-RPC message");
      if (message === null) return;
      if (!("method" in message) && message.id !== undefined) pending.delete(message.id);
      transport.onmessage?.(message);
    },
    excess: () => fail(`has more than ${ANSWER_BYTES_MAXIMUM} bytes`),
    fault: (why, line) => {
      // A line that cannot be JSON is ignored, as every other line that is not JSON.
      const isObject = line.find((byte) => byte > BLANK) === OPENING_BRACE;
      if (why === "not_utf8" && isObject) fail("is not UTF-8");
    },
  });
  const decoder = new TextDecoder();
  const appendLog = (chunk: Uint8Array): void => {
    log = (log + decoder.decode(chunk, { stream: true })).slice(-LOG_CHARACTERS);
  };
  // The library recognises the transport of a process by its members `stderr` and `pid`.
  const transport: Transport & { readonly stderr: null; readonly pid: null } = {
    stderr: null,
    pid: null,
    start: () => {
      const started = child = spawn(command, args);
      writer = started.stdin.getWriter();
      ended = Promise.all([started.status, each(started.stdout, incoming.push), each(started.stderr, appendLog)])
        .then(([status]) => {
          end = status;
          if (fault === null) transport.onclose?.();
        });
      return Promise.resolve();
    },
    // A write to a process that has ended fails; `onclose` reports its end.
    send: async (message) => {
      if ("method" in message && "id" in message) pending.add(message.id);
      await writer?.write(new TextEncoder().encode(serializeMessage(message))).catch(() => {});
    },
    close: async () => {
      if (child === null) return;
      await writer?.close().catch(() => {});
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (await endsInTime(ended)) return;
        signalProcess(child, signal);
      }
      await child.status;
    },
  };
  return { transport, end: () => end, fault: () => fault, log: () => logMessages(log) };
}

/**
 * Reads a message of the server. Returns null for a line that is not a message, and `unreadable` for an invalid answer
 * to a pending request. An error without an id answers the only pending request, if there is only one.
 */
function readMessage(line: string, pending: ReadonlySet<RequestId>): JSONRPCMessage | "unreadable" | null {
  const message = messageOf(line);
  if (message !== null) return message;
  const parsed = parseJson(line);
  const value = parsed.ok && isJsonObject(parsed.value) ? parsed.value : {};
  // The id can be recovered from a message with a number that a double cannot represent.
  const named = parsed.ok ? member(value, "id") : recoverRequestId(line);
  const [id] = pending;
  if (pending.size === 1 && named === null && isJsonObject(member(value, "error"))) {
    return messageOf(JSON.stringify({ ...value, id })) ?? "unreadable";
  }
  return pending.has(named as RequestId) ? "unreadable" : null;
}

function messageOf(text: string): JSONRPCMessage | null {
  try {
    return deserializeMessage(text);
  } catch {
    return null;
  }
}

/** The messages of a log in text or JSON, without the events of an audit log. */
function logMessages(log: string): string {
  const lines = log.split("\n").flatMap((line) => {
    const parsed = line.startsWith("{") ? parseJson(line) : null;
    if (parsed === null || !parsed.ok || !isJsonObject(parsed.value)) return line.trim() === "" ? [] : [shown(line)];
    const message = member(parsed.value, "message");
    return typeof message === "string" ? [shown(message)] : [];
  });
  return lines.slice(-LOG_LINES).join("\n");
}

function spawn(command: string, args: readonly string[]): Deno.ChildProcess {
  try {
    return new Deno.Command(command, { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  } catch (error) {
    const why = error instanceof Deno.errors.NotFound ? "program not found" : String(error);
    throw new CliError("usage", `Cannot start "${command}": ${why}`);
  }
}

async function each(
  stream: ReadableStream<Uint8Array>,
  visit: (chunk: Uint8Array) => void | Promise<void>,
): Promise<void> {
  for await (const chunk of stream) await visit(chunk);
}

async function endsInTime(ended: Promise<void>): Promise<boolean> {
  const timeout = Promise.withResolvers<false>();
  const timer = setTimeout(() => timeout.resolve(false), GRACE_MILLIS);
  const isEnded = await Promise.race([ended.then(() => true), timeout.promise]);
  clearTimeout(timer);
  return isEnded;
}

function signalProcess(child: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    child.kill(signal);
  } catch {
    // The process has already ended.
  }
}
