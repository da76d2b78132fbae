/**
 * The Streamable HTTP endpoint: one message per request, in both eras of the protocol, without sessions.
 *
 * @module
 */

import { resultResponse } from "../protocol/result_json.ts";
import { callOf, type Dispatcher } from "../protocol/dispatcher.ts";
import type { EdgeError } from "../process/edge_error.ts";
import { readEnvelope } from "../protocol/protocol_era.ts";
import { answerPlan } from "../protocol/answer.ts";
import { planRequest } from "../protocol/plan.ts";
import { FULL, type Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import type { Message, NotificationMessage, RequestMessage, ResponseMessage } from "../protocol/message.ts";
import { parseMessage } from "../protocol/parse_message.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import type { BodyAdmission, Received } from "./body_admission.ts";
import { mediaError } from "./media.ts";
import { notificationEra, requestEra, responseEra } from "./mcp_headers.ts";
import { isRunUri, type RunStreams } from "./run_streams.ts";
import {
  callFailureReply,
  emptyReply,
  errorReply,
  eventsReply,
  httpError,
  type HttpReply,
  jsonReply,
} from "./reply.ts";

/** The options of the endpoint. */
export interface McpEndpointOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly bodyAdmission: BodyAdmission;
  readonly log: Log;
  /** Announces changes of runs; null or absent where no change is announced. */
  readonly streams?: RunStreams | null;
  /** Answers the messages; default: {@link answerMessage}. */
  readonly answer?: typeof answerMessage;
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
    return await answerText(options, incoming, body);
  } finally {
    limits.release(subject);
  }
}

async function answerText(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  { text, utf8 }: Extract<Received, { ok: true }>,
): Promise<HttpReply> {
  const reading = parseMessage(text, utf8);
  if (!reading.ok) return errorReply(httpError(reading.error), reading.id);
  return await (options.answer ?? answerMessage)(options, incoming, reading.message);
}

/** Answers a message, without sessions. */
async function answerMessage(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  message: Message,
): Promise<HttpReply> {
  if (message.kind === "request") return await answerRequest(options, incoming, message);
  return acceptMessage(incoming, message);
}

/** Without sessions a notification or response has no receiver. */
function acceptMessage(
  { request: { headers } }: AuthenticatedRequest,
  message: NotificationMessage | ResponseMessage,
): HttpReply {
  const isResponse = message.kind === "response";
  const reading = isResponse ? responseEra(headers) : notificationEra(headers, message, readEnvelope(message.params));
  if (!reading.ok) return errorReply(httpError(reading.error));
  return isResponse && reading.era === "modern" ? errorReply(httpError(NO_RESPONSES)) : emptyReply(202);
}

async function answerRequest(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  message: RequestMessage,
): Promise<HttpReply> {
  const { request, principal, origin } = incoming;
  const { id } = message;
  const envelope = readEnvelope(message.params);
  const reading = requestEra(request.headers, message, envelope);
  if (!reading.ok) return errorReply(httpError(reading.error), id);
  const planned = planRequest(reading.era, message, envelope, options.dispatcher.offer);
  if (!planned.ok) {
    const isUnknown = reading.era === "modern" && planned.error.kind === "method_not_found";
    return errorReply(isUnknown ? httpError(planned.error) : { status: 200, error: planned.error }, id);
  }
  // The signal cancels work of a client that is gone, but not an append that is queued.
  const call = callOf({ principal, origin, signal: request.signal }, message.params);
  const { plan } = planned;
  if (plan.answer === "listen" && plan.resources.some(isRunUri)) {
    const stream = await options.streams?.open(plan.resources, id, call) ?? null;
    if (stream !== null) return stream;
  }
  const answer = await answerPlan(plan, id, options, call);
  if (!answer.ok) return callFailureReply(answer.error, id);
  const response = resultResponse(id, answer.result);
  return answer.notification === undefined ? jsonReply(200, response) : eventsReply([answer.notification, response]);
}

const NO_RESPONSES: EdgeError = {
  kind: "invalid_request",
  message: "Cannot accept response: the server sends no requests",
};
