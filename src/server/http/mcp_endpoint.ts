/**
 * The Streamable HTTP endpoint: one message per request, in both eras of the protocol, without sessions.
 *
 * @module
 */

import { resultResponse } from "../protocol/result_json.ts";
import { callOf, type Dispatcher } from "../protocol/dispatcher.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { readEnvelopeVersion } from "../protocol/protocol_era.ts";
import { answerFast, planFast } from "../protocol/fast_lane.ts";
import { MODERN_VERSION } from "../protocol/identity.ts";
import { FULL, type Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import type { RequestMessage } from "../protocol/message.ts";
import { parseMessage } from "../protocol/parse_message.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import type { BodyAdmission } from "./body_admission.ts";
import { mediaError } from "./media.ts";
import { fieldsAgree } from "./mcp_headers.ts";
import { callFailureReply, emptyReply, errorReply, httpError, type HttpReply, jsonReply } from "./reply.ts";
import type { SdkHttpLane } from "./sdk_http_lane.ts";

/** The options of the endpoint. */
export interface McpEndpointOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly bodyAdmission: BodyAdmission;
  readonly log: Log;
  readonly sdk: SdkHttpLane;
  /** False sends every message to the SDK. */
  readonly fastLane: boolean;
  /** Whether the SDK lane keeps sessions and so receives every message. The lane of this server keeps none. */
  readonly sessions?: boolean;
}

/** Answers one POST. */
export async function answerMcp(options: McpEndpointOptions, incoming: AuthenticatedRequest): Promise<HttpReply> {
  const unsupported = mediaError(incoming.request.headers);
  if (unsupported !== null) return errorReply(unsupported);
  const { limits, bodyAdmission } = options;
  if (limits.isFull()) return errorReply(httpError(FULL));
  // A request counts as in work only after its whole body: a slow sender holds no place.
  const body = await bodyAdmission.read(incoming);
  if (!body.ok) return body.reply;
  const { subject } = incoming.principal;
  const overload = limits.enter(subject);
  if (overload !== null) return errorReply(httpError(overload));
  try {
    return await answerText(options, incoming, body.text);
  } finally {
    limits.release(subject);
  }
}

async function answerText(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  text: string,
): Promise<HttpReply> {
  const reading = parseMessage(text);
  if (!reading.ok) return errorReply(httpError(reading.error), reading.id);
  const { message } = reading;
  if (message.kind === "request") return await answerRequest(options, incoming, message);
  if (options.sessions === true) return await options.sdk.answer({ incoming, raw: message.raw, id: null, call: null });
  const isModern = incoming.request.headers.get("mcp-protocol-version") === MODERN_VERSION ||
    (message.kind === "notification" && readEnvelopeVersion(message.params).status !== "none");
  // Without sessions a notification or response of the older era has no receiver.
  if (!isModern) return emptyReply(202);
  if (message.kind === "response") return errorReply(httpError(NO_RESPONSES));
  return await options.sdk.answer({ incoming, raw: message.raw, id: null, call: null });
}

async function answerRequest(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  message: RequestMessage,
): Promise<HttpReply> {
  const { request, principal, origin } = incoming;
  // The signal cancels work of a client that is gone, but not an append that is queued.
  const call = callOf({ principal, origin, signal: request.signal }, message.params);
  const plan = options.fastLane ? planFast("opening", message, readEnvelopeVersion(message.params)) : null;
  if (plan === null || !fieldsAgree(request.headers, message, plan)) {
    return await options.sdk.answer({ incoming, raw: message.raw, id: message.id, call });
  }
  const answer = await answerFast(plan, options, call);
  if (!answer.ok) return callFailureReply(answer.error, message.id);
  return jsonReply(200, resultResponse(message.id, answer.result));
}

const NO_RESPONSES: EdgeError = {
  kind: "invalid_request",
  message: "Cannot accept response: the server sends no requests",
};
