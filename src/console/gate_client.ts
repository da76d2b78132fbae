import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { encodeBase64 } from "../canonical/base64.ts";
import { parseJson } from "../canonical/scan.ts";

/** The first and the longest delay, in milliseconds. */
const BACKOFF = { first: 1_000, longest: 60_000 } as const;

/**
 * The delay before the next attempt, in milliseconds: twice as long after each failure, up to a minute. It is shortened
 * by up to a half, so that many pages do not reconnect at one time.
 *
 * @param failures Failures in a row before the last one, from 0
 * @param chance From 0 up to 1
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { reconnectDelay } from "@/console/gate_client.ts";
 *
 * assert.deepEqual([0, 1, 100].map((failures) => reconnectDelay(failures, 0)), [500, 1000, 30_000]);
 * ```
 */
export function reconnectDelay(failures: number, chance: number): number {
  return Math.min(BACKOFF.first * 2 ** failures, BACKOFF.longest) * (0.5 + chance / 2);
}

/// <reference lib="dom" />
/**
 * Calls the tools of the gate that served the page, and listens to changes of runs. Requests go to `/mcp` of this
 * origin.
 *
 * @module
 */

const VERSION = "2026-07-28";
const P = "io.modelcontextprotocol/";
const ENVELOPE = {
  [`${P}protocolVersion`]: VERSION,
  [`${P}clientInfo`]: { name: "gate-console", version: "1" },
  [`${P}clientCapabilities`]: {},
};

/** A call that failed, or that gate refused. */
export class CallError extends Error {
  /** The code of the error, such as `role_refused`. */
  readonly code: string;
  /** Milliseconds until the call may be repeated; null where a repetition is of no use. */
  readonly retryAfter: number | null;

  /** Creates the error. */
  constructor(code: string, message: string, retryAfter: number | null = null) {
    super(message);
    this.code = code;
    this.retryAfter = retryAfter;
  }
}

/** The token that a person typed in. It lives in this variable alone: a reload forgets it. */
let bearer: string | null = null;

/** Uses a bearer token for further calls; null for none. */
export function useBearer(token: string | null): void {
  bearer = token;
}

/** Where the session of a link is kept: in the storage of this port alone. A cookie would go to every port of the machine. */
const SESSION = "gate-console-session";

function storedSession(): string | null {
  try {
    return localStorage.getItem(SESSION);
  } catch {
    return null;
  }
}

/** Stores a session; null removes it. Returns false in a browser that stores nothing. */
function storeSession(session: string | null): boolean {
  try {
    if (session === null) localStorage.removeItem(SESSION);
    else localStorage.setItem(SESSION, session);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes the secret of a link a session of this browser. A session that the server knows already stays.
 *
 * @throws {CallError} Where the server refuses the link, such as one that another browser opened
 */
export async function openLink(secret: string): Promise<void> {
  bearer = null;
  const before = storedSession();
  const isOpen = before !== null && await listNamespaces().then(() => true, () => false);
  if (isOpen) return;
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const session = encodeBase64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  // Stored before it is sent: the server may take the link while its answer is lost, and takes it from no other
  // session.
  const isStored = storeSession(session);
  bearer = `${secret}.${session}`;
  try {
    await listNamespaces();
  } catch (error) {
    const isRefused = error instanceof CallError && error.code === "link_needed";
    if (isRefused && storedSession() === session) storeSession(before);
    throw error;
  } finally {
    // A browser that stores nothing forgets the session with the page.
    bearer = isStored ? null : session;
  }
}

let lastId = 0;

function post(method: string, params: JsonObject, name: string | null, signal?: AbortSignal): Promise<Response> {
  const token = bearer ?? storedSession();
  const body = JSON.stringify({ jsonrpc: "2.0", id: ++lastId, method, params: { ...params, _meta: ENVELOPE } });
  return fetch("/mcp", {
    method: "POST",
    body,
    credentials: "same-origin",
    redirect: "error",
    cache: "no-store",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-method": method,
      ...name === null ? {} : { "mcp-name": name },
      ...token === null ? {} : { authorization: `Bearer ${token}` },
    },
    ...signal === undefined ? {} : { signal },
  });
}

function objectIn(value: JsonValue | undefined, name: string): JsonObject | null {
  const found = isJsonObject(value) ? member(value, name) : undefined;
  return isJsonObject(found) ? found : null;
}

function errorOf(error: JsonObject, code: string): CallError {
  const data = objectIn(error, "data") ?? {};
  const after = member(data, "retry_after_ms");
  const pause = typeof after === "number" ? after : PAUSES.first;
  return new CallError(
    String(member(error, "code") ?? code),
    String(member(error, "message") ?? "unknown error"),
    member(data, "retryable") === true ? pause : null,
  );
}

/** Milliseconds between repetitions of a call, where the server names none, and the longest that it may name. */
const PAUSES = { first: 500, longest: 60_000 } as const;
/** How often a call is repeated at most. */
const REPETITIONS = 100;

/** Repeats a call while the server is at a limit of calls. */
export async function patiently<Result>(call: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (let repetition = 0;; repetition++) {
    try {
      return await call();
    } catch (error) {
      const after = error instanceof CallError ? error.retryAfter : null;
      if (after === null || repetition === REPETITIONS || signal.aborted) throw error;
      await pause(Math.min(after, PAUSES.longest), signal);
    }
  }
}

function refusedCredential({ headers }: Response): CallError {
  const isLink = headers.get("www-authenticate")?.includes('"gate console"') === true;
  return isLink
    ? new CallError(
      "link_needed",
      "Open the address that gate console printed. It works once: for another browser, run gate console once more",
    )
    : new CallError("unauthenticated", "The server asks for a credential");
}

/** Sends a request and reads its result. */
async function request(method: string, params: JsonObject, name: string | null): Promise<JsonObject> {
  const response = await post(method, params, name).catch(() => {
    throw new CallError("unreachable", "The server does not answer");
  });
  if (response.status === 401) throw refusedCredential(response);
  const parsed = parseJson(await response.text());
  if (!parsed.ok) throw new CallError("unreadable", `The server answers with status ${response.status} and no JSON`);
  const error = objectIn(parsed.value, "error");
  if (error !== null) throw errorOf(error, "request_refused");
  const result = objectIn(parsed.value, "result");
  if (result === null) throw new CallError("unreadable", "The server answers without a result");
  return result;
}

/**
 * Calls a tool.
 *
 * @throws {CallError} Where the tool or the server answers with an error
 */
export async function callTool(name: string, input: JsonObject): Promise<JsonObject> {
  const result = await request("tools/call", { name, arguments: input }, name);
  const answer = objectIn(result, "structuredContent") ?? {};
  const error = objectIn(answer, "error");
  if (error !== null) throw errorOf(error, "tool_refused");
  return answer;
}

/** The namespaces that the caller may read. */
export async function listNamespaces(): Promise<readonly number[]> {
  const ref = { type: "ref/prompt", name: "drive_run" };
  const result = await request("completion/complete", { ref, argument: { name: "namespace_id", value: "" } }, null);
  const values = member(objectIn(result, "completion") ?? {}, "values") ?? null;
  return isJsonArray(values) ? values.map(Number) : [];
}

/** The state of a stream: `unsupported` where the server announces no changes. */
export type StreamState = "live" | "reconnecting" | "unsupported";

/** What a listener is called with. */
export interface StreamEvents {
  readonly changed: (uri: string) => void;
  readonly state: (state: StreamState) => void;
}

/** The resource of a run. */
export function runUri(namespaceId: number, runId: string): string {
  return `gate://runs/${namespaceId}/${runId}`;
}

/** Listens to changes of resources until the signal is aborted; one stream, which is opened again after it ended. */
export async function listen(uris: readonly string[], events: StreamEvents, signal: AbortSignal): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    const outcome = await follow(uris, events, signal).catch(() => "ended" as const);
    if (signal.aborted) return;
    if (outcome === "unsupported") return events.state("unsupported");
    if (outcome === "lived") failures = 0;
    events.state("reconnecting");
    await pause(reconnectDelay(failures++, Math.random()), signal);
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

async function follow(
  uris: readonly string[],
  events: StreamEvents,
  signal: AbortSignal,
): Promise<"unsupported" | "lived" | "ended"> {
  const notifications = { resourceSubscriptions: uris };
  const response = await post("subscriptions/listen", { notifications }, null, signal);
  if (response.body === null || !response.ok) return "ended";
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let lived = false;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const parts = (text + chunk.value).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const kind = dispatch(part, events);
      if (kind === "unsupported") return "unsupported";
      if (kind === "live") lived = true;
    }
  }
  return lived ? "lived" : "ended";
}

function dispatch(event: string, events: StreamEvents): "live" | "unsupported" | null {
  const data = event.split("\n").find((line) => line.startsWith("data: "))?.slice(6);
  const parsed = data === undefined ? null : parseJson(data);
  if (parsed === null || !parsed.ok || !isJsonObject(parsed.value)) return null;
  const params = objectIn(parsed.value, "params") ?? {};
  switch (member(parsed.value, "method")) {
    case "notifications/subscriptions/acknowledged": {
      const granted = member(objectIn(params, "notifications") ?? {}, "resourceSubscriptions");
      if (granted === undefined) return "unsupported";
      events.state("live");
      return "live";
    }
    case "notifications/resources/updated":
      events.changed(String(member(params, "uri")));
      return null;
    default:
      return null;
  }
}
