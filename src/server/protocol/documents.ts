/** Answers requests for resources, prompts and completions. Loaded with the first of them. */

import type { JsonObject } from "../../canonical/json.ts";
import type { Doc } from "../../docs/types.ts";
import type { Call } from "../../tools/framework/types.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { APP_TYPE, type Rounds, RUN_APP } from "./offer.ts";
import { type DocumentRequest, type ListMethod, type PromptRequest, unknownCursor } from "./plan.ts";
import { asCompletion, type Ask, completeArgument, type Completion } from "./prompt_completion.ts";
import type { WritePrompt } from "./prompt_questions.ts";
import { listPrompts, sourcesOf, writePrompt } from "./prompts.ts";
import type { Reader, ReadOutcome } from "./read_request.ts";
import type { DocumentAnswer, QuestionAnswer } from "./result_types.ts";
import {
  completePage,
  listResources,
  listTemplates,
  PAGE_VARIABLE,
  readResource,
  type ResourceText,
  resourceUris,
  unknownResource,
} from "./resources.ts";
import { PACK_TEMPLATES, readPackResource } from "./pack_resource.ts";
import { readRunResource, RUN_TEMPLATE, type RunReading } from "./run_resource.ts";
import {
  completeTool,
  listSchemaResources,
  readSchemaResource,
  SCHEMA_TEMPLATE,
  schemaUris,
  TOOL_VARIABLE,
} from "./schema_resources.ts";

/** Reads for the caller of a request; never rejects. */
export async function readDocument(
  dispatcher: Dispatcher,
  request: DocumentRequest,
  call: Call,
): Promise<ReadOutcome<DocumentAnswer | QuestionAnswer>> {
  return await dispatcher.read<DocumentAnswer | QuestionAnswer>({
    method: request.method,
    names: documentNames(request),
    read: async ({ namespaces, scenarioOf, pack }) => {
      const tool: Ask["tool"] = (name, input) => dispatcher.call(name, input, call);
      switch (request.method) {
        case "resources/read":
          return await readOne(dispatcher, request.uri, { tool, scenarioOf, pack });
        case "prompts/get": {
          const write: WritePrompt = (given) => writePrompt(request.name, given, promptOffer(dispatcher));
          return await promptAnswer(request, write, dispatcher.offer.rounds, call);
        }
        case "completion/complete": {
          return { ok: true, found: { completion: { ...await complete(dispatcher, request, { tool, namespaces }) } } };
        }
        default:
          if (request.cursor !== null) return { ok: false, error: unknownCursor(request.method) };
          return { ok: true, found: await listOf(dispatcher, request.method) };
      }
    },
  }, call);
}

/** The names in a request, for the audit log. */
function documentNames(request: DocumentRequest): JsonObject {
  switch (request.method) {
    case "resources/read":
      return { uri: request.uri };
    case "prompts/get":
      return { prompt: request.name };
    case "completion/complete":
      return request.ref.type === "ref/resource" ? { uri: request.ref.name } : { prompt: request.ref.name };
    default:
      return {};
  }
}

async function listOf(dispatcher: Dispatcher, method: ListMethod): Promise<DocumentAnswer> {
  switch (method) {
    case "resources/list":
      return { resources: [...listResources(await docsOf(dispatcher)), ...listSchemaResources()] };
    case "resources/templates/list":
      return {
        resourceTemplates: [
          ...listTemplates(await docsOf(dispatcher)),
          SCHEMA_TEMPLATE,
          RUN_TEMPLATE,
          ...PACK_TEMPLATES,
        ],
      };
    case "prompts/list":
      return { prompts: listPrompts(promptOffer(dispatcher)) };
  }
}

/** A prompt, or the question for its missing arguments. */
async function promptAnswer(
  request: PromptRequest,
  write: WritePrompt,
  rounds: Rounds | undefined,
  { principal }: Call,
): Promise<ReadOutcome<DocumentAnswer | QuestionAnswer>> {
  let written = write(request.given);
  if (!written.ok && written.missing !== undefined && request.params !== null && rounds !== undefined) {
    const { askArguments } = await import("./prompt_questions.ts");
    const { missing, error } = written;
    const asked = await askArguments({ ...request, params: request.params, missing, error }, write, rounds, principal);
    if ("inputRequests" in asked) return { ok: true, found: asked };
    written = asked;
  }
  if (!written.ok) return { ok: false, error: written.error };
  const { description, text } = written;
  return { ok: true, found: { description, messages: [{ role: "user", content: { type: "text", text } }] } };
}

async function docsOf({ offer }: Dispatcher): Promise<readonly Doc[]> {
  return offer.resources === null ? [] : (await offer.resources.load()).docs;
}

function promptOffer({ offer }: Dispatcher): Parameters<typeof writePrompt>[2] {
  const { isOffered, morePrompts: more = [] } = offer;
  return { sources: sourcesOf(offer), isOffered, more };
}

async function readOne(
  dispatcher: Dispatcher,
  uri: string,
  reading: RunReading & Pick<Reader, "pack">,
): Promise<ReadOutcome<DocumentAnswer>> {
  const { runApp } = dispatcher.offer;
  if (uri === RUN_APP && runApp !== undefined) return { ok: true, found: { contents: [appContents(await runApp())] } };
  const docs = await docsOf(dispatcher);
  const doc = readResource(docs, uri);
  if (doc !== null) return { ok: true, found: { contents: [doc] } };
  const tools = await dispatcher.listing();
  const found = await readSchemaResource(uri, tools) ?? await readRunResource(uri, reading) ??
    await readPackResource(uri, reading.pack);
  if (found !== null) return { ok: true, found: { contents: [found] } };
  return { ok: false, error: unknownResource(uri, [...resourceUris(docs), ...schemaUris(tools)]) };
}

/** The view of a run. It loads nothing and connects to nothing but its host. */
function appContents(text: string): ResourceText & { readonly _meta: JsonObject } {
  return { uri: RUN_APP, mimeType: APP_TYPE, text, _meta: { ui: { csp: {}, prefersBorder: true } } };
}

/** Completes a variable of a resource template, or an argument of a prompt. */
async function complete(
  dispatcher: Dispatcher,
  { ref, argument, given }: Extract<DocumentRequest, { readonly method: "completion/complete" }>,
  ask: Ask,
): Promise<Completion> {
  if (ref.type === "ref/prompt") {
    return await completeArgument({ prompt: ref.name, argument: argument.name, begun: argument.value, given }, ask);
  }
  if (dispatcher.offer.resources === null) return asCompletion([], true);
  if (argument.name === TOOL_VARIABLE) {
    return asCompletion(completeTool(await dispatcher.listing(), ref.name, argument.value), true);
  }
  if (argument.name !== PAGE_VARIABLE) return asCompletion([], true);
  return asCompletion(completePage(await docsOf(dispatcher), ref.name, argument.value), true);
}
