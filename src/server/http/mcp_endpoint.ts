/** The Streamable HTTP endpoint: one message per request, in both eras of the protocol. No request needs a session. */

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
import { type ClientQuestions, SESSION_FIELD } from "./client_questions.ts";
import type { RunStreams } from "./run_streams.ts";
import { runOfUri } from "../protocol/run_resource.ts";
import { answerReply, emptyReply, errorReply, httpError, type HttpReply } from "./reply.ts";

/** The options of the endpoint. */
export interface McpEndpointOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly bodyAdmission: BodyAdmission;
  readonly log: Log;
  /** Announces changes of runs; null or absent where no change is announced. */
  readonly streams?: RunStreams | null;
  /** Asks clients of the older era; null or absent where no tool asks. */
  readonly questions?: ClientQuestions | null;
  /** Answers the messages; default: {@link answerMessage}. */
  readonly answer?: typeof answerMessage;
}

/** Answers one POST. */
export async function answerMcp(options: McpEndpointOptions, incoming: AuthenticatedRequest): Promise<HttpReply> {
  const unsupported = mediaError(incoming.request.headers);
  if (unsupported !== null) return errorReply(unsupported);
  const { limits, bodyAdmission, questions } = options;
  // The requests in work may be questions, which end with a response or a cancellation.
  const awaitsResponse = questions?.awaitsResponse(incoming) === true;
  if (limits.isFull() && !awaitsResponse) return errorReply(httpError(FULL));
  // A request counts as in work only after its whole body: a slow sender holds no place.
  const body = await bodyAdmission.read(incoming);
  if (!body.ok) return body.reply;
  if (awaitsResponse) {
    const reading = parseMessage(body.text, body.utf8);
    if (reading.ok && reading.message.kind !== "request") return acceptMessage(options, incoming, reading.message);
  }
  const { subject } = incoming.principal;
  const overload = limits.enter(subject);
  if (overload !== null) return errorReply(httpError(overload));
  let work: Promise<void> | undefined;
  try {
    const reply = await answerText(options, incoming, body);
    work = reply.work;
    return reply;
  } finally {
    if (work === undefined) limits.release(subject);
    else work.finally(() => limits.release(subject));
  }
}

function answerText(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  { text, utf8 }: Extract<Received, { ok: true }>,
): HttpReply | Promise<HttpReply> {
  const reading = parseMessage(text, utf8);
  if (!reading.ok) return errorReply(httpError(reading.error), reading.id);
  return (options.answer ?? answerMessage)(options, incoming, reading.message);
}

/** Answers a message. */
function answerMessage(
  options: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  message: Message,
): HttpReply | Promise<HttpReply> {
  if (message.kind === "request") return answerRequest(options, incoming, message);
  return acceptMessage(options, incoming, message);
}

/** Only a call that asks the client receives notifications and responses. */
function acceptMessage(
  { questions }: McpEndpointOptions,
  incoming: AuthenticatedRequest,
  message: NotificationMessage | ResponseMessage,
): HttpReply {
  const { headers } = incoming.request;
  const isResponse = message.kind === "response";
  const reading = isResponse ? responseEra(headers) : notificationEra(headers, message, readEnvelope(message.params));
  if (!reading.ok) return errorReply(httpError(reading.error));
  if (isResponse && reading.era === "modern") return errorReply(httpError(NO_RESPONSES));
  const isTaken = questions?.receive(incoming, message) ?? true;
  const needsTaker = isResponse && headers.get(SESSION_FIELD) !== null;
  return isTaken || !needsTaker ? emptyReply(202) : errorReply(httpError(NO_QUESTION));
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
  if (plan.answer === "listen" && plan.resources.some((uri) => runOfUri(uri) !== null)) {
    const stream = await options.streams?.open(plan.resources, id, call) ?? null;
    if (stream !== null) return stream;
  }
  const { dispatcher, log, questions } = options;
  if (plan.answer === "call" && plan.era === "legacy") {
    const reply = await questions?.answer({ incoming, message, plan, options: { dispatcher, log } }) ?? null;
    if (reply !== null) return reply;
  }
  const reply = answerReply(await answerPlan(plan, id, { dispatcher, log }, call), id);
  if (plan.answer !== "initialize") return reply;
  return { ...reply, fields: { ...reply.fields, ...await questions?.sessionFields(message, principal.subject) } };
}

const NO_RESPONSES: EdgeError = {
  kind: "invalid_request",
  message: "Cannot accept response: the server sends no requests",
};

// One message for all faults: it does not tell a question of another caller from one that ended.
const NO_QUESTION: EdgeError = {
  kind: "invalid_request",
  message:
    "Cannot accept response: no question of this session waits for it here; it ended, or another server asked it",
};
