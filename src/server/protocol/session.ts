/**
 * One connection: reads each message, admits it, answers it by the fast lane or the SDK's, and knows what is in work.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";
import type { Call, CallOrigin } from "../../tools/framework/types.ts";
import { resultResponse } from "./result_json.ts";
import { type CallOutcome, type Dispatcher, internalError } from "./dispatcher.ts";
import { type EdgeError, errorResponse, type RequestId, withEdgeData } from "../process/edge_error.ts";
import { type Claim, type Era, nextEra, readClaim } from "./protocol_era.ts";
import { type FastAnswer, fastAnswer } from "./fast_answer.ts";
import { type FastPlan, planFast } from "./fast_lane.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { TurnedAway } from "../audit/refusals.ts";
import type { Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import { isRequestId, type Message, type NotificationMessage, type RequestMessage } from "./message.ts";
import { parseMessage } from "./parse_message.ts";
import { createSdkLane, type SdkLane } from "./sdk_lane.ts";
import { messageTraceparent } from "../process/trace.ts";

/** What a session needs. */
export interface SessionOptions {
  readonly dispatcher: Dispatcher;
  readonly limits: Pick<Limits, "admit" | "release">;
  readonly principal: Principal;
  /** Where the connection comes from; what a message of its own request came with is told by {@link Session.take}. */
  readonly origin: Pick<CallOrigin, "transport" | "peer_address">;
  /** Sends one message, a line without its end. */
  readonly send: (line: string) => void;
  /** Takes the messages that are turned away before anybody is asked; nobody is told of them without it. */
  readonly refused?: (refusal: TurnedAway) => void;
  readonly log: Log;
  /** False leaves every message to the SDK. */
  readonly fastLane: boolean;
}

/** One connection. */
export interface Session {
  /** Takes the text of one message; its answer, if it gets one, is sent when it is ready. */
  readonly receive: (text: string) => void;
  /** Takes a message that a request of its own carried, with what that request came with. */
  readonly take: (message: Message, origin: CallOrigin) => void;
  /** Answers what could not be read as a message; the id is null where it is not known. */
  readonly refuse: (error: EdgeError, id: RequestId | null) => void;
  /** Answers the requests in work, and whatever is asked from now on, with an error; tells of each. */
  readonly fail: (error: EdgeError, told: () => void) => void;
  /** Resolves once no request is in work. */
  readonly idle: () => Promise<void>;
  /** Gives up what is in work: its callers are told nothing more. */
  readonly abort: () => void;
  readonly close: () => Promise<void>;
}

/** A request in work. */
interface Work {
  readonly request: RequestMessage;
  readonly origin: CallOrigin;
  readonly controller: AbortController;
  /** The client no longer wants the answer. */
  cancelled: boolean;
  /** The SDK is to answer it. */
  isSdks: boolean;
}

interface State {
  readonly options: SessionOptions;
  readonly work: Map<RequestId, Work>;
  readonly sdk: SdkLane;
  era: Era;
  /** What the SDK must hear first to stand where the connection stands. */
  pin: JsonObject | null;
  idleWaiters: (() => void)[];
  lastCorrelation: number;
  readonly correlationPrefix: string;
  /** What every request is answered; null while they are served. */
  failure: { readonly error: EdgeError; readonly told: () => void } | null;
  /** Requests that were answered in the place of the SDK. */
  readonly abandoned: Set<RequestId>;
}

/** Opens a session. */
export function openSession(options: SessionOptions): Session {
  const sdk = createSdkLane({
    log: options.log,
    listTools: () => options.dispatcher.listing(),
    callTool: (id) => callForSdk(state, id),
    offer: options.dispatcher.offer,
    askTool: (id, name, input) => call(state, id, name, input),
    consult: (id, consultation) => options.dispatcher.consult(consultation, callerOf(state, id)),
    send: (message) => {
      const id = "id" in message && !("method" in message) ? message.id : undefined;
      if (id !== undefined && state.abandoned.delete(id)) return;
      const line = JSON.stringify("error" in message ? withEdgeData(message) : message);
      if (id !== undefined && state.work.has(id)) finish(state, id, line);
      else options.send(line);
    },
    failed: (thrown) => {
      const left = [...state.work].filter(([, work]) => work.isSdks);
      for (const [id] of left) fail(state, id, internalError(options.log, "the protocol", thrown, null));
    },
  });
  const state: State = {
    options,
    sdk,
    work: new Map(),
    era: "opening",
    pin: null,
    idleWaiters: [],
    lastCorrelation: 0,
    correlationPrefix: `gate-${crypto.randomUUID().slice(0, 13)}-`,
    failure: null,
    abandoned: new Set(),
  };
  return {
    receive: (text) => receive(state, text),
    take: (message, origin) => take(state, message, origin),
    refuse: (error, id) => turnAway(state, error, id, originOf(state)),
    fail: (error, told) => failAll(state, error, told),
    idle: () => idle(state),
    abort: () => {
      for (const work of state.work.values()) cancel(work);
    },
    close: () => sdk.close(),
  };
}

function receive(state: State, text: string): void {
  const reading = parseMessage(text);
  const origin = originOf(state);
  if (reading.ok) take(state, reading.message, origin);
  else turnAway(state, reading.error, reading.id, origin);
}

function take(state: State, message: Message, origin: CallOrigin): void {
  if (message.kind === "notification") receiveNotification(state, message);
  else if (message.kind === "request") receiveRequest(state, message, origin);
}

function receiveNotification(state: State, message: NotificationMessage): void {
  if (message.method === "notifications/cancelled") {
    const id = member(message.params, "requestId");
    const work = isRequestId(id) ? state.work.get(id) : undefined;
    if (work !== undefined) return cancel(work);
  }
  const claim = readClaim(message.params);
  const era = state.era;
  state.era = nextEra(era, message, claim);
  if (state.sdk.isStarted() || !state.options.fastLane || state.era === "unknown") {
    return toSdk(state, message.raw, era);
  }
  // Without the SDK a notification does nothing but settle the era.
  if (state.era !== era) state.pin = pinFor(state.era, message.params);
}

function receiveRequest(state: State, request: RequestMessage, origin: CallOrigin): void {
  const { limits, principal, send } = state.options;
  const { id } = request;
  if (state.failure !== null) {
    send(errorResponse(state.failure.error, id));
    return state.failure.told();
  }
  if (state.work.has(id)) {
    const message = "Cannot take request: its id is that of a request in work";
    return turnAway(state, { kind: "invalid_request", message, path: "$.id" }, id, origin);
  }
  const refusal = limits.admit(principal.subject);
  if (refusal !== null) return turnAway(state, refusal, id, origin);
  const work = { request, origin, controller: new AbortController(), cancelled: false, isSdks: false };
  state.work.set(id, work);
  const claim = readClaim(request.params);
  // The SDK lets a connection that is settled on the modern era name any version.
  if (claim.claim === "unsupported" && state.era === "modern") {
    const error = unsupported(claim.requested);
    tellRefused(state, error, origin);
    return fail(state, id, error);
  }
  route(state, work, claim);
}

/** Answers a message that goes no further. */
function turnAway(state: State, error: EdgeError, id: RequestId | null, origin: CallOrigin): void {
  state.options.send(errorResponse(error, id));
  tellRefused(state, error, origin);
}

function tellRefused(state: State, { kind: reason }: EdgeError, origin: CallOrigin): void {
  const { principal: { subject }, refused } = state.options;
  refused?.({ kind: "request", reason, subject, origin });
}

function route(state: State, work: Work, claim: Claim): void {
  const { request } = work;
  const before = state.era;
  const plan = state.options.fastLane ? planFast(before, request, claim) : null;
  const next = nextEra(before, request, claim);
  const settles = next !== before || request.method === "initialize";
  if (plan !== null && !(settles && state.sdk.isStarted())) {
    state.era = next;
    if (settles) state.pin = pinFor(next, request.params, request);
    return answerFast(state, request, plan);
  }
  state.era = next;
  work.isSdks = true;
  toSdk(state, request.raw, before);
  // It is never answered: it stands until it is cancelled, which the SDK must see to.
  if (request.method === "subscriptions/listen") release(state, request.id);
}

function toSdk(state: State, raw: JsonObject, era: Era): void {
  if (!state.sdk.isStarted()) state.sdk.start(era === "opening" ? null : state.pin);
  state.sdk.deliver(raw);
}

/** The message that makes the SDK settle on an era as the fast lane did, without doing anything else. */
function pinFor(era: Era, params: JsonObject, request: RequestMessage | null = null): JsonObject {
  if (era === "legacy") {
    return request?.method === "initialize" ? request.raw : { jsonrpc: "2.0", method: "ping" };
  }
  const meta = member(params, "_meta");
  const method = era === "probe" ? "server/discover" : "tools/list";
  return { jsonrpc: "2.0", method, params: isJsonObject(meta) ? { _meta: meta } : {} };
}

function answerFast(state: State, request: RequestMessage, plan: FastPlan): void {
  const { dispatcher, log } = state.options;
  const { id } = request;
  const settle = (answer: FastAnswer): void => {
    if (answer.ok) finish(state, id, resultResponse(id, answer.result));
    else fail(state, id, answer.error);
  };
  const answer = fastAnswer(plan, dispatcher, log, (name, input) => call(state, id, name, input));
  if (answer instanceof Promise) answer.then(settle);
  else settle(answer);
}

function call(state: State, id: RequestId, name: string, input: JsonObject): Promise<CallOutcome> {
  return state.options.dispatcher.call(name, input, callerOf(state, id));
}

/** Who asks for a request in work. */
function callerOf(state: State, id: RequestId): Call {
  const work = state.work.get(id);
  const origin = work?.origin ?? originOf(state);
  const traceparent = origin.traceparent ?? (work === undefined ? null : messageTraceparent(work.request.params));
  return {
    principal: state.options.principal,
    signal: work?.controller.signal ?? AbortSignal.abort(),
    correlationId: origin.correlation_id ?? origin.server_correlation_id,
    origin: { ...origin, traceparent },
  };
}

/** Whence a message came that brought nothing along, with an id of its own. */
function originOf(state: State): CallOrigin {
  const server_correlation_id = state.correlationPrefix + String(++state.lastCorrelation);
  return { ...state.options.origin, correlation_id: null, server_correlation_id, traceparent: null };
}

/** A call whose parameters the SDK has found to be in order; the arguments are taken as they were sent. */
async function callForSdk(state: State, id: RequestId): Promise<CallOutcome> {
  const params = state.work.get(id)?.request.params ?? {};
  const name = member(params, "name");
  const input = member(params, "arguments");
  return await call(state, id, typeof name === "string" ? name : "", isJsonObject(input) ? input : {});
}

function cancel(work: Work): void {
  work.cancelled = true;
  work.controller.abort();
}

function failAll(state: State, error: EdgeError, told: () => void): void {
  state.failure = { error, told };
  for (const [id, { controller, isSdks }] of state.work) {
    if (isSdks) state.abandoned.add(id);
    controller.abort();
    fail(state, id, error);
    told();
  }
}

function fail(state: State, id: RequestId, error: EdgeError): void {
  finish(state, id, errorResponse(error, id));
}

/** Ends a request with its answer. */
function finish(state: State, id: RequestId, line: string): void {
  const work = state.work.get(id);
  if (work === undefined) return;
  if (!work.cancelled) state.options.send(line);
  release(state, id);
}

function release(state: State, id: RequestId): void {
  if (!state.work.delete(id)) return;
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

function unsupported(requested: string): EdgeError {
  return {
    kind: "unsupported_protocol_version",
    message: `Unsupported protocol version: ${requested}`,
    versions: { supported: [MODERN_VERSION], requested },
  };
}
