/** The JSON of the results in each era. */

import type { JsonObject } from "../../canonical/json.ts";
import type { Tool, ToolAnswer } from "../../tools/framework/types.ts";
import { answerText } from "../../tools/framework/errors.ts";
import type { RequestId } from "../process/edge_error.ts";
import { LEGACY_VERSIONS, LIST_CACHE, MODERN_VERSION, SERVER_INFO } from "./identity.ts";
import { type Offer, RUN_APP, RUN_APP_TOOLS } from "./offer.ts";
import type { DiscoverAnswer, DocumentAnswer, InitializeAnswer, QuestionAnswer } from "./result_types.ts";

/** The two shapes of results: of the revisions with `initialize`, and of 2026-07-28. */
export type AnswerEra = "legacy" | "modern";

/** The members that 2026-07-28 requires on each result. */
const MODERN_MEMBERS = { resultType: "complete", _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO } };

const MODERN_TAIL = `,${JSON.stringify(MODERN_MEMBERS).slice(1)}`;

/** The text of a JSON-RPC response with a result. */
export function resultResponse(id: RequestId, result: string): string {
  return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

/** The part of an offer in the first answer. */
type Offered = Pick<Offer, "capabilities" | "instructions">;

/** The result of `initialize` for the version that the client asked for. */
export function initializeResult(requested: string, { capabilities, instructions }: Offered): string {
  const protocolVersion = LEGACY_VERSIONS.includes(requested) ? requested : LEGACY_VERSIONS[0];
  return JSON.stringify(
    { protocolVersion, capabilities, serverInfo: SERVER_INFO, instructions } satisfies InitializeAnswer,
  );
}

/** The result of `server/discover`. */
export function discoverResult({ capabilities, instructions }: Offered): string {
  return JSON.stringify(
    {
      supportedVersions: [MODERN_VERSION],
      capabilities,
      instructions,
      ...LIST_CACHE,
      ...MODERN_MEMBERS,
    } satisfies DiscoverAnswer,
  );
}

/** A tool as `tools/list` shows it, to clients that show apps with its view. */
function listedTool(tool: Tool, showsApps: boolean): Readonly<Record<string, unknown>> {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: { title: tool.title, ...tool.hints },
    ...showsApps && RUN_APP_TOOLS.has(tool.name) ? { _meta: { ui: { resourceUri: RUN_APP } } } : {},
  };
}

/** The result of `tools/list`. */
export function listResult(tools: readonly Tool[], era: AnswerEra, showsApps = false): string {
  const modern = era === "modern" ? { ...LIST_CACHE, ...MODERN_MEMBERS } : {};
  return JSON.stringify({ tools: tools.map((tool) => listedTool(tool, showsApps)), ...modern });
}

/** Methods besides `tools/list` and `server/discover` whose results a client may cache. */
const CACHED: ReadonlySet<string> = new Set([
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "prompts/list",
]);

/** The result of a request for documents, prompts or completions. */
export function documentResult(method: string, found: DocumentAnswer | QuestionAnswer, era: AnswerEra): string {
  if (isQuestion(found)) return inputRequiredResult(found);
  if (era === "legacy") return JSON.stringify(found);
  const cache = CACHED.has(method) ? { ...LIST_CACHE, ...isChanging(found) ? { ttlMs: 0 } : {} } : {};
  return JSON.stringify({ ...found, ...cache, ...MODERN_MEMBERS });
}

/** Whether an answer has a run, or a runpack, to which a signature may be added. */
function isChanging(found: DocumentAnswer): boolean {
  const { contents } = found as { readonly contents?: readonly { readonly uri: string }[] };
  return contents?.some(({ uri }) => /^gate:\/\/run(?:s|packs)\//.test(uri)) === true;
}

function isQuestion(found: DocumentAnswer | QuestionAnswer): found is QuestionAnswer {
  return Object.hasOwn(found, "inputRequests");
}

const SUBSCRIPTION_KEY = "io.modelcontextprotocol/subscriptionId";

/**
 * The notification that acknowledges `subscriptions/listen`.
 *
 * @param resources The resources whose changes are announced
 */
export function listenAcknowledgement(id: RequestId, resources: readonly string[] = []): string {
  const notifications = resources.length === 0 ? {} : { resourceSubscriptions: resources };
  const params = { notifications, _meta: { [SUBSCRIPTION_KEY]: id } };
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params });
}

/** The notification that a resource of a subscription changed. */
export function resourceUpdated(id: RequestId, uri: string): string {
  const params = { uri, _meta: { [SUBSCRIPTION_KEY]: id } };
  return JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params });
}

/** The result of `subscriptions/listen`, which ends the subscription. */
export function listenResult(id: RequestId): string {
  return JSON.stringify({ ...MODERN_MEMBERS, _meta: { [SUBSCRIPTION_KEY]: id, ...MODERN_MEMBERS._meta } });
}

/** The result of a request that the client repeats with responses to questions. */
export function inputRequiredResult({ inputRequests, requestState }: QuestionAnswer): string {
  return JSON.stringify({ inputRequests, requestState, ...MODERN_MEMBERS, resultType: "input_required" });
}

/**
 * The result of a request about a task, or of the call that became one.
 *
 * @param isCreated Whether it is the result of the call
 * @param result The result of the call where it is final
 */
export function taskResult(members: JsonObject, isCreated: boolean, result: string | null = null): string {
  const tail = isCreated ? { ...MODERN_MEMBERS, resultType: "task" } : MODERN_MEMBERS;
  const text = JSON.stringify({ ...members, ...tail });
  return result === null ? text : `${text.slice(0, -1)},"result":${result}}`;
}

/** The result of `tools/call`: the same JSON as text and structured. Domain failures have `isError`. */
export function callResult(answer: ToolAnswer, era: AnswerEra): string {
  const text = answerText(answer);
  const quoted = answer.ok && answer.quoted !== undefined ? answer.quoted : JSON.stringify(text);
  const note = answer.ok && answer.note !== undefined ? `,{"type":"text","text":${JSON.stringify(answer.note)}}` : "";
  const head = `{"content":[{"type":"text","text":${quoted}}${note}],"structuredContent":${text}`;
  return `${head}${answer.ok ? "" : ',"isError":true'}${era === "modern" ? MODERN_TAIL : "}"}`;
}
