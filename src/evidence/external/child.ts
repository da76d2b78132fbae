/**
 * A provider's process as a transport of the protocol library. It starts without a shell and with a minimal
 * environment. Its output is read line by line within bounds. A process that breaks a rule is ended together with its
 * descendants.
 */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { LineReader } from "../../canonical/lines.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { workSlices } from "../cooperative_scheduler.ts";
import { ExternalFailure } from "./failure.ts";
import { HAS_GROUPS, killGroup, stopGroup, watchGroup } from "./process_group.ts";
import { createReplyLines } from "./reply_lines.ts";
import { type RawResults, readMessageText } from "./messages.ts";

/** Bytes that may wait until the process reads them; above, pings are not answered. */
const OUTGOING_PENDING_BYTES = 64 * 1024;
/** Characters of the end of standard error that are kept. */
const STDERR_TAIL = 4096;

/** The environment variables that the process receives: those that finding and running a program needs. */
const ENVIRONMENT = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT"];

/** The process to start. */
export interface ChildOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Working directory. */
  readonly directory: string;
  readonly rawResults: RawResults;
  /** Receives the end of its standard error. */
  readonly stderr: StderrTail;
  /** Called once, when the process has exited or was ended. */
  readonly ended: (failure: ExternalFailure) => void;
}

/** The end of the standard error of a provider's processes. It can hold any text, so only the operator sees it. */
export interface StderrTail {
  text: string;
}

/** A running process. */
export interface Child extends Transport {
  /** Ends the process at once; queries in flight fail with `failure`. */
  readonly kill: (failure: ExternalFailure) => void;
  /** Resolves once the process has exited. */
  readonly gone: Promise<void>;
}

function minimalEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of ENVIRONMENT) {
    // Without the permission to read it a program still starts, by its absolute path.
    if (Deno.permissions.querySync({ name: "env", variable: name }).state !== "granted") continue;
    const value = Deno.env.get(name);
    if (value !== undefined) environment[name] = value;
  }
  return environment;
}

function spawn(options: ChildOptions): Deno.ChildProcess {
  const [program, ...args] = options.command;
  try {
    const process = new Deno.Command(program ?? "", {
      args,
      detached: HAS_GROUPS,
      cwd: options.directory,
      clearEnv: true,
      env: minimalEnvironment(),
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    watchGroup(process);
    return process;
  } catch (error) {
    const why = error instanceof Deno.errors.NotCapable ? "gate has no permission to run it" : "it cannot be run";
    throw new ExternalFailure("provider_unreachable", `Cannot start provider: ${why}`, false);
  }
}

/**
 * Starts the process of a provider.
 *
 * @throws {ExternalFailure} `provider_unreachable` where it cannot be started
 */
export function startChild(options: ChildOptions): Child {
  const { rawResults } = options;
  const process = spawn(options);
  const writer = process.stdin.getWriter();
  let waitingBytes = 0;
  let over: ExternalFailure | null = null;

  const child: Child = {
    start: () => Promise.resolve(),
    send: (message) => send(message),
    close: () =>
      Promise.resolve(end(new ExternalFailure("cancelled", "The provider is being closed", false), stopGroup)),
    kill: (failure) => end(failure, killGroup),
    gone: process.status.then(() => end(new ExternalFailure("worker_died", "The provider's process ended"), null)),
  };

  const end = (failure: ExternalFailure, stop: ((process: Deno.ChildProcess) => void) | null): void => {
    if (over !== null) return;
    over = failure;
    writer.abort().catch(() => {});
    stop?.(process);
    options.ended(failure);
    child.onclose?.();
  };

  const send = async (message: JSONRPCMessage): Promise<void> => {
    if (over !== null) throw over;
    const sent = message as JsonObject;
    const method = member(sent, "method");
    if (method === undefined && waitingBytes > OUTGOING_PENDING_BYTES) return;
    noteOutgoing(rawResults, sent, method);
    const bytes = new TextEncoder().encode(`${JSON.stringify(message)}\n`);
    waitingBytes += bytes.length;
    try {
      await writer.write(bytes);
    } catch {
      throw over ?? new ExternalFailure("worker_died", "The provider's process closed its standard input");
    } finally {
      waitingBytes -= bytes.length;
    }
  };

  const receive = (text: string): void => {
    if (text.trim() === "") return;
    const message = readMessageText(text);
    // A provider may respond and ping; its other requests and notifications are ignored.
    const method = member(message, "method");
    if (method !== undefined && method !== "ping") return;
    child.onmessage?.(rawResults.substitute(message) as JSONRPCMessage);
  };

  drain(process.stdout, createReplyLines(receive).push).catch((error) => {
    const failure = error instanceof ExternalFailure
      ? error
      : new ExternalFailure("provider_protocol_error", "Cannot read reply of provider");
    end(failure, killGroup);
  });
  const decoder = new TextDecoder();
  drain(process.stderr, (bytes) => {
    options.stderr.text = (options.stderr.text + decoder.decode(bytes, { stream: true })).slice(-STDERR_TAIL);
  }).catch(() => {});
  return child;
}

/**
 * Registers the results to keep: those of tool calls that were not cancelled. Returns the id of the request that the
 * message cancels; null for any other message.
 */
export function noteOutgoing(
  rawResults: RawResults,
  sent: JsonObject,
  method: JsonValue | undefined,
): JsonValue {
  const id = member(sent, "id");
  if (method === "tools/call" && id !== undefined) rawResults.expect(id);
  if (method !== "notifications/cancelled") return null;
  const params = member(sent, "params");
  const requestId = isJsonObject(params) ? member(params, "requestId") ?? null : null;
  if (requestId !== null) rawResults.discard(requestId);
  return requestId;
}

/** Reads the output of a provider in time slices, so that one that writes without end does not delay other calls. */
export async function drain(stream: ReadableStream<Uint8Array>, take: LineReader["push"]): Promise<void> {
  const inSlice = workSlices();
  for await (const bytes of stream) await inSlice(() => take(bytes));
}
