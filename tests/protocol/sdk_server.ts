/**
 * The server of the official SDK over the tools, documents and prompts of a dispatcher: the peer of gate's own protocol.
 *
 * @module
 */

import { type CallToolResult, type ListToolsResult, Server, type ServerOptions } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, member } from "@/canonical/json.ts";
import { type EdgeError, jsonRpcError, type RequestId } from "@/server/process/edge_error.ts";
import type { Dispatcher } from "@/server/protocol/dispatcher.ts";
import { readDocument } from "@/server/protocol/documents.ts";
import { LIST_CACHE, SERVER_INFO } from "@/server/protocol/identity.ts";
import type { DocumentRequest } from "@/server/protocol/plan.ts";
import type { Call, Tool } from "@/tools/framework/types.ts";

/** What a server of the SDK stands in front of. */
export interface SdkServerOptions {
  readonly dispatcher: Dispatcher;
  /** The caller of every request. */
  readonly call: Call;
  /** The message of a request in work, as it was sent. */
  readonly raw: (id: RequestId) => JsonObject;
}

/** Methods whose answers do not change while the process lives. */
const CACHED: NonNullable<ServerOptions["cacheHints"]> = {
  "tools/list": LIST_CACHE,
  "server/discover": LIST_CACHE,
  "resources/list": LIST_CACHE,
  "resources/templates/list": LIST_CACHE,
  "resources/read": LIST_CACHE,
  "prompts/list": LIST_CACHE,
};

/** Makes one server of the SDK, for a connection or, over HTTP, for one request. */
export function makeSdkServer({ dispatcher, call, raw }: SdkServerOptions): Server {
  const { offer } = dispatcher;
  const server = new Server({ ...SERVER_INFO }, {
    capabilities: offer.capabilities,
    instructions: offer.instructions,
    cacheHints: CACHED,
  });
  const read = async (id: RequestId, request: DocumentRequest): Promise<Record<string, unknown>> => {
    const outcome = await readDocument(dispatcher, request, call);
    if (!outcome.ok) throw new EdgeFailure(outcome.error, id);
    return { ...outcome.found };
  };
  server.setRequestHandler("tools/list", async ({ params }, { mcpReq }) => {
    if (params?.cursor !== undefined) throw new EdgeFailure(UNKNOWN_CURSOR, mcpReq.id);
    return { tools: (await dispatcher.listing()).map(listed) as unknown as ListToolsResult["tools"] };
  });
  server.setRequestHandler("tools/call", async ({ params: { name } }, { mcpReq }) => {
    // The arguments as they were sent: the SDK has copied them.
    const params = member(raw(mcpReq.id), "params");
    const input = isJsonObject(params) ? member(params, "arguments") : undefined;
    const outcome = await dispatcher.call(name, isJsonObject(input) ? input : {}, call);
    if (!outcome.ok) throw new EdgeFailure(outcome.error, mcpReq.id);
    const { answer } = outcome;
    const content = answer.ok ? answer.result : { error: answer.error };
    const text = answer.ok ? answer.text ?? JSON.stringify(content) : JSON.stringify(content);
    const result = { content: [{ type: "text", text }], structuredContent: content };
    return { ...result, ...answer.ok ? {} : { isError: true } } as unknown as CallToolResult;
  });
  for (const method of ["resources/list", "resources/templates/list", "prompts/list"] as const) {
    const isOffered = method === "prompts/list" ? offer.prompts : offer.resources !== null;
    if (!isOffered) continue;
    server.setRequestHandler(
      method,
      async ({ params }, { mcpReq }) => await read(mcpReq.id, { method, cursor: params?.cursor ?? null }) as never,
    );
  }
  if (offer.resources !== null) {
    server.setRequestHandler(
      "resources/read",
      async ({ params: { uri } }, { mcpReq }) => await read(mcpReq.id, { method: "resources/read", uri }) as never,
    );
  }
  if (!offer.prompts) return server;
  server.setRequestHandler(
    "prompts/get",
    async ({ params: { name, arguments: given } }, { mcpReq }) =>
      await read(mcpReq.id, {
        method: "prompts/get",
        name,
        given: new Map(Object.entries(given ?? {})),
        params: null,
      }) as never,
  );
  server.setRequestHandler(
    "completion/complete",
    async ({ params: { ref, argument, context } }, { mcpReq }) =>
      await read(mcpReq.id, {
        method: "completion/complete",
        ref: { type: ref.type, name: ref.type === "ref/resource" ? ref.uri : ref.name },
        argument,
        given: new Map(Object.entries(context?.arguments ?? {})),
      }) as never,
  );
  return server;
}

function listed({ name, title, description, inputSchema, outputSchema, hints }: Tool): Record<string, unknown> {
  return { name, title, description, inputSchema, outputSchema, annotations: { title, ...hints } };
}

const UNKNOWN_CURSOR: EdgeError = {
  kind: "invalid_params",
  message: "Unknown cursor: tools/list has one page",
  path: "$.params.cursor",
};

/** A failure that the SDK turns into a JSON-RPC error. */
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
