/** Answers planned requests, for every transport and both eras. */

import type { JsonObject } from "../../canonical/json.ts";
import type { Call } from "../../tools/framework/types.ts";
import type { EdgeError, RequestId } from "../process/edge_error.ts";
import { internalError } from "../process/internal_error.ts";
import type { Log } from "../process/log.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type CallPlan, type Plan, showsApps } from "./plan.ts";
import {
  callResult,
  discoverResult,
  documentResult,
  initializeResult,
  listenAcknowledgement,
  listenResult,
  listResult,
} from "./result_json.ts";

/** The text of a result, or a failure. */
export type Answer =
  | {
    readonly ok: true;
    readonly result: string;
    /** The text of a notification that precedes the response. */
    readonly notification?: string;
  }
  | { readonly ok: false; readonly error: EdgeError };

/** The options of answering. */
export interface AnswerOptions {
  readonly dispatcher: Dispatcher;
  readonly log: Log;
  /** The client of a connection of the older era; absent where requests are answered one by one. */
  readonly client?: ConnectedClient;
}

/** A client that the server can send requests to. */
export interface ConnectedClient {
  /** The capabilities of its `initialize`. */
  readonly capabilities: () => JsonObject;
  /** Sends a request; null where there is no result. */
  readonly request: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject | null>;
}

/** Answers a planned request: synchronously, unless tools are listed or called, or documents are read. */
export function answerPlan(
  plan: Plan,
  id: RequestId,
  options: AnswerOptions,
  call: Call,
): Answer | Promise<Answer> {
  const { dispatcher, log } = options;
  switch (plan.answer) {
    case "initialize":
      return { ok: true, result: initializeResult(plan.requested, dispatcher.offer) };
    case "discover":
      return { ok: true, result: discoverResult(dispatcher.offer) };
    case "ping":
      return { ok: true, result: "{}" };
    case "listen":
      return { ok: true, result: listenResult(id), notification: listenAcknowledgement(id) };
    case "tools":
      return dispatcher.listing().then(
        (tools) => ({ ok: true, result: listResult(tools, plan.era, listsApps(plan, options)) }),
        (error) => ({ ok: false, error: internalError(log, "tools/list", error, null) }),
      );
    case "call":
      if (dispatcher.offer.rounds?.tools.has(plan.name) === true) return answerRound(plan, options, call);
      return dispatcher.call(plan.name, plan.input, call).then((outcome) =>
        outcome.ok ? { ok: true, result: callResult(outcome.answer, plan.era) } : outcome
      );
    case "task":
      return import("./tasks.ts").then(({ answerTask }) => answerTask(plan, options, call)).catch((error) => ({
        ok: false,
        error: internalError(log, plan.method, error, call.correlationId),
      }));
    case "document":
      return import("./documents.ts").then(({ readDocument }) => readDocument(dispatcher, plan.request, call)).then(
        (read) => read.ok ? { ok: true, result: documentResult(plan.request.method, read.found, plan.era) } : read,
        (error) => ({ ok: false, error: internalError(log, plan.request.method, error, null) }),
      );
  }
}

/**
 * Whether the list of tools names their views. A client of the older era over HTTP said what it shows in another
 * request, so it receives them in any case.
 */
function listsApps(
  { era, showsApps: declared }: Extract<Plan, { readonly answer: "tools" }>,
  { dispatcher: { offer }, client }: AnswerOptions,
): boolean {
  if (offer.runApp === undefined) return false;
  return era === "modern" ? declared : client === undefined || showsApps(client.capabilities());
}

/** Answers a call of a tool that asks the client. The module is loaded with the first such call. */
async function answerRound(plan: CallPlan, options: AnswerOptions, call: Call): Promise<Answer> {
  try {
    return await (await import("./rounds.ts")).answerRound(plan, options, call);
  } catch (error) {
    return { ok: false, error: internalError(options.log, `tool ${plan.name}`, error, call.correlationId) };
  }
}
