/** The tools of a server, over its connection. */

import { ProtocolError, type Tool } from "@modelcontextprotocol/client";
import { isJsonObject, type JsonObject, type JsonValue } from "../../canonical/json.ts";
import { didYouMean } from "../../law/suggest.ts";
import { CliError } from "../terminal/cli_error.ts";
import type { ServerSession } from "./connect.ts";

/** Lists all tools of a server, page by page. */
export async function listTools({ client, timeout }: ServerSession): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

/** Calls a tool; returns its structured result, or else its content and `isError`. */
export async function callTool(session: ServerSession, name: string, input: JsonObject): Promise<JsonObject> {
  const { client, timeout } = session;
  try {
    const answer = await client.callTool({ name, arguments: input as Record<string, unknown> }, { timeout });
    const structured = answer.structuredContent as JsonValue | undefined;
    if (isJsonObject(structured)) return structured;
    return { content: answer.content as JsonValue, ...answer.isError === true && { isError: true } };
  } catch (error) {
    if (error instanceof ProtocolError) await rejectUnknownTool(session, name);
    throw error;
  }
}

/** Throws an error with the nearest name if the server has no tool of that name. */
async function rejectUnknownTool(session: ServerSession, name: string): Promise<void> {
  const names = (await listTools(session).catch(() => [])).map((tool) => tool.name);
  if (names.length === 0 || names.includes(name)) return;
  const message = `Unknown tool "${name}"${didYouMean(name, names)}`;
  throw new CliError("usage", message, "gate client list lists the tools");
}
