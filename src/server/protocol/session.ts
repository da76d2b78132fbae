/** One connection. A session reads, admits and answers each message, and keeps the requests in work. */

import { type JsonObject, member } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";
import type { CallOrigin } from "../../tools/framework/types.ts";
import { resultResponse } from "./result_json.ts";
import { callOf, type Dispatcher } from "./dispatcher.ts";
import { type EdgeError, errorResponse, type RequestId } from "../process/edge_error.ts";
import { type Era, nextEra, readEnvelope } from "./protocol_era.ts";
import { type Answer, type AnswerOptions, answerPlan, type ConnectedClient } from "./answer.ts";
import { objectOf, planRequest } from "./plan.ts";
import type { RequestDecision } from "../audit/event_coalescer.ts";
import type { Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import { isRequestId, type Message, type NotificationMessage, type RequestMessage } from "./message.ts";
import { parseMessage } from "./parse_message.ts";
import type { Questions } from "./questions.ts";

/** The options of a session. */
export interface SessionOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Pick<Limits, "admit" | "release">;
  readonly principal: Principal;
  /** The origin of the connection. {@link Session.handle} receives the origin of a message with a request of its own. */
  readonly origin: Pick<CallOrigin, "transport" | "peer_address">;
  /** Sends one message, a line without its end. */
  readonly send: (line: string) => void;
  /** Receives the messages that were rejected before a tool was called. */
  readonly refused?: (decision: RequestDecision) => void;
  readonly log: Log;
}

/** One connection. */
export interface Session {
  /** Handles the text of one message, with its UTF-8 bytes where the caller has them; an answer is sent when it is ready. */
  readonly receive: (text: string, utf8?: Uint8Array) => void;
  /** Handles a message from a request of its own, with the origin of that request. */
  readonly handle: (message: Message, origin: CallOrigin) => void;
  /** Answers bytes that are not a message; the id is null where it is not known. */
  readonly reject: (error: EdgeError, id: RequestId | null) => void;
  /** Answers requests in work and all later ones with an error; calls back after each answer. */
  readonly fail: (error: EdgeError, answered: () => void) => void;
  /** Resolves once no request is in work. */
  readonly idle: () => Promise<void>;
  /** Whether a request is in work. */
  readonly isBusy: () => boolean;
  /** Ends the questions to the client: no more responses can arrive. */
  readonly endQuestions: () => void;
  /** Cancels the requests in work: they get no answer. */
  readonly abort: () => void;
}

const NO_CAPABILITIES: JsonObject = Object.freeze({});

/** A request in work. */
interface Work {
  readonly controller: AbortController;
  /** The client no longer wants the answer. */
  cancelled: boolean;
}

interface State {
  readonly options: SessionOptions;
  readonly work: Map<RequestId, Work>;
  era: Era;
  idleWaiters: (() => void)[];
  lastCorrelation: number;
  readonly correlationPrefix: string;
  readonly answering: AnswerOptions;
  /** The questions to a client of the older era; null before the first one. */
  questions: Questions | null;
  /** The capabilities of `initialize`. */
  capabilities: JsonObject;
  /** Whether responses can arrive. */
  hears: boolean;
  /** The error that answers every request; null while requests are served. */
  failure: { readonly error: EdgeError; readonly answered: () => void } | null;
}

/** Opens a session. */
export function openSession(options: SessionOptions): Session {
  const client: ConnectedClient = {
    capabilities: () => state.hears ? state.capabilities : NO_CAPABILITIES,
    request: async (method, params, signal) => {
      const { openQuestions } = await import("./questions.ts");
      state.questions ??= openQuestions(options.send);
      return state.hears ? await state.questions.ask(method, params, signal) : null;
    },
  };
  const state: State = {
    options,
    answering: { dispatcher: options.dispatcher, log: options.log, client },
    questions: null,
    capabilities: NO_CAPABILITIES,
    hears: true,
    work: new Map(),
    era: "opening",
    idleWaiters: [],
    lastCorrelation: 0,
    correlationPrefix: `gate-${crypto.randomUUID().slice(0, 13)}-`,
    failure: null,
  };
  return {
    receive: (text, utf8) => receive(state, text, utf8),
    handle: (message, origin) => handle(state, message, origin),
    reject: (error, id) => reject(state, error, id, originOf(state)),
    fail: (error, answered) => failAll(state, error, answered),
    idle: () => idle(state),
    isBusy: () => state.work.size > 0,
    endQuestions: () => {
      state.hears = false;
      state.questions?.end();
    },
    abort: () => {
      for (const work of state.work.values()) cancel(work);
    },
  };
}

function receive(state: State, text: string, utf8: Uint8Array | undefined): void {
  const reading = parseMessage(text, utf8);
  const origin = originOf(state);
  if (reading.ok) handle(state, reading.message, origin);
  else reject(state, reading.error, reading.id, origin);
}

function handle(state: State, message: Message, origin: CallOrigin): void {
  if (message.kind === "notification") handleNotification(state, message);
  else if (message.kind === "request") handleRequest(state, message, origin);
  else state.questions?.answered(message.raw);
}

function handleNotification(state: State, message: NotificationMessage): void {
  if (message.method === "notifications/cancelled") {
    const id = member(message.params, "requestId");
    const work = isRequestId(id) ? state.work.get(id) : undefined;
    if (work !== undefined) return cancel(work);
  }
  state.era = nextEra(state.era, message, readEnvelope(message.params));
}

function handleRequest(state: State, request: RequestMessage, origin: CallOrigin): void {
  const { dispatcher, limits, principal, send } = state.options;
  const { id } = request;
  if (state.failure !== null) {
    send(errorResponse(state.failure.error, id));
    return state.failure.answered();
  }
  if (state.work.has(id)) {
    const message = "Cannot accept request: another request in work has its id";
    return reject(state, { kind: "invalid_request", message, path: "$.id" }, id, origin);
  }
  const overload = limits.admit(principal.subject);
  if (overload !== null) return reject(state, overload, id, origin);
  const work = { controller: new AbortController(), cancelled: false };
  state.work.set(id, work);
  const envelope = readEnvelope(request.params);
  state.era = nextEra(state.era, request, envelope);
  const planned = planRequest(state.era, request, envelope, dispatcher.offer);
  if (!planned.ok) {
    reportRejected(state, planned.error, origin);
    return fail(state, work, id, planned.error);
  }
  if (planned.plan.answer === "initialize") state.capabilities = objectOf(request.params, "capabilities");
  const call = callOf({ principal, signal: work.controller.signal, origin }, request.params);
  const answer = answerPlan(planned.plan, id, state.answering, call);
  if (answer instanceof Promise) answer.then((late) => finishWith(state, work, id, late));
  else finishWith(state, work, id, answer);
}

/** Answers a message that is not processed further. */
function reject(state: State, error: EdgeError, id: RequestId | null, origin: CallOrigin): void {
  state.options.send(errorResponse(error, id));
  reportRejected(state, error, origin);
}

function reportRejected(state: State, { kind: reason }: EdgeError, origin: CallOrigin): void {
  const { principal: { subject }, refused } = state.options;
  refused?.({ kind: "request", reason, subject, origin });
}

function finishWith(state: State, work: Work, id: RequestId, answer: Answer): void {
  if (!answer.ok) return fail(state, work, id, answer.error);
  const response = resultResponse(id, answer.result);
  finish(state, work, id, answer.notification === undefined ? [response] : [answer.notification, response]);
}

/** The origin of a message without a request of its own, with a new id. */
function originOf(state: State): CallOrigin {
  const server_correlation_id = state.correlationPrefix + String(++state.lastCorrelation);
  return { ...state.options.origin, correlation_id: null, server_correlation_id, traceparent: null };
}

function cancel(work: Work): void {
  work.cancelled = true;
  work.controller.abort();
}

function failAll(state: State, error: EdgeError, answered: () => void): void {
  state.failure = { error, answered };
  for (const [id, work] of state.work) {
    work.controller.abort();
    fail(state, work, id, error);
    answered();
  }
}

function fail(state: State, work: Work, id: RequestId, error: EdgeError): void {
  finish(state, work, id, [errorResponse(error, id)]);
}

/** Ends a request with its answer. A request that has ended gets no second one, even if another has its id now. */
function finish(state: State, work: Work, id: RequestId, lines: readonly string[]): void {
  if (state.work.get(id) !== work) return;
  if (!work.cancelled) lines.forEach(state.options.send);
  state.work.delete(id);
  state.options.limits.release(state.options.principal.subject);
  if (state.work.size > 0) return;
  for (const resolve of state.idleWaiters.splice(0)) resolve();
}

function idle(state: State): Promise<void> {
  if (state.work.size === 0) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  state.idleWaiters.push(resolve);
  return promise;
}
