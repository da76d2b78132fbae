/**
 * Two implementations of the protocol over one dispatcher, without transports: gate's own, and the SDK's server.
 *
 * @module
 */

import {
  createMcpHandler,
  isLegacyRequest,
  type JSONRPCMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { JsonObject } from "@/canonical/json.ts";
import { principalOf } from "@/access/principal.ts";
import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import { readFields } from "@/server/http/header_fields.ts";
import { answerMcp } from "@/server/http/mcp_endpoint.ts";
import { createLimits } from "@/server/process/limits.ts";
import type { RequestId } from "@/server/process/edge_error.ts";
import { callOf, type Dispatcher } from "@/server/protocol/dispatcher.ts";
import { openSession } from "@/server/protocol/session.ts";
import type { Call } from "@/tools/framework/types.ts";
import { makeSdkServer } from "./sdk_server.ts";

/** What came back: the HTTP status, or null on a connection, and the messages. */
export interface Reply {
  readonly status: number | null;
  readonly messages: readonly JsonObject[];
}

/** A connection: it answers one message after the other. */
export interface Connection {
  readonly send: (message: JsonObject) => Promise<Reply>;
  readonly close: () => Promise<void>;
}

/** Header fields, by lower-case name. */
export type Fields = Readonly<Record<string, string>>;

/** One implementation. */
export interface Implementation {
  readonly connect: () => Connection;
  /** Answers one POST without a session. */
  readonly post: (message: JsonObject, fields: Fields) => Promise<Reply>;
}

const PRINCIPAL = principalOf([], "test", "local");
const ORIGIN = {
  transport: "stdio",
  peer_address: null,
  correlation_id: null,
  server_correlation_id: "gate-test",
  traceparent: null,
} as const;
const CALL: Call = callOf({ principal: PRINCIPAL, signal: new AbortController().signal, origin: ORIGIN }, {});

/** The protocol of gate. */
export function gateImplementation(dispatcher: Dispatcher): Implementation {
  const limits = createLimits(DEFAULT_SETTINGS.server.limits);
  const log = (): void => undefined;
  return {
    connect: () => {
      let sent: JsonObject[] = [];
      const session = openSession({
        dispatcher,
        limits,
        log,
        principal: PRINCIPAL,
        origin: ORIGIN,
        send: (line) => sent.push(JSON.parse(line)),
      });
      return {
        send: async (message) => {
          sent = [];
          session.receive(JSON.stringify(message));
          await session.idle();
          return { status: null, messages: sent };
        },
        close: () => Promise.resolve(),
      };
    },
    post: async (message, fields) => {
      const text = JSON.stringify(message);
      const body = { ok: true, text, utf8: new TextEncoder().encode(text) } as const;
      const bodyAdmission = { read: () => Promise.resolve(body), bodies: () => 0 };
      const headers = readFields(Object.entries({ "content-type": "application/json", ...fields }).flat());
      const request = {
        method: "POST",
        path: "/mcp",
        query: "",
        headers,
        peerAddress: "127.0.0.1",
        connection: {},
        tls: null,
        signal: new AbortController().signal,
        readBody: () => Promise.resolve(body),
      };
      const incoming = { request, principal: PRINCIPAL, origin: ORIGIN };
      const reply = await answerMcp({ dispatcher, limits, bodyAdmission, log }, incoming);
      return { status: reply.status, messages: messagesOf(String(reply.body ?? "")) };
    },
  };
}

/** The messages of a body: JSON, or server-sent events. */
function messagesOf(body: string): JsonObject[] {
  if (body === "") return [];
  if (!body.startsWith("event: ")) return [JSON.parse(body)];
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data ?? ""));
}

/** The SDK's server. */
export function sdkImplementation(dispatcher: Dispatcher): Implementation {
  return { connect: () => connectSdk(dispatcher), post: (message, fields) => postToSdk(dispatcher, message, fields) };
}

function connectSdk(dispatcher: Dispatcher): Connection {
  const sent = new Map<RequestId, JsonObject>();
  let received: JsonObject[] = [];
  let done = (): void => undefined;
  const transport: Transport = {
    start: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send: (message) => {
      received.push(JSON.parse(JSON.stringify(message)));
      done();
      return Promise.resolve();
    },
  };
  const raw = (id: RequestId): JsonObject => sent.get(id) ?? {};
  const handle = serveStdio(() => makeSdkServer({ dispatcher, call: CALL, raw }), { transport });
  return {
    send: async (message) => {
      received = [];
      const { id } = message;
      const answered = Promise.withResolvers<void>();
      done = answered.resolve;
      if (typeof id === "string" || typeof id === "number") sent.set(id, message);
      transport.onmessage?.(JSON.parse(JSON.stringify(message)) as JSONRPCMessage);
      if (id !== undefined && message["method"] !== undefined) await answered.promise;
      else await new Promise((resolve) => setTimeout(resolve, 0));
      return { status: null, messages: received };
    },
    close: () => handle.close(),
  };
}

async function postToSdk(dispatcher: Dispatcher, message: JsonObject, fields: Fields): Promise<Reply> {
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...fields };
  const request = new Request("http://localhost/mcp", { method: "POST", headers });
  const make = (): ReturnType<typeof makeSdkServer> => makeSdkServer({ dispatcher, call: CALL, raw: () => message });
  const parsedBody = JSON.parse(JSON.stringify(message)) as unknown;
  if (!(await isLegacyRequest(request, parsedBody))) {
    const handler = createMcpHandler(make, { legacy: "reject" });
    const reply = await replyOf(await handler.fetch(request, { parsedBody }));
    await handler.close();
    return reply;
  }
  const server = make();
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const reply = await replyOf(await transport.handleRequest(request, { parsedBody }));
  await server.close();
  return reply;
}

async function replyOf(response: Response): Promise<Reply> {
  return { status: response.status, messages: messagesOf(await response.text()) };
}
