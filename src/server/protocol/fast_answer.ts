/**
 * What the fast lane answers to what it has planned, whatever the transport.
 *
 * @module
 */

import type { JsonObject } from "../../canonical/json.ts";
import { callResult, discoverResult, initializeResult, listResult } from "./result_json.ts";
import { type CallOutcome, type Dispatcher, internalError } from "./dispatcher.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { FastPlan } from "./fast_lane.ts";
import type { Log } from "../process/log.ts";

/** The text of a result, or a failure. */
export type FastAnswer =
  | { readonly ok: true; readonly result: string }
  | { readonly ok: false; readonly error: EdgeError };

/**
 * Answers a plan, at once where nothing needs to be asked.
 *
 * @param call Calls a tool in the name of whoever sent the request
 */
export function fastAnswer(
  plan: FastPlan,
  dispatcher: Dispatcher,
  log: Log,
  call: (name: string, input: JsonObject) => Promise<CallOutcome>,
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
      return call(plan.name, plan.input).then((outcome) =>
        outcome.ok ? { ok: true, result: callResult(outcome.answer, plan.era) } : outcome
      );
  }
}
