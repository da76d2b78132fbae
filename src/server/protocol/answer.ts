/**
 * Answers planned requests, for every transport and both eras.
 *
 * @module
 */

import type { Call } from "../../tools/framework/types.ts";
import type { EdgeError, RequestId } from "../process/edge_error.ts";
import { internalError } from "../process/internal_error.ts";
import type { Log } from "../process/log.ts";
import type { Dispatcher } from "./dispatcher.ts";
import type { Plan } from "./plan.ts";
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
}

/** Answers a planned request: synchronously, unless tools are listed or called, or documents are read. */
export function answerPlan(
  plan: Plan,
  id: RequestId,
  { dispatcher, log }: AnswerOptions,
  call: Call,
): Answer | Promise<Answer> {
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
        (tools) => ({ ok: true, result: listResult(tools, plan.era) }),
        (error) => ({ ok: false, error: internalError(log, "tools/list", error, null) }),
      );
    case "call":
      return dispatcher.call(plan.name, plan.input, call).then((outcome) =>
        outcome.ok ? { ok: true, result: callResult(outcome.answer, plan.era) } : outcome
      );
    case "document":
      return import("./documents.ts").then(({ readDocument }) => readDocument(dispatcher, plan.request, call)).then(
        (read) => read.ok ? { ok: true, result: documentResult(plan.request.method, read.found, plan.era) } : read,
        (error) => ({ ok: false, error: internalError(log, plan.request.method, error, null) }),
      );
  }
}
