/**
 * Connects the tools of this server to the official SDK, for every transport.
 *
 * @module
 */

import type { CallToolResult, ListToolsResult, Server } from "@modelcontextprotocol/server";
import type { ToolAnswer } from "../../tools/framework/types.ts";
import { answerText, listedTool } from "./result_json.ts";
import { type EdgeError, jsonRpcError, type RequestId } from "../process/edge_error.ts";
import { LIST_CACHE, SERVER_INFO } from "./identity.ts";
import { addDocuments } from "./sdk_documents.ts";
import type { SdkServerOptions } from "./sdk_server_options.ts";

/** The SDK. It is loaded only when it is needed. */
type Sdk = typeof import("@modelcontextprotocol/server");

/** Makes one server of the SDK, for a connection or, over HTTP, for one request. */
export function makeSdkServer(sdk: Sdk, options: SdkServerOptions): Server {
  const server = new sdk.Server({ ...SERVER_INFO }, {
    capabilities: options.offer.capabilities,
    instructions: options.offer.instructions,
    cacheHints: Object.fromEntries(CACHED_METHODS.map((method) => [method, LIST_CACHE])),
  });
  server.setRequestHandler("tools/list", async (request, context) => {
    if (request.params?.cursor !== undefined) throw new EdgeFailure(UNKNOWN_CURSOR, context.mcpReq.id);
    return { tools: (await options.listTools()).map(listedTool) as unknown as ListToolsResult["tools"] };
  });
  server.setRequestHandler("tools/call", async (_request, context) => {
    const outcome = await options.callTool(context.mcpReq.id);
    if (!outcome.ok) throw new EdgeFailure(outcome.error, context.mcpReq.id);
    return sdkResult(outcome.answer);
  });
  addDocuments(server, { ...options, failure: (error, id) => new EdgeFailure(error, id) });
  return server;
}

/** Methods whose answers do not change while the process lives. */
const CACHED_METHODS = [
  "tools/list",
  "server/discover",
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
] as const;

/** A tool's answer in the form of the SDK, equal to the text of `callResult`. */
function sdkResult(answer: ToolAnswer): CallToolResult {
  return {
    content: [{ type: "text", text: answerText(answer) }],
    structuredContent: (answer.ok ? answer.result : { error: answer.error }) as Record<string, unknown>,
    ...(answer.ok ? {} : { isError: true }),
  };
}

const UNKNOWN_CURSOR: EdgeError = {
  kind: "invalid_params",
  message: "Unknown cursor: tools/list has one page",
  path: "$.params.cursor",
};

/** An edge failure that the SDK converts to a JSON-RPC error. */
class EdgeFailure extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(error: EdgeError, id: RequestId) {
    super(error.message);
    const { code, data } = jsonRpcError(error, id);
    this.code = code;
    this.data = data;
  }
}
