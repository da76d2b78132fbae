/**
 * The HTTP transports between the listener and the tools.
 *
 * @module
 */

import { parseBind } from "../config/bind.ts";
import type { ServerConfig } from "../config/types.ts";
import type { Authenticator } from "./auth/types.ts";
import type { Dispatcher } from "./protocol/dispatcher.ts";
import type { Health } from "./process/health.ts";
import { hasSeveralCallers, type Limits } from "./process/limits.ts";
import type { Log } from "./process/log.ts";
import type { Metrics } from "./process/metrics.ts";
import { unreachable } from "./process/start_failure.ts";
import { createSseRoutes, type SseRoutes } from "./sse/sse_routes.ts";
import { createApp, type Route } from "./http/app.ts";
import {
  CONNECTION_BOUNDS,
  type ConnectionBounds,
  listen,
  type Listener,
  type ListenerOptions,
} from "./http/listener.ts";
import { answerMcp, type McpEndpointOptions } from "./http/mcp_endpoint.ts";
import { type ClientQuestions, createClientQuestions } from "./http/client_questions.ts";
import { type ConsoleAssets, consolePages } from "./http/console_pages.ts";
import { createHostAndOriginChecks } from "./http/host_and_origin.ts";
import { bodyBounds, createBodyAdmission } from "./http/body_admission.ts";
import { type Admissions, connectionRefusals, type Refusals } from "./audit/refusals.ts";
import type { HttpReply } from "./http/reply.ts";
import { createRunStreams, type ReadRevision, type RunStreams, STREAMS } from "./http/run_streams.ts";
import {
  backpressureBounds,
  createResponseBackpressure,
  limitsWithBackpressure,
} from "./http/response_backpressure.ts";

/** The options of the HTTP transports. */
export interface HttpOptions {
  readonly transport: "http" | "sse";
  readonly server: ServerConfig;
  /** `--allowed-host` and `--allowed-origin`. */
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly authenticate: Authenticator;
  readonly dispatcher: Dispatcher;
  readonly limits: Limits;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly admissions: Admissions;
  /** Makes the id of each request. */
  readonly nextServerId: () => string;
  readonly log: Log;
  readonly tls: ListenerOptions["tls"];
  /** The console; absent without it. */
  readonly console?: ConsoleAssets;
  /** Reads heads of runs, for streams that announce changes; absent without them. */
  readonly readRevision?: ReadRevision;
  /** Default: {@link CONNECTION_BOUNDS}. */
  readonly bounds?: ConnectionBounds;
}

/** A started transport. */
export interface HttpServing {
  readonly address: Listener["address"];
  /** Accepts no more requests, waits at most `patience` milliseconds for those in work, then ends the rest. */
  readonly close: (patience: number) => Promise<void>;
}

/**
 * Starts serving.
 *
 * @throws {StartFailure} When the address cannot be listened on
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServing> {
  const bind = parseBind(options.server.bind ?? "");
  if (bind === null) throw new Error(`Cannot listen: server.bind is "${options.server.bind ?? ""}"`);
  const { metrics } = options;
  const backpressure = createResponseBackpressure(backpressureBounds(options.server));
  metrics.gauge("gate_http_unread_bytes", "Bytes of answers that are not read yet.", backpressure.bytes);
  const limits = limitsWithBackpressure(options.limits, backpressure);
  const bodyAdmission = createBodyAdmission(options.server.max_body_bytes, bodyBounds(options.server));
  metrics.gauge("gate_http_bodies", "Message bodies that are being received.", bodyAdmission.bodies);
  const streams = streamsOf(options);
  const questions = questionsOf(options);
  const endpoint = { ...options, limits, bodyAdmission, streams, questions };
  const sse = options.transport === "sse" ? createSseRoutes(endpoint) : null;
  const pages = options.console === undefined ? new Map() : consolePages(options.console);
  let { port } = bind;
  const app = createApp({
    ...options,
    limits,
    routes: new Map([...(sse?.routes ?? mcpRoutes(endpoint)), ["/metrics", metricsRoute(metrics)]]),
    pages,
    names: createHostAndOriginChecks({
      bindAddress: bind.hostname,
      port: () => port,
      // A proxy may end TLS. Where this server ends it, a page without TLS is not of this server.
      ...pages.size > 0 ? { pageSchemes: options.tls === null ? ["http", "https"] : ["https"] } : {},
      ...options,
    }),
  });
  const listener = await listen({
    ...bind,
    bounds: options.bounds ?? CONNECTION_BOUNDS,
    handle: app,
    hold: backpressure.hold,
    tls: options.tls,
    log: options.log,
    refused: connectionRefusals("request", options),
  }).catch((error) => unreachable(`Cannot listen on "${options.server.bind}": ${listenReason(error)}`));
  // With port 0 the system chooses a port.
  port = listener.address.port;
  metrics.gauge("gate_http_connections", "Open connections.", listener.connections);
  return { address: listener.address, close: (patience) => close(listener, { sse, streams, questions }, patience) };
}

/** What to do about the addresses that an operating system refuses, by its code of the error. */
const LISTEN_REMEDIES: Readonly<Record<string, string>> = {
  EADDRINUSE: "end the process that listens there, or choose another port",
  EADDRNOTAVAIL: "choose an address of this machine",
  EACCES: "choose a port from 1024 on, or let the user of this process listen on lower ones",
};

function listenReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const remedy = "code" in error ? LISTEN_REMEDIES[String(error.code)] : undefined;
  return remedy === undefined ? error.message : `${error.message} (${remedy})`;
}

/** Streams that announce changes of runs. HTTP+SSE has sessions of its own. */
function streamsOf(options: HttpOptions): RunStreams | null {
  const { transport, server, dispatcher, metrics, readRevision } = options;
  if (transport !== "http" || readRevision === undefined) return null;
  const perCaller = hasSeveralCallers(server) ? STREAMS.caller : STREAMS.all;
  return createRunStreams({ dispatcher, metrics, readRevision, perCaller });
}

/** Questions to clients of the older era, where a tool can ask them. HTTP+SSE asks in its sessions. */
function questionsOf({ transport, dispatcher: { offer: { rounds } } }: HttpOptions): ClientQuestions | null {
  if (transport !== "http" || rounds === undefined || rounds.capabilities.length === 0) return null;
  return createClientQuestions(rounds);
}

interface Streaming {
  readonly sse: SseRoutes | null;
  readonly streams: RunStreams | null;
  readonly questions: ClientQuestions | null;
}

async function close(listener: Listener, { sse, streams, questions }: Streaming, patience: number): Promise<void> {
  // Open streams would keep the listener from closing.
  const closing = listener.close(patience);
  streams?.close();
  questions?.close();
  await sse?.close(patience);
  await closing;
}

function mcpRoutes(endpoint: McpEndpointOptions): readonly (readonly [string, Route])[] {
  const route: Route = { POST: (incoming) => answerMcp(endpoint, incoming) };
  return [["/mcp", route], ["/rpc", route]];
}

function metricsRoute(metrics: Metrics): Route {
  return {
    GET: (): Promise<HttpReply> =>
      Promise.resolve({
        status: 200,
        fields: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
        body: metrics.render(),
      }),
  };
}
