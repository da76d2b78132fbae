/**
 * The HTTP+SSE transport of older clients (MCP 2024-11-05, deprecated since 2025-03-26). Clients POST messages to
 * `/messages` and receive answers on the stream of GET `/sse`. A session ends with its stream, belongs to the caller
 * that opened it, and has an unguessable id.
 */

import type { ServerConfig } from "../../config/types.ts";
import type { Route } from "../http/app.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import type { AuthenticatedRequest } from "../http/authenticated_request.ts";
import type { BodyAdmission } from "../http/body_admission.ts";
import { accepts, mediaError } from "../http/media.ts";
import {
  emptyReply,
  errorReply,
  eventOf,
  eventStream,
  type HttpError,
  httpError,
  type HttpReply,
  KEEP_ALIVE,
  KEEP_ALIVE_MILLISECONDS,
  type StreamSink,
} from "../http/reply.ts";
import type { Refusals } from "../audit/refusals.ts";
import { FULL, hasSeveralCallers, type Limits } from "../process/limits.ts";
import { delay, type Log } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";
import { parseMessage } from "../protocol/parse_message.ts";
import { openSession, type Session } from "../protocol/session.ts";

/** The options of the transport. */
export interface SseOptions {
  readonly server: Pick<ServerConfig, "transport" | "auth">;
  readonly bodyAdmission: BodyAdmission;
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly log: Log;
  readonly nextServerId: () => string;
}

/** The routes and the end of their sessions. */
export interface SseRoutes {
  readonly routes: readonly (readonly [path: string, route: Route])[];
  /** Waits at most `patience` milliseconds for requests in work, then ends every stream. */
  readonly close: (patience: number) => Promise<void>;
}

/** Sessions at one time: of all callers and, with several callers, of one. */
const SSE_SESSIONS = { all: 256, caller: 64 } as const;

/** Unread bytes from which on a stream is dropped. */
const BEHIND_BYTES = 4 << 20;

const SESSION_QUERY = /^session_id=([0-9a-f]{64})$/;

interface SseSession {
  readonly session: Session;
  readonly subject: string;
  readonly end: () => void;
}

/** Makes the routes. */
export function createSseRoutes(options: SseOptions): SseRoutes {
  const sessions = new Map<string, SseSession>();
  options.metrics.gauge("gate_sse_sessions", "Open sessions of the HTTP+SSE transport.", () => sessions.size);
  const close = async (patience: number): Promise<void> => {
    using late = delay(patience);
    const left = [...sessions.values()];
    await Promise.race([Promise.all(left.map(({ session }) => session.idle())), late.passed]);
    for (const { end } of left) end();
  };
  return {
    close,
    routes: [
      ["/sse", { GET: (incoming) => Promise.resolve(openStream(options, sessions, incoming)) }],
      ["/messages", { POST: (incoming) => receiveMessage(options, sessions, incoming) }],
    ],
  };
}

function openStream(options: SseOptions, sessions: Map<string, SseSession>, incoming: AuthenticatedRequest): HttpReply {
  if (!accepts(incoming.request.headers.get("accept"), "text/event-stream")) {
    const message = "Cannot open stream: Accept must allow text/event-stream";
    return errorReply({ status: 406, error: { kind: "invalid_request", message } });
  }
  const { subject } = incoming.principal;
  const ofCaller = sessions.values().reduce((count, session) => count + (session.subject === subject ? 1 : 0), 0);
  const share = hasSeveralCallers(options.server) ? SSE_SESSIONS.caller : SSE_SESSIONS.all;
  if (sessions.size >= SSE_SESSIONS.all || ofCaller >= share) {
    return errorReply(httpError({ kind: "inflight_limit", message: "Server overloaded: too many sessions" }));
  }
  return eventStream((sink) => startSession(options, sessions, incoming, sink));
}

function startSession(
  options: SseOptions,
  sessions: Map<string, SseSession>,
  incoming: AuthenticatedRequest,
  sink: StreamSink,
): void {
  const id = crypto.getRandomValues(new Uint8Array(32)).toHex();
  const { principal, origin } = incoming;
  const session = openSession({
    ...options,
    // The POST of each message counted it already.
    limits: { admit: options.limits.enter, release: options.limits.release },
    refused: options.refusals.record,
    principal,
    origin: { transport: "sse", peer_address: origin.peer_address },
    send: (line) => {
      sink.write(eventOf(line));
      if (sink.waiting() <= BEHIND_BYTES) return;
      end();
      sink.drop();
    },
  });
  const alive = setInterval(() => sink.write(KEEP_ALIVE), KEEP_ALIVE_MILLISECONDS);
  const end = (): void => {
    if (!sessions.delete(id)) return;
    clearInterval(alive);
    session.abort();
    sink.end();
  };
  sessions.set(id, { session, subject: principal.subject, end });
  if (sink.gone.aborted) return end();
  sink.gone.addEventListener("abort", end);
  sink.write(`event: endpoint\ndata: /messages?session_id=${id}\n\n`);
}

async function receiveMessage(
  options: SseOptions,
  sessions: ReadonlyMap<string, SseSession>,
  incoming: AuthenticatedRequest,
): Promise<HttpReply> {
  const { request, principal } = incoming;
  const unsupported = mediaError(request.headers);
  if (unsupported !== null) return errorReply(unsupported);
  const id = SESSION_QUERY.exec(request.query)?.[1] ?? "";
  const found = sessions.get(id);
  // The session of another caller looks like an unknown one.
  if (found === undefined || found.subject !== principal.subject) return errorReply(NO_SESSION);
  // A response or a cancellation ends requests in work. A request is refused by the session.
  if (options.limits.isFull() && !found.session.isBusy()) return errorReply(httpError(FULL));
  const body = await options.bodyAdmission.read(incoming);
  if (!body.ok) return body.reply;
  // The stream may have ended while the body was received.
  if (!sessions.has(id)) return errorReply(NO_SESSION);
  const reading = parseMessage(body.text);
  if (!reading.ok) return errorReply(httpError(reading.error), reading.id);
  found.session.handle(reading.message, incoming.origin);
  return emptyReply(202);
}

const NO_SESSION: HttpError = {
  status: 404,
  error: {
    kind: "invalid_request",
    message: "Cannot find the session: it has ended, or another server has it; open /sse again",
  },
};
