/**
 * The JSON of the results in each era. The fast lane writes them as text. The SDK adds the modern members itself.
 *
 * @module
 */

import type { Tool, ToolAnswer } from "../../tools/framework/types.ts";
import type { RequestId } from "../process/edge_error.ts";
import { LEGACY_VERSIONS, LIST_CACHE, MODERN_VERSION, SERVER_INFO } from "./identity.ts";
import type { Offer } from "./offer.ts";

/** The two shapes of results: of the revisions with `initialize`, and of 2026-07-28. */
export type AnswerEra = "legacy" | "modern";

/** The members that 2026-07-28 requires on each result. */
const MODERN_MEMBERS = {
  resultType: "complete",
  _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
};

const MODERN_TAIL = `,${JSON.stringify(MODERN_MEMBERS).slice(1)}`;

/** A tool as `tools/list` shows it. */
export interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Tool["inputSchema"];
  readonly outputSchema: Tool["outputSchema"];
  readonly annotations: Tool["hints"] & { readonly title: string };
}

/** The text of a JSON-RPC response with a result. */
export function resultResponse(id: RequestId, result: string): string {
  return `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(id)}}`;
}

/** The part of an offer in the first answer. */
type Offered = Pick<Offer, "capabilities" | "instructions">;

/** The result of `initialize` for the version that the client asked for. */
export function initializeResult(requested: string, { capabilities, instructions }: Offered): string {
  const protocolVersion = LEGACY_VERSIONS.includes(requested) ? requested : LEGACY_VERSIONS[0];
  return JSON.stringify({
    protocolVersion,
    capabilities,
    serverInfo: SERVER_INFO,
    instructions,
  });
}

/** The result of `server/discover`. */
export function discoverResult({ capabilities, instructions }: Offered): string {
  return JSON.stringify({
    supportedVersions: [MODERN_VERSION],
    capabilities,
    instructions,
    ...LIST_CACHE,
    ...MODERN_MEMBERS,
  });
}

/** A tool as `tools/list` shows it. */
export function listedTool(tool: Tool): ListedTool {
  return {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema,
    outputSchema: tool.outputSchema,
    annotations: { title: tool.title, ...tool.hints },
  };
}

/** The result of `tools/list`. */
export function listResult(tools: readonly Tool[], era: AnswerEra): string {
  const modern = era === "modern" ? { ...LIST_CACHE, ...MODERN_MEMBERS } : {};
  return JSON.stringify({ tools: tools.map(listedTool), ...modern });
}

/** The JSON of a tool's answer, used both structured and as text. */
export function answerText(answer: ToolAnswer): string {
  if (answer.ok) return answer.text ?? JSON.stringify(answer.result);
  return JSON.stringify({ error: answer.error });
}

/** The result of `tools/call`: the same JSON as text and structured. Domain failures have `isError`. */
export function callResult(answer: ToolAnswer, era: AnswerEra): string {
  const text = answerText(answer);
  const head = `{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}`;
  return `${head}${answer.ok ? "" : ',"isError":true'}${era === "modern" ? MODERN_TAIL : "}"}`;
}
