/**
 * Streamable HTTP: one message a request, in both eras of the protocol, without sessions.
 *
 * @module
 */

import type { Call } from "../../tools/framework/types.ts";
import { resultResponse } from "../protocol/result_json.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { readClaim } from "../protocol/protocol_era.ts";
import { fastAnswer } from "../protocol/fast_answer.ts";
import { type FastPlan, planFast } from "../protocol/fast_lane.ts";
import { MODERN_VERSION } from "../protocol/identity.ts";
import { FULL, type Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import type { RequestMessage } from "../protocol/message.ts";
import { parseMessage } from "../protocol/parse_message.ts";
import { messageTraceparent } from "../process/trace.ts";
import type { Exchange } from "./authenticated_request.ts";
import type { Intake } from "./body_admission.ts";
import { mediaRefusal } from "./media.ts";
import { fieldsAgree } from "./mcp_headers.ts";
import { callFailureReply, edgeRefusal, emptyReply, type HttpReply, jsonReply, refusalReply } from "./reply.ts";
import type { SdkHttpLane } from "./sdk_http_lane.ts";

/** What the endpoint needs. */
export interface McpEndpointOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly intake: Intake;
  readonly log: Log;
  readonly sdk: SdkHttpLane;
  /** False leaves every message to the SDK. */
  readonly fastLane: boolean;
  /** Whether the SDK's lane keeps sessions, and so hears everything; this server's does not. */
  readonly sessions?: boolean;
}

/** Answers one POST. */
export async function answerMcp(options: McpEndpointOptions, exchange: Exchange): Promise<HttpReply> {
  const refusal = mediaRefusal(exchange.request.headers);
  if (refusal !== null) return refusalReply(refusal);
  const { limits, intake } = options;
  if (limits.isFull()) return refusalReply(edgeRefusal(FULL));
  // Nothing is in work before it is all there: who sends slowly takes nobody's place.
  const body = await intake.read(exchange);
  if (!body.ok) return body.reply;
  const { subject } = exchange.principal;
  const overload = limits.enter(subject);
  if (overload !== null) return refusalReply(edgeRefusal(overload));
  try {
    return await answerText(options, exchange, body.text);
  } finally {
    limits.release(subject);
  }
}

async function answerText(options: McpEndpointOptions, exchange: Exchange, text: string): Promise<HttpReply> {
  const reading = parseMessage(text);
  if (!reading.ok) return refusalReply(edgeRefusal(reading.error), reading.id);
  const { message } = reading;
  if (message.kind === "request") return await answerRequest(options, exchange, message);
  if (options.sessions === true) return await options.sdk.answer({ exchange, raw: message.raw, id: null, from: null });
  const isModern = exchange.request.headers.get("mcp-protocol-version") === MODERN_VERSION ||
    (message.kind === "notification" && readClaim(message.params).claim !== "none");
  // Without sessions nothing hears a notification or a response of the older era.
  if (!isModern) return emptyReply(202);
  if (message.kind === "response") return refusalReply(edgeRefusal(NO_RESPONSES));
  return await options.sdk.answer({ exchange, raw: message.raw, id: null, from: null });
}

async function answerRequest(
  options: McpEndpointOptions,
  exchange: Exchange,
  message: RequestMessage,
): Promise<HttpReply> {
  const from = callerOf(exchange, message);
  const plan: FastPlan | null = options.fastLane ? planFast("opening", message, readClaim(message.params)) : null;
  if (plan === null || !fieldsAgree(exchange.request.headers, message, plan)) {
    return await options.sdk.answer({ exchange, raw: message.raw, id: message.id, from });
  }
  const { dispatcher, log } = options;
  const answer = await fastAnswer(plan, dispatcher, log, (name, input) => dispatcher.call(name, input, from));
  if (!answer.ok) return callFailureReply(answer.error, message.id);
  return jsonReply(200, resultResponse(message.id, answer.result));
}

/** Who sends a request; an append that is enqueued is not undone when the client goes. */
function callerOf({ request, principal, origin }: Exchange, message: RequestMessage): Call {
  const traceparent = origin.traceparent ?? messageTraceparent(message.params);
  return {
    principal,
    signal: request.signal,
    correlationId: origin.correlation_id ?? origin.server_correlation_id,
    origin: { ...origin, traceparent },
  };
}

const NO_RESPONSES: EdgeError = {
  kind: "invalid_request",
  message: "Cannot take response: nothing was asked of the client",
};
