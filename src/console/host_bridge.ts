/// <reference lib="dom" />
/**
 * Talks to the host of an MCP App over `postMessage` (extension `io.modelcontextprotocol/ui`, 2026-01-26): the part of
 * the protocol that the run view needs.
 *
 * @module
 */

import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";

const VERSION = "2026-01-26";

/** Longest time that a host may take to answer a request, in milliseconds. */
const PATIENCE = 60_000;

/** The messages of a host to the view. */
export interface HostEvents {
  /** The arguments of the tool call that the view belongs to. */
  readonly input: (input: JsonObject) => void;
  /** The structured result of that call. */
  readonly result: (result: JsonObject) => void;
  /** What the host shows around the view, such as its theme. */
  readonly context: (context: JsonObject) => void;
}

/** The host, once it has answered. */
export interface Host {
  /** Whether the view may call tools of the server. */
  readonly callsTools: boolean;
  /** Calls a tool of the server through the host. Rejects where the host or the tool refuses. */
  readonly callTool: (name: string, input: JsonObject) => Promise<JsonObject>;
}

function objectOf(value: JsonValue | undefined, name: string): JsonObject {
  const found = isJsonObject(value) ? member(value, name) : undefined;
  return isJsonObject(found) ? found : {};
}

/** Connects to the host of this frame. */
export async function connectHost(events: HostEvents): Promise<Host> {
  const open = new Map<number, (answer: JsonObject) => void>();
  let last = 0;
  const send = (message: JsonObject): void => globalThis.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const id = ++last;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const timer = setTimeout(() => reject(new Error("The host does not answer")), PATIENCE);
    open.set(id, resolve);
    send({ id, method, params });
    try {
      const answer = await promise;
      const error = member(answer, "error");
      if (error !== undefined) throw new Error(String(member(objectOf(answer, "error"), "message") ?? "refused"));
      return objectOf(answer, "result");
    } finally {
      clearTimeout(timer);
      open.delete(id);
    }
  };
  addEventListener("message", (event: MessageEvent<JsonValue>) => {
    // Another frame can post to this one too.
    if (event.source !== globalThis.parent || !isJsonObject(event.data)) return;
    const { data } = event;
    const [id, method] = [member(data, "id"), member(data, "method")];
    if (typeof method !== "string") {
      if (typeof id === "number") open.get(id)?.(data);
      return;
    }
    if (id !== undefined) return send({ id, ...answerTo(method) });
    notify(events, method, objectOf(data, "params"));
  });
  const appInfo = { name: "gate-run", version: "1" };
  const started = await request("ui/initialize", { appInfo, appCapabilities: {}, protocolVersion: VERSION });
  events.context(objectOf(started, "hostContext"));
  send({ method: "ui/notifications/initialized", params: {} });
  watchSize((size) => send({ method: "ui/notifications/size-changed", params: size }));
  return {
    callsTools: member(objectOf(started, "hostCapabilities"), "serverTools") !== undefined,
    callTool: async (name, input) => {
      const result = await request("tools/call", { name, arguments: input });
      const structured = objectOf(result, "structuredContent");
      if (member(result, "isError") !== true) return structured;
      throw new Error(String(member(objectOf(structured, "error"), "message") ?? "The tool refused"));
    },
  };
}

/** The answer to a request of the host: the view has nothing to end. */
function answerTo(method: string): JsonObject {
  if (method === "ping" || method === "ui/resource-teardown") return { result: {} };
  return { error: { code: -32601, message: "Method not found" } };
}

function notify(events: HostEvents, method: string, params: JsonObject): void {
  switch (method) {
    case "ui/notifications/tool-input":
      return events.input(objectOf(params, "arguments"));
    case "ui/notifications/tool-result":
      return events.result(objectOf(params, "structuredContent"));
    case "ui/notifications/host-context-changed":
      return events.context(params);
  }
}

/** Reports the size of the document, and each change of it. */
function watchSize(report: (size: { readonly width: number; readonly height: number }) => void): void {
  const root = document.documentElement;
  new ResizeObserver(() => {
    report({ width: Math.ceil(root.scrollWidth), height: Math.ceil(root.getBoundingClientRect().height) });
  }).observe(root);
}
