/**
 * Connects resources, prompts and completion to the SDK, for every transport and both eras.
 *
 * @module
 */

import type { CompleteRequestParams, Server } from "@modelcontextprotocol/server";
import type { Doc } from "../../docs/types.ts";
import type { ReadRequest } from "./read_request.ts";
import type { EdgeError, RequestId } from "../process/edge_error.ts";
import type { Offer } from "./offer.ts";
import { asCompletion, type Ask, completeArgument, type Completion } from "./prompt_completion.ts";
import { listPrompts, sourcesOf, writePrompt } from "./prompts.ts";
import {
  completePage,
  listResources,
  listTemplates,
  PAGE_VARIABLE,
  readResource,
  resourceUris,
  unknownResource,
} from "./resources.ts";
import {
  completeTool,
  listSchemaResources,
  readSchemaResource,
  SCHEMA_TEMPLATE,
  schemaUris,
  TOOL_VARIABLE,
} from "./schema_resources.ts";
import type { SdkServerOptions } from "./sdk_server_options.ts";

/** The options of the handlers. */
export interface DocumentHandlers extends Pick<SdkServerOptions, "offer" | "listTools" | "askTool" | "read"> {
  /** Makes the exception of an error. */
  readonly failure: (error: EdgeError, id: RequestId) => Error;
}

/** Adds the handlers of documents and prompts to a server. */
export function addDocuments(server: Server, handlers: DocumentHandlers): void {
  const { offer } = handlers;
  if (offer.resources !== null) addResources(server, handlers, offer.resources);
  if (offer.prompts) addPrompts(server, handlers);
}

/** Reads for the caller of a request. */
async function readFor<Found>(
  handlers: DocumentHandlers,
  id: RequestId,
  request: ReadRequest<Found>,
): Promise<Found> {
  const outcome = await handlers.read(id, request);
  if (!outcome.ok) throw handlers.failure(outcome.error, id);
  return outcome.found;
}

/** A list with one page. */
function listing<Found>(
  method: string,
  cursor: string | undefined,
  list: () => Promise<Found> | Found,
): ReadRequest<Found> {
  return {
    method,
    names: {},
    read: async () => {
      if (cursor === undefined) return { ok: true, found: await list() };
      const message = `Unknown cursor: ${method} has one page`;
      return { ok: false, error: { kind: "invalid_params", message, path: "$.params.cursor" } };
    },
  };
}

function addResources(
  server: Server,
  handlers: DocumentHandlers,
  resources: NonNullable<Offer["resources"]>,
): void {
  const load = async (): Promise<readonly Doc[]> => (await resources.load()).docs;
  server.setRequestHandler("resources/list", async ({ method, params }, { mcpReq }) => {
    const list = listing(method, params?.cursor, async () => [
      ...listResources(await load()),
      ...listSchemaResources(),
    ]);
    return { resources: await readFor(handlers, mcpReq.id, list) };
  });
  server.setRequestHandler("resources/templates/list", async ({ method, params }, { mcpReq }) => {
    const list = listing(method, params?.cursor, async () => [
      ...listTemplates(await load()),
      SCHEMA_TEMPLATE,
    ]);
    return { resourceTemplates: await readFor(handlers, mcpReq.id, list) };
  });
  server.setRequestHandler("resources/read", async ({ method, params: { uri } }, { mcpReq }) => {
    const found = await readFor(handlers, mcpReq.id, {
      method,
      names: { uri },
      read: async () => {
        const docs = await load();
        const doc = readResource(docs, uri);
        if (doc !== null) return { ok: true, found: doc };
        const tools = await handlers.listTools();
        const schema = await readSchemaResource(uri, tools);
        if (schema !== null) return { ok: true, found: schema };
        return { ok: false, error: unknownResource(uri, [...resourceUris(docs), ...schemaUris(tools)]) };
      },
    });
    return { contents: [{ ...found }] };
  });
}

function addPrompts(server: Server, handlers: DocumentHandlers): void {
  const offer = { sources: sourcesOf(handlers.offer), isOffered: handlers.offer.isOffered };
  server.setRequestHandler("prompts/list", async ({ method, params }, { mcpReq }) => {
    const prompts = await readFor(handlers, mcpReq.id, listing(method, params?.cursor, () => listPrompts(offer)));
    return { prompts: prompts.map((prompt) => ({ ...prompt, arguments: [...prompt.arguments] })) };
  });
  server.setRequestHandler("prompts/get", async ({ method, params }, { mcpReq }) => {
    const { name, arguments: given } = params;
    const { description, text } = await readFor(handlers, mcpReq.id, {
      method,
      names: { prompt: name },
      read: () => {
        const written = writePrompt(name, new Map(Object.entries(given ?? {})), offer);
        return written.ok ? { ok: true, found: written } : written;
      },
    });
    return { description, messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
  });
  server.setRequestHandler("completion/complete", async ({ method, params }, { mcpReq }) => {
    const { ref } = params;
    const completion = await readFor(handlers, mcpReq.id, {
      method,
      names: ref.type === "ref/resource" ? { uri: ref.uri } : { prompt: ref.name },
      read: async ({ namespaces }) => {
        const ask: Ask = { tool: (name, input) => handlers.askTool(mcpReq.id, name, input), namespaces };
        return { ok: true, found: await complete(handlers, params, ask) };
      },
    });
    return { completion: { ...completion } };
  });
}

/** Completes a variable of a resource template, or an argument of a prompt. */
async function complete(
  { offer, listTools }: DocumentHandlers,
  { ref, argument, context }: CompleteRequestParams,
  ask: Ask,
): Promise<Completion> {
  if (ref.type === "ref/resource") {
    if (offer.resources === null) return asCompletion([], true);
    if (argument.name === TOOL_VARIABLE) {
      return asCompletion(completeTool(await listTools(), ref.uri, argument.value), true);
    }
    if (argument.name !== PAGE_VARIABLE) return asCompletion([], true);
    return asCompletion(completePage((await offer.resources.load()).docs, ref.uri, argument.value), true);
  }
  const given = new Map(Object.entries(context?.arguments ?? {}));
  const question = { prompt: ref.name, argument: argument.name, begun: argument.value, given };
  return await completeArgument(question, ask);
}
