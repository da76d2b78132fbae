/**
 * The SDK's server behind the product's HTTP: everything that the protocol has, with sessions for the older era, which the
 * product has no use for. What is around it (listener, checks, reading, limits, streams) is the product's.
 *
 * @module
 */

import {
  createMcpHandler,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isJsonObject, member } from "@/canonical/json.ts";
import type { AuthenticatedRequest } from "@/server/http/authenticated_request.ts";
import type { McpEndpointOptions } from "@/server/http/mcp_endpoint.ts";
import type { HttpReply, StreamSink } from "@/server/http/reply.ts";

/** What the methods of the endpoint do. */
export interface FixtureEndpoint {
  readonly answer: NonNullable<McpEndpointOptions["answer"]>;
  /** GET and DELETE: the stream and the end of a session. */
  readonly bare: (incoming: AuthenticatedRequest) => Promise<HttpReply>;
}

/** Header fields that the SDK checks. */
const JUDGED_FIELDS = ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id", "last-event-id"];

/** Unread bytes from which on a stream is dropped. */
const BEHIND_BYTES = 1 << 20;

/** Tells subscribers of the modern era what has changed. */
export type Notifier = ReturnType<typeof createMcpHandler>["notify"];

/** Makes the endpoint over a factory of servers. */
export function createFixtureEndpoint(
  makeServer: (era: "modern" | "legacy", notify: Notifier) => McpServer,
): FixtureEndpoint {
  const modern = createMcpHandler(() => makeServer("modern", modern.notify), { legacy: "reject" });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  const openSession = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await makeServer("legacy", modern.notify).connect(transport);
    return transport;
  };

  return {
    bare: async (incoming) => {
      const transport = sessions.get(incoming.request.headers.get("mcp-session-id") ?? "");
      if (transport === undefined) return { status: 404, fields: {}, body: null };
      return await passOn(await transport.handleRequest(sdkRequest(incoming)));
    },
    answer: async (_options, incoming, { raw }) => {
      const { headers } = incoming.request;
      const params = member(raw, "params");
      const meta = isJsonObject(params) ? member(params, "_meta") : undefined;
      const claims = isJsonObject(meta) && Object.hasOwn(meta, "io.modelcontextprotocol/protocolVersion");
      if (claims || headers.get("mcp-protocol-version") === "2026-07-28") {
        return await passOn(await modern.fetch(sdkRequest(incoming), { parsedBody: raw }));
      }
      const id = headers.get("mcp-session-id");
      const transport = id === null ? await openSession() : sessions.get(id);
      if (transport === undefined) return { status: 404, fields: {}, body: null };
      return await passOn(await transport.handleRequest(sdkRequest(incoming), { parsedBody: raw }));
    },
  };
}

async function passOn(response: Response): Promise<HttpReply> {
  const session = response.headers.get("mcp-session-id");
  const fields: Record<string, string> = session === null ? {} : { "mcp-session-id": session };
  if (isStream(response)) {
    const reply = streamReply(response);
    return { ...reply, fields: { ...reply.fields, ...fields } };
  }
  const text = await response.text();
  if (text === "") return { status: response.status, fields, body: null };
  return { status: response.status, fields: { ...fields, "content-type": "application/json" }, body: text };
}

/** The request for the SDK, without its body. It accepts both media types, as the SDK requires of clients. */
function sdkRequest({ request: { headers, method, signal } }: AuthenticatedRequest): Request {
  const fields = new Headers({ "content-type": "application/json", accept: "application/json, text/event-stream" });
  for (const name of JUDGED_FIELDS) {
    const value = headers.get(name);
    if (value !== null) fields.set(name, value);
  }
  return new Request("http://localhost/mcp", { method, headers: fields, signal });
}

/** Whether a response of the SDK is a stream. */
function isStream(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** Forwards a stream; drops a reader that falls behind. */
function streamReply(response: Response): HttpReply {
  const fields = {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  };
  return { status: response.status, fields, body: null, stream: (sink) => void pump(response, sink) };
}

async function pump(response: Response, sink: StreamSink): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const stop = (): void => void reader?.cancel().catch(() => undefined);
  sink.gone.addEventListener("abort", stop);
  try {
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      sink.write(next.value);
      if (sink.waiting() > BEHIND_BYTES) break;
    }
  } catch {
    // The SDK ended the stream.
  }
  stop();
  sink.end();
}
