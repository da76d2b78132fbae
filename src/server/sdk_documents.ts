/**
 * Resources, prompts and completion behind the SDK, for every transport and both eras.
 *
 * @module
 */

import type { Server } from "@modelcontextprotocol/server";
import type { Doc } from "../docs/types.ts";
import type { CallOutcome } from "./dispatcher.ts";
import type { EdgeError, RequestId } from "./edge_error.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { Offer } from "./offer.ts";
import { asCompletion, completeArgument } from "./prompt_completion.ts";
import { listPrompts, writePrompt } from "./prompts.ts";
import {
  completePage,
  listResources,
  listTemplates,
  PAGE_VARIABLE,
  readResource,
  unknownResource,
} from "./resources.ts";

/** What the handlers need. */
export interface DocumentHandlers {
  readonly offer: Offer;
  /** Calls a tool in the name of whoever sent a request that was delivered to the SDK. */
  readonly askTool: (id: RequestId, name: string, input: JsonObject) => Promise<CallOutcome>;
  /** Makes what is thrown for a failure. */
  readonly failure: (error: EdgeError, id: RequestId) => Error;
}

/** Adds what a server offers besides tools. */
export function addDocuments(server: Server, handlers: DocumentHandlers): void {
  const { offer } = handlers;
  if (offer.resources !== null) addResources(server, handlers, offer.resources);
  if (offer.prompts) addPrompts(server, handlers);
}

function addResources(
  server: Server,
  { failure }: DocumentHandlers,
  resources: NonNullable<Offer["resources"]>,
): void {
  const load = async (): Promise<readonly Doc[]> => (await resources.load()).docs;
  server.setRequestHandler("resources/list", async (request, { mcpReq }) => {
    if (request.params?.cursor !== undefined) throw failure(unknownCursor("resources/list"), mcpReq.id);
    return { resources: listResources(await load()) };
  });
  server.setRequestHandler("resources/templates/list", async (request, { mcpReq }) => {
    if (request.params?.cursor !== undefined) throw failure(unknownCursor("resources/templates/list"), mcpReq.id);
    return { resourceTemplates: listTemplates(await load()) };
  });
  server.setRequestHandler("resources/read", async (request, { mcpReq }) => {
    const { uri } = request.params;
    const found = readResource(await load(), uri);
    if (found === null) throw failure(unknownResource(uri), mcpReq.id);
    return { contents: [{ ...found }] };
  });
}

function addPrompts(server: Server, { offer, askTool, failure }: DocumentHandlers): void {
  server.setRequestHandler("prompts/list", (request, { mcpReq }) => {
    if (request.params?.cursor !== undefined) throw failure(unknownCursor("prompts/list"), mcpReq.id);
    return { prompts: listPrompts().map((prompt) => ({ ...prompt, arguments: [...prompt.arguments] })) };
  });
  server.setRequestHandler("prompts/get", (request, { mcpReq }) => {
    const { name, arguments: given } = request.params;
    const written = writePrompt(name, new Map(Object.entries(given ?? {})));
    if (!written.ok) throw failure(written.error, mcpReq.id);
    const { description, text } = written;
    return { description, messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
  });
  server.setRequestHandler("completion/complete", async (request, { mcpReq }) => {
    const { ref, argument, context } = request.params;
    if (ref.type === "ref/resource") {
      const docs = offer.resources === null ? [] : (await offer.resources.load()).docs;
      const names = argument.name === PAGE_VARIABLE ? completePage(docs, ref.uri, argument.value) : [];
      return { completion: { ...asCompletion(names, true) } };
    }
    const given = new Map(Object.entries(context?.arguments ?? {}));
    const question = { prompt: ref.name, argument: argument.name, begun: argument.value, given };
    const completion = await completeArgument(question, (name, input) => askTool(mcpReq.id, name, input));
    return { completion: { ...completion } };
  });
}

function unknownCursor(method: string): EdgeError {
  return { kind: "invalid_params", message: `Unknown cursor: ${method} has one page`, path: "$.params.cursor" };
}
