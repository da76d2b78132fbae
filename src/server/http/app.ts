/**
 * What every request of the HTTP transports passes before an endpoint sees it, in this order: health, header fields,
 * `Host` and `Origin`, correlation id, path and method, authentication, the rate of its sender.
 *
 * @module
 */

import type { CallOrigin } from "../../tools/framework/types.ts";
import type { AuditKind } from "../audit/types.ts";
import type { Authenticator } from "../auth/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Health } from "../process/health.ts";
import type { Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";
import { readCorrelation, readTraceparent } from "../process/trace.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import type { HostAndOriginChecks } from "./host_and_origin.ts";
import { peerKey } from "../audit/peers.ts";
import type { Admissions, Refusals } from "../audit/refusals.ts";
import { errorReply, type HttpError, httpError, type HttpReply, jsonReply } from "./reply.ts";
import type { HttpRequest } from "./request.ts";

/** What answers the authenticated requests to a path, by method. */
export type Route = Readonly<Partial<Record<RouteMethod, (incoming: AuthenticatedRequest) => Promise<HttpReply>>>>;

/** The methods that a path may answer. */
export type RouteMethod = "GET" | "POST" | "DELETE";

/** Turns a request away, and tells of it; `subject` is whom it is known to be of. */
type Refuse = (kind: AuditKind, reason: string, refusal: HttpError, subject?: string) => HttpReply;

/** Characters of the name of somebody who is not let in. */
const SUBJECT_CHARACTERS = 1024;

/** What the application needs. */
export interface AppOptions {
  readonly transport: "http" | "sse";
  readonly routes: ReadonlyMap<string, Route>;
  readonly names: HostAndOriginChecks;
  readonly authenticate: Authenticator;
  readonly limits: Limits;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly admissions: Admissions;
  readonly nextServerId: () => string;
  readonly log: Log;
}

/** Makes the application: it answers every request, and never rejects. */
export function createApp(options: AppOptions): (request: HttpRequest) => Promise<HttpReply> {
  return async (request) => {
    const start = performance.now();
    const serverId = options.nextServerId();
    const reply = await answer(options, request, serverId).catch((error) => {
      options.log("error", "Unexpected failure of a request", { correlation_id: serverId, detail: String(error) });
      return errorReply({
        status: 500,
        error: { kind: "internal", message: "Internal error", correlationId: serverId },
      });
    });
    options.metrics.answered(routeLabel(options, request), reply.status, performance.now() - start);
    return { ...reply, fields: { ...reply.fields, ...commonFields(options, request, serverId) } };
  };
}

function routeLabel(options: AppOptions, { path }: HttpRequest): string {
  return options.routes.has(path) || isHealthPath(path) ? path : "other";
}

/** Fields of every answer: ids, and for pages that the operator listed the leave to read it. */
function commonFields(options: AppOptions, { headers }: HttpRequest, serverId: string): Record<string, string> {
  const correlation = readCorrelation(headers.get("x-correlation-id"));
  const origin = headers.get("origin");
  return {
    "x-server-correlation-id": serverId,
    "x-content-type-options": "nosniff",
    ...(correlation.ok && correlation.id !== null ? { "x-correlation-id": correlation.id } : {}),
    ...(origin !== null && options.names.isListedOrigin(origin) ? readableBy(origin) : {}),
  };
}

function readableBy(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "retry-after, www-authenticate, x-correlation-id, x-server-correlation-id",
    vary: "origin",
  };
}

async function answer(options: AppOptions, request: HttpRequest, serverId: string): Promise<HttpReply> {
  const origin: CallOrigin = {
    transport: options.transport,
    peer_address: request.peerAddress,
    correlation_id: null,
    server_correlation_id: serverId,
    traceparent: readTraceparent(request.headers.get("traceparent")),
  };
  // A certificate was verified before there was a request.
  const verified = request.tls?.peer?.subject;
  const refuse: Refuse = (kind, reason, refusal, subject = verified) => {
    const name = subject?.slice(0, SUBJECT_CHARACTERS) ?? null;
    options.refusals.record({ kind, reason, subject: name, isStranger: true, origin });
    return errorReply(refusal);
  };
  const { headers } = request;
  if (isHealthPath(request.path)) {
    const isProbe = PROBE_METHODS.includes(request.method);
    return isProbe
      ? await answerHealth(options, request)
      : refuse("request", "method_not_allowed", notAllowed(PROBE_METHODS));
  }
  if (headers.repeated !== null) {
    const message = `Cannot read request: header field "${headers.repeated}" was sent twice`;
    return refuse("request", "header_field_repeated", { status: 400, error: { kind: "invalid_request", message } });
  }
  if (headers.get("host") === null) {
    const message = "Cannot read request: Host is missing";
    return refuse("request", "host_missing", { status: 400, error: { kind: "invalid_request", message } });
  }
  if (!options.names.host(headers.get("host"))) {
    return refuse("request", "host_not_allowed", forbidden("Host is not allowed"));
  }
  if (!options.names.origin(headers.get("origin"))) {
    return refuse("request", "origin_not_allowed", forbidden("Origin is not allowed"));
  }
  const correlation = readCorrelation(headers.get("x-correlation-id"));
  if (!correlation.ok) {
    const error: EdgeError = { kind: "invalid_correlation_id", message: "Invalid correlation id" };
    return refuse("request", `correlation_id_${correlation.reason}`, httpError(error));
  }
  return await dispatch(options, request, { ...origin, correlation_id: correlation.id }, refuse);
}

async function dispatch(
  options: AppOptions,
  request: HttpRequest,
  origin: CallOrigin,
  refuse: Refuse,
): Promise<HttpReply> {
  const route = options.routes.get(request.path);
  if (route === undefined) return refuse("request", "path_unknown", notFound());
  if (isListedPreflight(options, request)) return preflight(route);
  const endpoint = endpointOf(route, request.method);
  if (endpoint === undefined) return refuse("request", "method_not_allowed", notAllowed(Object.keys(route)));
  const authentication = options.authenticate({
    peerAddress: request.peerAddress,
    headers: request.headers,
    tls: request.tls,
  });
  if (!authentication.ok) {
    const slow = options.limits.turnAway(peerKey(request.peerAddress));
    const { status, kind, detail, challenge, subject } = authentication;
    if (slow !== null) return refuse("authentication", slow.kind, httpError(slow), subject);
    const message = kind === "unauthenticated" ? "Unauthenticated" : "Unauthorized";
    const fields = challenge === undefined ? {} : { "www-authenticate": challenge };
    return refuse("authentication", detail, { status, error: { kind, message }, fields }, subject);
  }
  const { principal } = authentication;
  options.admissions.record(principal, origin);
  const early = options.limits.count(principal.subject);
  const reply = early === null ? await endpoint({ request, principal, origin }) : errorReply(httpError(early));
  if (reply.refused !== undefined) {
    options.refusals.record({ kind: "request", reason: reply.refused, subject: principal.subject, origin });
  }
  return { ...reply, caller: principal.subject };
}

function endpointOf(route: Route, method: string): Route[RouteMethod] {
  return method === "GET" || method === "POST" || method === "DELETE" ? route[method] : undefined;
}

/** Whether a browser asks first for a page of a listed origin; any other page has no use for the answer. */
function isListedPreflight({ names }: AppOptions, { method, headers }: HttpRequest): boolean {
  const origin = headers.get("origin");
  return method === "OPTIONS" && origin !== null && names.isListedOrigin(origin);
}

/** Lets the pages of listed origins send what browsers ask about first. */
function preflight(route: Route): HttpReply {
  return {
    status: 204,
    fields: {
      "access-control-allow-methods": Object.keys(route).join(", "),
      "access-control-allow-headers":
        "accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, traceparent, x-correlation-id",
      "access-control-max-age": "600",
    },
    body: null,
  };
}

const PROBE_METHODS: readonly string[] = ["GET", "HEAD"];

function isHealthPath(path: string): boolean {
  return path === "/healthz" || path === "/readyz";
}

async function answerHealth(options: AppOptions, request: HttpRequest): Promise<HttpReply> {
  if (request.path === "/healthz") return jsonReply(200, '{"status":"ok"}');
  const reasons = await options.health.reasons();
  if (reasons.length === 0) return jsonReply(200, '{"status":"ready"}');
  return jsonReply(503, JSON.stringify({ status: "not_ready", reasons }));
}

function forbidden(message: string): HttpError {
  return { status: 403, error: { kind: "unauthorized", message } };
}

function notFound(): HttpError {
  return { status: 404, error: { kind: "invalid_request", message: "No such path" } };
}

function notAllowed(methods: readonly string[]): HttpError {
  const fields = { allow: methods.join(", ") };
  return { status: 405, error: { kind: "invalid_request", message: "Method not allowed" }, fields };
}
