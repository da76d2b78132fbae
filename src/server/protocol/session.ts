/**
 * One connection. A session reads and admits each message, answers it by the fast lane or the SDK, and keeps the requests
 * in work.
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../../canonical/json.ts";
import type { Principal } from "../../access/types.ts";
import type { Call, CallOrigin } from "../../tools/framework/types.ts";
import { resultResponse } from "./result_json.ts";
import { callOf, type CallOutcome, type Dispatcher } from "./dispatcher.ts";
import { type EdgeError, errorResponse, type RequestId, withEdgeData } from "../process/edge_error.ts";
import { type EnvelopeVersion, type Era, nextEra, readEnvelopeVersion } from "./protocol_era.ts";
import { answerFast, type FastAnswer, planFast } from "./fast_lane.ts";
import { MODERN_VERSION } from "./identity.ts";
import type { RequestDecision } from "../audit/event_coalescer.ts";
import { internalError } from "../process/internal_error.ts";
import type { Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import { isRequestId, type Message, type NotificationMessage, type RequestMessage } from "./message.ts";
import { parseMessage } from "./parse_message.ts";
import { createSdkLane, type SdkLane } from "./sdk_lane.ts";

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
  /** False sends every message to the SDK. */
  readonly fastLane: boolean;
}

/** One connection. */
export interface Session {
  /** Handles the text of one message; an answer is sent when it is ready. */
  readonly receive: (text: string) => void;
  /** Handles a message from a request of its own, with the origin of that request. */
  readonly handle: (message: Message, origin: CallOrigin) => void;
  /** Answers bytes that are not a message; the id is null where it is not known. */
  readonly reject: (error: EdgeError, id: RequestId | null) => void;
  /** Answers requests in work and all later ones with an error; calls back after each answer. */
  readonly fail: (error: EdgeError, answered: () => void) => void;
  /** Resolves once no request is in work. */
  readonly idle: () => Promise<void>;
  /** Cancels the requests in work: they get no answer. */
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
  /** The SDK answers it. */
  isSdks: boolean;
}

interface State {
  readonly options: SessionOptions;
  readonly work: Map<RequestId, Work>;
  readonly sdk: SdkLane;
  era: Era;
  /** The message that brings the SDK to the era of the connection. */
  pin: JsonObject | null;
  idleWaiters: (() => void)[];
  lastCorrelation: number;
  readonly correlationPrefix: string;
  /** The error that answers every request; null while requests are served. */
  failure: { readonly error: EdgeError; readonly answered: () => void } | null;
  /** Requests that were answered in place of the SDK. */
  readonly abandoned: Set<RequestId>;
}

/** Opens a session. */
export function openSession(options: SessionOptions): Session {
  const sdk = createSdkLane({
    log: options.log,
    listTools: () => options.dispatcher.listing(),
    callTool: (id) => callForSdk(state, id),
    offer: options.dispatcher.offer,
    askTool: (id, name, input) => options.dispatcher.call(name, input, callFor(state, id)),
    read: (id, request) => options.dispatcher.read(request, callFor(state, id)),
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
    handle: (message, origin) => handle(state, message, origin),
    reject: (error, id) => reject(state, error, id, originOf(state)),
    fail: (error, answered) => failAll(state, error, answered),
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
  if (reading.ok) handle(state, reading.message, origin);
  else reject(state, reading.error, reading.id, origin);
}

function handle(state: State, message: Message, origin: CallOrigin): void {
  if (message.kind === "notification") handleNotification(state, message);
  else if (message.kind === "request") handleRequest(state, message, origin);
}

function handleNotification(state: State, message: NotificationMessage): void {
  if (message.method === "notifications/cancelled") {
    const id = member(message.params, "requestId");
    const work = isRequestId(id) ? state.work.get(id) : undefined;
    if (work !== undefined) return cancel(work);
  }
  const era = state.era;
  state.era = nextEra(era, message, readEnvelopeVersion(message.params));
  if (state.sdk.isStarted() || !state.options.fastLane || state.era === "unknown") {
    return toSdk(state, message.raw, era);
  }
  // Without the SDK a notification only settles the era.
  if (state.era !== era) state.pin = pinFor(state.era, message.params);
}

function handleRequest(state: State, request: RequestMessage, origin: CallOrigin): void {
  const { limits, principal, send } = state.options;
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
  const work = { request, origin, controller: new AbortController(), cancelled: false, isSdks: false };
  state.work.set(id, work);
  const envelope = readEnvelopeVersion(request.params);
  // The SDK accepts any version from a connection that is settled on the modern era.
  if (envelope.status === "unsupported" && state.era === "modern") {
    const error = unsupported(envelope.requested);
    reportRejected(state, error, origin);
    return fail(state, id, error);
  }
  route(state, work, envelope);
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

function route(state: State, work: Work, envelope: EnvelopeVersion): void {
  const { request } = work;
  const before = state.era;
  const plan = state.options.fastLane ? planFast(before, request, envelope) : null;
  state.era = nextEra(before, request, envelope);
  const settles = state.era !== before || request.method === "initialize";
  if (plan !== null && !(settles && state.sdk.isStarted())) {
    if (settles) state.pin = pinFor(state.era, request.params, request);
    const answer = answerFast(plan, state.options, callFor(state, request.id));
    if (answer instanceof Promise) answer.then((late) => finishFast(state, request.id, late));
    else finishFast(state, request.id, answer);
    return;
  }
  work.isSdks = true;
  toSdk(state, request.raw, before);
  // A subscription is never answered. It lasts until it is cancelled, and the SDK handles that.
  if (request.method === "subscriptions/listen") release(state, request.id);
}

function finishFast(state: State, id: RequestId, answer: FastAnswer): void {
  if (answer.ok) finish(state, id, resultResponse(id, answer.result));
  else fail(state, id, answer.error);
}

function toSdk(state: State, raw: JsonObject, era: Era): void {
  if (!state.sdk.isStarted()) state.sdk.start(era === "opening" ? null : state.pin);
  state.sdk.deliver(raw);
}

/** The message that makes the SDK settle on the era of the fast lane, without another effect. */
function pinFor(era: Era, params: JsonObject, request: RequestMessage | null = null): JsonObject {
  if (era === "legacy") {
    return request?.method === "initialize" ? request.raw : { jsonrpc: "2.0", method: "ping" };
  }
  const meta = member(params, "_meta");
  const method = era === "probe" ? "server/discover" : "tools/list";
  return { jsonrpc: "2.0", method, params: isJsonObject(meta) ? { _meta: meta } : {} };
}

/** The caller of a request in work. */
function callFor(state: State, id: RequestId): Call {
  const { principal } = state.options;
  const work = state.work.get(id);
  // The request ended while the SDK worked on it.
  if (work === undefined) return callOf({ principal, signal: AbortSignal.abort(), origin: originOf(state) }, {});
  return callOf({ principal, signal: work.controller.signal, origin: work.origin }, work.request.params);
}

/** The origin of a message without a request of its own, with a new id. */
function originOf(state: State): CallOrigin {
  const server_correlation_id = state.correlationPrefix + String(++state.lastCorrelation);
  return { ...state.options.origin, correlation_id: null, server_correlation_id, traceparent: null };
}

/** Calls a tool after the SDK has checked the parameters; the arguments are used as they were sent. */
async function callForSdk(state: State, id: RequestId): Promise<CallOutcome> {
  const params = state.work.get(id)?.request.params ?? {};
  const name = member(params, "name");
  const input = member(params, "arguments");
  const { dispatcher } = state.options;
  return await dispatcher.call(
    typeof name === "string" ? name : "",
    isJsonObject(input) ? input : {},
    callFor(state, id),
  );
}

function cancel(work: Work): void {
  work.cancelled = true;
  work.controller.abort();
}

function failAll(state: State, error: EdgeError, answered: () => void): void {
  state.failure = { error, answered };
  for (const [id, { controller, isSdks }] of state.work) {
    if (isSdks) state.abandoned.add(id);
    controller.abort();
    fail(state, id, error);
    answered();
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
