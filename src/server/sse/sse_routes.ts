/**
 * The HTTP+SSE transport of older clients (MCP 2024-11-05, deprecated since 2025-03-26): messages come by POST to
 * `/messages`, answers go out on the stream that GET `/sse` opened. A session lives as long as its stream, belongs to who
 * opened it, and has an id that nobody can guess.
 *
 * @module
 */

import type { ServerConfig } from "../../config/types.ts";
import type { Route } from "../http/app.ts";
import type { Dispatcher } from "../protocol/dispatcher.ts";
import type { Exchange } from "../http/authenticated_request.ts";
import type { Intake } from "../http/body_admission.ts";
import { accepts, mediaRefusal } from "../http/media.ts";
import { edgeRefusal, emptyReply, type HttpReply, type Refusal, refusalReply, type StreamSink } from "../http/reply.ts";
import type { Refusals } from "../audit/refusals.ts";
import { FULL, hasSeveralCallers, type Limits } from "../process/limits.ts";
import { delay, type Log } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";
import { parseMessage } from "../protocol/parse_message.ts";
import { openSession, type Session } from "../protocol/session.ts";

/** What the transport needs. */
export interface SseOptions {
  readonly server: Pick<ServerConfig, "transport" | "auth">;
  readonly intake: Intake;
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly log: Log;
  readonly fastLane: boolean;
  readonly nextServerId: () => string;
}

/** The routes, and how to end what they have begun. */
export interface SseRoutes {
  readonly routes: readonly (readonly [path: string, route: Route])[];
  /** Lets what is in work finish for so many milliseconds, then ends every stream. */
  readonly close: (patience: number) => Promise<void>;
}

/** Sessions at one time, of all callers and, where they can be told apart, of one. */
const SSE_SESSIONS = { all: 256, caller: 64 } as const;

/** Bytes that the reader of a stream may be behind before it is let go. */
const BEHIND_BYTES = 4 << 20;

/** How often a stream says that it is still there, in milliseconds. */
export const KEEP_ALIVE_MILLISECONDS = 15_000;

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
    const late = delay(patience);
    const left = [...sessions.values()];
    await Promise.race([Promise.all(left.map(({ session }) => session.idle())), late.passed]);
    late.cancel();
    for (const { end } of left) end();
  };
  return {
    close,
    routes: [
      ["/sse", { GET: (exchange) => Promise.resolve(openStream(options, sessions, exchange)) }],
      ["/messages", { POST: (exchange) => takeMessage(options, sessions, exchange) }],
    ],
  };
}

function openStream(options: SseOptions, sessions: Map<string, SseSession>, exchange: Exchange): HttpReply {
  if (!accepts(exchange.request.headers.get("accept"), "text/event-stream")) {
    const message = "Cannot open stream: Accept must allow text/event-stream";
    return refusalReply({ status: 406, error: { kind: "invalid_request", message } });
  }
  const { subject } = exchange.principal;
  const ofCaller = sessions.values().reduce((count, session) => count + (session.subject === subject ? 1 : 0), 0);
  const share = hasSeveralCallers(options.server) ? SSE_SESSIONS.caller : SSE_SESSIONS.all;
  if (sessions.size >= SSE_SESSIONS.all || ofCaller >= share) {
    return refusalReply(edgeRefusal({ kind: "inflight_limit", message: "Server overloaded: too many sessions" }));
  }
  return {
    status: 200,
    fields: { "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
    body: null,
    stream: (sink) => startSession(options, sessions, exchange, sink),
  };
}

function startSession(
  options: SseOptions,
  sessions: Map<string, SseSession>,
  exchange: Exchange,
  sink: StreamSink,
): void {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  const { principal, origin } = exchange;
  const session = openSession({
    ...options,
    // Messages were counted when they came.
    limits: { admit: options.limits.enter, release: options.limits.release },
    refused: options.refusals.tell,
    principal,
    origin: { transport: "sse", peer_address: origin.peer_address },
    send: (line) => {
      sink.write(`event: message\ndata: ${line}\n\n`);
      if (sink.waiting() <= BEHIND_BYTES) return;
      end();
      sink.drop();
    },
  });
  const alive = setInterval(() => sink.write(": alive\n\n"), KEEP_ALIVE_MILLISECONDS);
  const end = (): void => {
    if (!sessions.delete(id)) return;
    clearInterval(alive);
    session.abort();
    session.close().catch((error) => options.log("debug", "Cannot close session", { detail: String(error) }));
    sink.end();
  };
  sessions.set(id, { session, subject: principal.subject, end });
  if (sink.gone.aborted) return end();
  sink.gone.addEventListener("abort", end);
  sink.write(`event: endpoint\ndata: /messages?session_id=${id}\n\n`);
}

async function takeMessage(
  options: SseOptions,
  sessions: ReadonlyMap<string, SseSession>,
  exchange: Exchange,
): Promise<HttpReply> {
  const { request, principal } = exchange;
  const refusal = mediaRefusal(request.headers);
  if (refusal !== null) return refusalReply(refusal);
  const id = SESSION_QUERY.exec(request.query)?.[1] ?? "";
  const found = sessions.get(id);
  // Somebody else's session looks like one that is not there.
  if (found === undefined || found.subject !== principal.subject) {
    return refusalReply(NO_SESSION);
  }
  if (options.limits.isFull()) return refusalReply(edgeRefusal(FULL));
  const body = await options.intake.read(exchange);
  if (!body.ok) return body.reply;
  // The stream may have ended while the message came.
  if (!sessions.has(id)) return refusalReply(NO_SESSION);
  const reading = parseMessage(body.text);
  if (!reading.ok) return refusalReply(edgeRefusal(reading.error), reading.id);
  found.session.take(reading.message, exchange.origin);
  return emptyReply(202);
}

const NO_SESSION: Refusal = { status: 404, error: { kind: "invalid_request", message: "No such session" } };
