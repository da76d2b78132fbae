/**
 * Starts servers over HTTP as processes, and talks to them byte by byte or message by message.
 *
 * @module
 */

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { delay } from "@/server/process/log.ts";
import { checkAnswer } from "./checked_answers.ts";
import { fixtureArgs, type ServerProcess, startServer, type Wire } from "./client.ts";

/** An HTTP server process. */
export interface HttpServer extends AsyncDisposable {
  readonly process: ServerProcess;
  readonly url: string;
  readonly port: number;
}

/** Starts the fixture server on a port of its own. */
export async function startHttpFixture(
  options: { readonly server?: Wire; readonly http?: Wire } = {},
): Promise<HttpServer> {
  const server = { transport: "http", bind: "127.0.0.1:0", ...options.server };
  const [run, ...rest] = fixtureArgs({ ...options, server });
  return await listening(
    startServer({
      args: [
        run ?? "",
        "--allow-net=127.0.0.1",
        "--allow-read",
        "--allow-write",
        "--allow-sys",
        "--v8-flags=--expose-gc",
        ...rest,
      ],
    }),
  );
}

/** Waits until a server says where it listens. */
export async function listening(process: ServerProcess): Promise<HttpServer> {
  try {
    await process.logged('"Listening"');
    const url = /"url":"([^"]+)"/.exec(process.errors())?.[1] ?? "";
    return {
      process,
      url,
      port: Number(new URL(url).port),
      [Symbol.asyncDispose]: () => process[Symbol.asyncDispose](),
    };
  } catch (error) {
    await process[Symbol.asyncDispose]();
    throw error;
  }
}

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** What to send besides a body. */
export interface Sending {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** PEM texts, for HTTPS. */
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** False takes any certificate of the server. */
  readonly rejectUnauthorized?: boolean;
}

/** Sends one request on a connection of its own. */
export async function send(url: string, body: string | null, sending: Sending = {}): Promise<Answer> {
  const answer = await exchangeOne(url, body, sending);
  if (body !== null) await checkAnswer(body, answer.text);
  return answer;
}

function exchangeOne(url: string, body: string | null, sending: Sending): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method = body === null ? "GET" : "POST", path = "/mcp", headers = {}, ...tls } = sending;
  const target = new URL(url);
  const request = (target.protocol === "https:" ? httpsRequest : httpRequest)({
    host: target.hostname,
    port: target.port,
    path,
    method,
    agent: false,
    headers: { ...(body === null ? {} : JSON_HEADERS), ...headers },
    ...tls,
  }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => text += chunk);
    response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    response.on("error", reject);
  });
  request.on("error", reject);
  if (body !== null) request.write(body);
  request.end();
  return promise;
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** The fields that a message of 2026-07-28 travels with. */
export function modernHeaders(method: string, name?: string): Record<string, string> {
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(name === undefined ? {} : { "mcp-name": name }),
  };
}

/**
 * Writes bytes on a connection and gives all that comes back until the other side closes, or so many milliseconds pass.
 */
export async function exchange(
  port: number,
  chunks: readonly (string | Uint8Array | number)[],
  patience = 3_000,
): Promise<{ readonly text: string; readonly closed: boolean }> {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  let text = "";
  let closed = false;
  const reading = (async () => {
    const decoder = new TextDecoder();
    const buffer = new Uint8Array(1 << 16);
    try {
      for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
        text += decoder.decode(buffer.subarray(0, count), { stream: true });
      }
    } catch {
      // The other side has reset the connection: closed all the same.
    }
    closed = true;
  })();
  try {
    for (const chunk of chunks) {
      if (typeof chunk === "number") await pause(chunk);
      else await writeAll(connection, typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
    }
  } catch {
    // Closed while it was written to; what was answered before that counts.
  }
  const late = delay(patience);
  await Promise.race([reading, late.passed]);
  late.cancel();
  const result = { text, closed };
  try {
    connection.close();
  } catch {
    // Closed already.
  }
  await reading;
  return result;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** Waits. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** The text of one JSON-RPC request. */
export function message(id: unknown, method: string, params?: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
}

/** The text of one tool call. */
export function callText(id: unknown, name: string, input: unknown = {}, meta?: Wire): string {
  return message(id, "tools/call", { name, arguments: input, ...(meta === undefined ? {} : { _meta: meta }) });
}
