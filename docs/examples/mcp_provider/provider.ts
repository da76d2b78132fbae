/**
 * A provider of evidence over MCP: it answers the tool `evidence_query` from a list of tickets. Replace `TICKETS` with a
 * call to your tracker.
 *
 * Run by gate, over standard input and output: `deno run --no-prompt --allow-read=tickets.json provider.ts`.
 *
 * @module
 */

import { fromJsonSchema, McpServer } from "npm:@modelcontextprotocol/server@2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@2.4.0/stdio";

/** A ticket as the tracker exports it. */
interface Ticket {
  readonly id: string;
  readonly project: string;
  readonly status: "open" | "closed";
}

const TICKETS = JSON.parse(Deno.readTextFileSync(new URL("./tickets.json", import.meta.url))) as readonly Ticket[];

/** The arguments of `evidence_query`. This provider does not need `context`, which names the run. */
interface Arguments {
  readonly query: { readonly check_id: string; readonly params?: unknown };
}

/** The reply to gate: a value, null where nothing was found, or an error that gate records. */
type Reply =
  | { value: { kind: "json"; value: unknown } | null; content_type: string; evidence_ref: { uri: string } }
  | { error: { code: string; message: string } };

function found(value: unknown, uri: string): Reply {
  // Null is "asked, and there is none"; a JSON null would be a value.
  return {
    value: value === null ? null : { kind: "json", value },
    content_type: "application/json",
    evidence_ref: { uri },
  };
}

function failed(code: string, message: string): Reply {
  return { error: { code, message } };
}

function textMember(params: unknown, name: string): string | null {
  const value = typeof params === "object" && params !== null ? (params as Record<string, unknown>)[name] : undefined;
  return typeof value === "string" ? value : null;
}

/** Answers one query. */
function answer({ check_id, params }: Arguments["query"]): Reply {
  switch (check_id) {
    case "open_count": {
      const project = textMember(params, "project");
      if (project === null) return failed("params_invalid", "A project is needed");
      const open = TICKETS.filter((ticket) => ticket.project === project && ticket.status === "open");
      return found(open.length, `tickets:${project}`);
    }
    case "status": {
      const id = textMember(params, "ticket");
      if (id === null) return failed("params_invalid", "A ticket is needed");
      return found(TICKETS.find((ticket) => ticket.id === id)?.status ?? null, `tickets:${id}`);
    }
    default:
      return failed("unsupported_check", "No such check");
  }
}

function createServer(): McpServer {
  const server = new McpServer({ name: "tickets", version: "1.0.0" });
  server.registerTool("evidence_query", {
    description: "Answers checks on tickets",
    inputSchema: fromJsonSchema<Arguments>({
      type: "object",
      properties: { query: { type: "object" }, context: { type: "object" } },
      required: ["query", "context"],
    }),
  }, ({ query }) => {
    const reply = answer(query);
    return { content: [{ type: "text", text: JSON.stringify(reply) }], structuredContent: { ...reply } };
  });
  return server;
}

serveStdio(createServer);
