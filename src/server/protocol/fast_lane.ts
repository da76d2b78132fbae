/**
 * The fast lane answers requests without the SDK. It accepts only messages whose answer is certain; everything else goes to
 * the SDK. Both lanes give the same answers (`tests/e2e/protocol_lanes_test.ts`).
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { Call } from "../../tools/framework/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { internalError } from "../process/internal_error.ts";
import type { Log } from "../process/log.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { RequestMessage } from "./message.ts";
import { type EnvelopeVersion, type Era, isPlainCapabilities, isPlainClientInfo, nextEra } from "./protocol_era.ts";
import { type AnswerEra, callResult, discoverResult, initializeResult, listResult } from "./result_json.ts";

/** The answer that the fast lane will give. */
export type FastPlan =
  | { readonly answer: "initialize"; readonly requested: string }
  | { readonly answer: "discover" }
  | { readonly answer: "ping" }
  | { readonly answer: "list"; readonly era: AnswerEra }
  | { readonly answer: "call"; readonly era: AnswerEra; readonly name: string; readonly input: JsonObject };

/** The text of a result, or a failure. */
export type FastAnswer =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: false; readonly error: EdgeError };

/** The options of the fast lane. */
export interface FastLaneOptions {
  readonly dispatcher: Dispatcher;
  readonly log: Log;
}

const NO_INPUT: JsonObject = Object.freeze({});
const CALL_MEMBERS = new Set(["name", "arguments", "_meta"]);

/**
 * Plans the answer to a request, or returns null where the SDK must answer.
 *
 * @param era The era of the connection before the request
 * @param request The request
 * @param envelope The envelope of the request
 */
export function planFast(era: Era, request: RequestMessage, envelope: EnvelopeVersion): FastPlan | null {
  const next = nextEra(era, request, envelope);
  if (next === "legacy" && envelope.status === "none") return planLegacy(request);
  if ((next === "modern" || next === "probe") && envelope.status === "valid") return planModern(request);
  return null;
}

/** Answers a planned request: synchronously, unless tools are listed or called. */
export function answerFast(
  plan: FastPlan,
  { dispatcher, log }: FastLaneOptions,
  call: Call,
): FastAnswer | Promise<FastAnswer> {
  switch (plan.answer) {
    case "initialize":
      return { ok: true, result: initializeResult(plan.requested, dispatcher.offer) };
    case "discover":
      return { ok: true, result: discoverResult(dispatcher.offer) };
    case "ping":
      return { ok: true, result: "{}" };
    case "list":
      return dispatcher.listing().then(
        (tools) => ({ ok: true, result: listResult(tools, plan.era) }),
        (error) => ({ ok: false, error: internalError(log, "tools/list", error, null) }),
      );
    case "call":
      return dispatcher.call(plan.name, plan.input, call).then((outcome) =>
        outcome.ok ? { ok: true, result: callResult(outcome.answer, plan.era) } : outcome
      );
  }
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
