/**
 * The fast lane: which messages are answered without the SDK, and how. It takes only messages whose answer is beyond
 * doubt; everything else goes to the SDK. Both lanes answer alike (`tests/e2e/protocol_lanes_test.ts`).
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { AnswerEra } from "./result_json.ts";
import { type Claim, type Era, isPlainCapabilities, isPlainClientInfo, nextEra } from "./protocol_era.ts";
import type { RequestMessage } from "./message.ts";

/** What the fast lane would answer. */
export type FastPlan =
  | { readonly answer: "initialize"; readonly requested: string }
  | { readonly answer: "discover" }
  | { readonly answer: "ping" }
  | { readonly answer: "list"; readonly era: AnswerEra }
  | { readonly answer: "call"; readonly era: AnswerEra; readonly name: string; readonly input: JsonObject };

const NO_INPUT: JsonObject = Object.freeze({});
const CALL_MEMBERS = new Set(["name", "arguments", "_meta"]);

/**
 * Plans the answer to a request, or null where the SDK must answer.
 *
 * @param era Where the connection stands before the request
 * @param request The request
 * @param claim What its envelope says
 */
export function planFast(era: Era, request: RequestMessage, claim: Claim): FastPlan | null {
  const next = nextEra(era, request, claim);
  if (next === "legacy" && claim.claim === "none") return planLegacy(request);
  if ((next === "modern" || next === "probe") && claim.claim === "valid") return planModern(request);
  return null;
}

function planLegacy(request: RequestMessage): FastPlan | null {
  switch (request.method) {
    case "initialize":
      return planInitialize(request.params);
    case "ping":
      return hasOnlyMeta(request.params) ? { answer: "ping" } : null;
    default:
      return planTools(request, "legacy");
  }
}

function planModern(request: RequestMessage): FastPlan | null {
  if (request.method === "server/discover") return hasOnlyMeta(request.params) ? { answer: "discover" } : null;
  return planTools(request, "modern");
}

function planTools(request: RequestMessage, era: AnswerEra): FastPlan | null {
  if (request.method === "tools/list") return hasOnlyMeta(request.params) ? { answer: "list", era } : null;
  if (request.method !== "tools/call") return null;
  const name = member(request.params, "name");
  const input = member(request.params, "arguments");
  if (typeof name !== "string" || !(input === undefined || isJsonObject(input))) return null;
  for (const other in request.params) if (!CALL_MEMBERS.has(other)) return null;
  return { answer: "call", era, name, input: input ?? NO_INPUT };
}

function planInitialize(params: JsonObject): FastPlan | null {
  const requested = member(params, "protocolVersion");
  if (typeof requested !== "string") return null;
  if (!isPlainCapabilities(member(params, "capabilities"))) return null;
  if (!isPlainClientInfo(member(params, "clientInfo"))) return null;
  return { answer: "initialize", requested };
}

function hasOnlyMeta(params: JsonObject): boolean {
  for (const name in params) if (name !== "_meta") return false;
  return true;
}
