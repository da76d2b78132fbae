/**
 * Streamable HTTP with sessions in front of a server on stdio, because the suite speaks only HTTP: each session is a
 * connection to a process of its own. Messages pass as they are.
 *
 * @module
 */

import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

/** A running bridge. */
export interface Bridge extends AsyncDisposable {
  readonly url: string;
}

/** Serves processes of a command; they end with the bridge. */
export function serveBridge(command: string, args: readonly string[]): Bridge {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const processes: StdioClientTransport[] = [];
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const process = new StdioClientTransport({ command, args: [...args], stderr: "ignore" });
    const http = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, http),
    });
    let asked: string | number | undefined;
    http.onmessage = (message) => {
      if ("method" in message && "id" in message) asked = message.id;
      void process.send(message);
    };
    process.onmessage = (message) => {
      // A request of the server travels on the stream of the call that it belongs to.
      const related = "method" in message && asked !== undefined ? { relatedRequestId: asked } : {};
      void http.send(message, related);
    };
    processes.push(process);
    await process.start();
    await http.start();
    return http;
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const id = request.headers.get("mcp-session-id");
    const session = id === null ? await open() : sessions.get(id);
    return await session?.handleRequest(request) ?? new Response(null, { status: 404 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}/mcp`,
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      await Promise.all(processes.map((process) => process.close()));
      await server.shutdown();
    },
  };
}
