/**
 * The SDK's lane of the fixture server: everything that the protocol has, with sessions for the older era, which the
 * product has no use for. What is around it (listener, checks, reading, limits) is the product's.
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
import type { HttpReply } from "@/server/http/reply.ts";
import { isStream, type SdkHttpLane, sdkRequest, streamReply } from "@/server/http/sdk_http_lane.ts";

/** The lane, and what the other methods of the endpoint do. */
export interface FixtureLane extends SdkHttpLane {
  /** GET and DELETE: the stream and the end of a session. */
  readonly bare: (incoming: AuthenticatedRequest) => Promise<HttpReply>;
}

/** Tells subscribers of the modern era what has changed. */
export type Notifier = ReturnType<typeof createMcpHandler>["notify"];

/** Makes the lane over a factory of servers. */
export function createFixtureLane(makeServer: (era: "modern" | "legacy", notify: Notifier) => McpServer): FixtureLane {
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
    close: () => modern.close(),
    bare: async (incoming) => {
      const transport = sessions.get(incoming.request.headers.get("mcp-session-id") ?? "");
      if (transport === undefined) return { status: 404, fields: {}, body: null };
      return await passOn(await transport.handleRequest(sdkRequest(incoming)));
    },
    answer: async ({ incoming, raw }) => {
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
