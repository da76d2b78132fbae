/** The HTTP transports between the listener and the tools. */

import { checkRole, type ToolUse } from "../access/roles.ts";
import { parseBind } from "../config/bind.ts";
import type { Audit } from "./audit/types.ts";
import { createAuthenticator } from "./auth/authenticator.ts";
import type { Hosting, HttpHostOptions, Runtime } from "./hosting.ts";
import type { Dispatcher } from "./protocol/dispatcher.ts";
import { meterDispatcher } from "./protocol/metered_dispatcher.ts";
import type { ResourceServer } from "./oauth/resource_server.ts";
import { createHealth } from "./process/health.ts";
import { hasSeveralCallers } from "./process/limits.ts";
import type { Metrics } from "./process/metrics.ts";
import type { TlsServing } from "./tls/serving.ts";
import { unreachable } from "./process/start_failure.ts";
import { createSseRoutes, type SseRoutes } from "./sse/sse_routes.ts";
import { type AppOptions, createApp, type Route } from "./http/app.ts";
import { CONNECTION_BOUNDS, listen, type Listener } from "./http/listener.ts";
import { answerMcp, type McpEndpointOptions } from "./http/mcp_endpoint.ts";
import { type ClientQuestions, createClientQuestions } from "./http/client_questions.ts";
import { consolePages } from "./http/console_pages.ts";
import { createHostAndOriginChecks } from "./http/host_and_origin.ts";
import { bodyBounds, createBodyAdmission } from "./http/body_admission.ts";
import { type Admissions, connectionRefusals, type Refusals } from "./audit/refusals.ts";
import { errorReply, httpError, type HttpReply } from "./http/reply.ts";
import { createRunStreams, type RunStreams, STREAMS } from "./http/run_streams.ts";
import {
  backpressureBounds,
  createResponseBackpressure,
  limitsWithBackpressure,
} from "./http/response_backpressure.ts";

/** What an HTTP transport needs of the process, once its stores and its audit log are open. */
export interface HttpParts {
  readonly hosting: Hosting;
  readonly transport: "http" | "sse";
  readonly http: HttpHostOptions;
  readonly runtime: Runtime;
  readonly metrics: Metrics;
  readonly audit: Audit;
  readonly refusals: Refusals;
  readonly admissions: Admissions;
  readonly tls: TlsServing | null;
  /** Makes the id of each request. */
  readonly nextServerId: () => string;
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
export async function serveHttp(parts: HttpParts): Promise<HttpServing> {
  const { hosting, http, runtime, metrics, audit, tls } = parts;
  const { server } = hosting.options;
  const bind = parseBind(server.bind ?? "");
  if (bind === null) throw new Error(`Cannot listen: server.bind is "${server.bind ?? ""}"`);
  const backpressure = createResponseBackpressure(backpressureBounds(server));
  const bodyAdmission = createBodyAdmission(server.max_body_bytes, bodyBounds(server));
  const dispatcher = meterDispatcher(hosting.dispatcher, metrics);
  const limits = limitsWithBackpressure(hosting.limits, backpressure);
  const streams = streamsOf(parts, dispatcher);
  const questions = questionsOf(parts);
  const endpoint = { ...parts, server, dispatcher, limits, log: hosting.log, bodyAdmission, streams, questions };
  const sse = parts.transport === "sse" ? createSseRoutes(endpoint) : null;
  const pages = http.console === undefined ? new Map() : consolePages(http.console);
  const resource = http.oauth?.(hosting.log);
  let { port } = bind;
  const app = createApp({
    ...endpoint,
    routes: new Map([...(sse?.routes ?? mcpRoutes(endpoint)), ["/metrics", metricsRoute(metrics)]]),
    pages: resource === undefined ? pages : new Map([...pages, resource.metadata]),
    names: createHostAndOriginChecks({
      ...http,
      bindAddress: bind.hostname,
      port: () => port,
      // A proxy may end TLS. Where this server ends it, a page without TLS is not of this server.
      ...pages.size > 0 ? { pageSchemes: tls === null ? ["http", "https"] : ["https"] } : {},
    }),
    authenticate: authenticationOf(parts, resource),
    health: createHealth({
      stores: runtime.unready ?? (() => Promise.resolve([])),
      folders: http.folders,
      auditFault: audit.fault,
    }),
  });
  const listener = await listen({
    ...bind,
    bounds: http.bounds ?? CONNECTION_BOUNDS,
    handle: app,
    hold: backpressure.hold,
    tls: tls?.listener ?? null,
    log: hosting.log,
    refused: connectionRefusals("request", parts),
  }).catch((error) => unreachable(`Cannot listen on "${server.bind}": ${listenReason(error)}`));
  // With port 0 the system chooses a port.
  port = listener.address.port;
  metrics.gauge("gate_inflight", "Requests in work.", hosting.limits.inflight);
  metrics.gauge("gate_http_unread_bytes", "Bytes of answers that are not read yet.", backpressure.bytes);
  metrics.gauge("gate_http_bodies", "Message bodies that are being received.", bodyAdmission.bodies);
  metrics.gauge("gate_http_connections", "Open connections.", listener.connections);
  return { address: listener.address, close: (patience) => close(listener, { sse, streams, questions }, patience) };
}

/** How callers are authenticated; with a resource server, after the stored tokens alone. */
function authenticationOf(
  { hosting: { options: { server } }, http }: HttpParts,
  resource: ResourceServer | undefined,
): AppOptions["authenticate"] {
  const own = createAuthenticator({
    ...http,
    auth: server.auth,
    subjects: { termination: server.tls_termination, isTrustedProxy: http.isTrustedProxy },
  });
  if (resource === undefined) return own;
  if (server.auth?.oauth !== true) throw new Error("Cannot authenticate: local callers would need no token");
  return (request) => resource.authenticate(request, own);
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
function streamsOf(
  { hosting, transport, metrics, runtime: { readRevision } }: HttpParts,
  dispatcher: Dispatcher,
): RunStreams | null {
  if (transport !== "http" || readRevision === undefined) return null;
  const perCaller = hasSeveralCallers(hosting.options.server) ? STREAMS.caller : STREAMS.all;
  return createRunStreams({ dispatcher, metrics, readRevision, perCaller });
}

/** Questions to clients of the older era, where a tool can ask them. HTTP+SSE asks in its sessions. */
function questionsOf({ transport, hosting: { dispatcher: { offer: { rounds } } } }: HttpParts): ClientQuestions | null {
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

/** An issuer may serve anybody, so a caller of it whose roles grant no reading reads no figures. */
const NO_METRICS = errorReply(httpError({ kind: "unauthorized", message: "Unauthorized" }));

const METRICS_USE: ToolUse = { group: "Read", tool: "/metrics", namespaceId: "unread" };

function metricsRoute(metrics: Metrics): Route {
  return {
    GET: ({ principal }): Promise<HttpReply> =>
      Promise.resolve(
        checkRole(principal.authMethod === "oauth", principal, METRICS_USE)?.allowed === false ? NO_METRICS : {
          status: 200,
          fields: { "content-type": "text/plain; version=0.0.4; charset=utf-8", "cache-control": "no-store" },
          body: metrics.render(principal),
        },
      ),
  };
}
