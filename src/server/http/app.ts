/**
 * Checks every request of the HTTP transports before an endpoint handles it, in this order: health, header fields,
 * `Host` and `Origin`, correlation id, path and method, authentication, rate limit.
 */

import type { CallOrigin } from "../../tools/framework/types.ts";
import type { AuditKind } from "../audit/types.ts";
import type { Authentication, AuthRequest } from "../auth/types.ts";
import type { EdgeError } from "../process/edge_error.ts";
import type { Health } from "../process/health.ts";
import type { Limits } from "../process/limits.ts";
import type { Log } from "../process/log.ts";
import type { Metrics } from "../process/metrics.ts";
import { type CorrelationReading, readCorrelation, readTraceparent } from "../process/trace.ts";
import type { AuthenticatedRequest } from "./authenticated_request.ts";
import type { PublicPage } from "./console_pages.ts";
import type { HostAndOriginChecks } from "./host_and_origin.ts";
import { peerKey } from "../audit/peers.ts";
import type { Admissions, Refusals } from "../audit/refusals.ts";
import { errorReply, type HttpError, httpError, type HttpReply, jsonReply } from "./reply.ts";
import type { HttpRequest } from "./request.ts";

/** The handlers of a path, by method. */
export type Route = Readonly<Partial<Record<RouteMethod, (incoming: AuthenticatedRequest) => Promise<HttpReply>>>>;

/** The methods that a path may handle. */
export type RouteMethod = "GET" | "POST" | "DELETE";

/** Rejects a request and records that; `subject` is its verified sender. */
type Reject = (kind: AuditKind, reason: string, error: HttpError, subject?: string) => HttpReply;

/** The fixed text that a rejected client receives. */
const REJECTIONS = {
  unauthenticated: "Unauthenticated",
  unauthorized: "Unauthorized",
  request_too_large: "Cannot read Authorization: it is too long",
  unavailable: "Cannot check the token: the keys of its issuer are not available",
};

/** The most characters of a rejected subject in the audit log. */
const SUBJECT_CHARACTERS = 1024;

/** The options of the application. */
export interface AppOptions {
  readonly transport: "http" | "sse";
  readonly routes: ReadonlyMap<string, Route>;
  /** Pages that need no credential, by path; absent for none. */
  readonly pages?: ReadonlyMap<string, PublicPage>;
  readonly names: HostAndOriginChecks;
  readonly authenticate: (request: AuthRequest) => Authentication | Promise<Authentication>;
  readonly limits: Limits;
  readonly health: Health;
  readonly metrics: Metrics;
  readonly refusals: Refusals;
  readonly admissions: Admissions;
  readonly nextServerId: () => string;
  readonly log: Log;
}

/** Makes the application. Its promises never reject. */
export function createApp(options: AppOptions): (request: HttpRequest) => Promise<HttpReply> {
  return async (request) => {
    const start = performance.now();
    const serverId = options.nextServerId();
    const correlation = readCorrelation(request.headers.get("x-correlation-id"));
    const reply = await answer(options, request, serverId, correlation).catch((error) => {
      options.log("error", "Unexpected failure of a request", { correlation_id: serverId, detail: String(error) });
      return errorReply({
        status: 500,
        error: { kind: "internal", message: "Internal error", correlationId: serverId },
      });
    });
    options.metrics.answered(routeLabel(options, request), reply.status, performance.now() - start);
    return { ...reply, fields: commonFields(options, request, reply, serverId, correlation) };
  };
}

function routeLabel(options: AppOptions, { path }: HttpRequest): string {
  return options.routes.has(path) || options.pages?.has(path) === true || isHealthPath(path) ? path : "other";
}

/** The fields of a reply with those of every one: ids and, for origins that the operator listed, CORS permission. */
function commonFields(
  options: AppOptions,
  { headers }: HttpRequest,
  reply: HttpReply,
  serverId: string,
  correlation: CorrelationReading,
): Readonly<Record<string, string>> {
  const origin = headers.get("origin");
  const fields: Record<string, string> = { ...reply.fields };
  fields["x-server-correlation-id"] = serverId;
  fields["x-content-type-options"] = "nosniff";
  if (correlation.ok && correlation.id !== null) fields["x-correlation-id"] = correlation.id;
  return origin !== null && options.names.isListedOrigin(origin) ? { ...fields, ...readableBy(origin) } : fields;
}

function readableBy(origin: string): Record<string, string> {
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers":
      "mcp-session-id, retry-after, www-authenticate, x-correlation-id, x-server-correlation-id",
    vary: "origin",
  };
}

async function answer(
  options: AppOptions,
  request: HttpRequest,
  serverId: string,
  correlation: CorrelationReading,
): Promise<HttpReply> {
  const origin: CallOrigin = {
    transport: options.transport,
    peer_address: request.peerAddress,
    correlation_id: null,
    server_correlation_id: serverId,
    traceparent: readTraceparent(request.headers.get("traceparent")),
  };
  // TLS verified the certificate before the request.
  const verified = request.tls?.peer?.subject;
  const reject: Reject = (kind, reason, error, subject = verified) => {
    const name = subject?.slice(0, SUBJECT_CHARACTERS) ?? null;
    options.refusals.record({ kind, reason, subject: name, isStranger: true, origin });
    return errorReply(error);
  };
  const { headers } = request;
  if (isHealthPath(request.path)) {
    const isProbe = PROBE_METHODS.includes(request.method);
    return isProbe
      ? await answerHealth(options, request)
      : reject("request", "method_not_allowed", notAllowed(PROBE_METHODS));
  }
  if (headers.repeated !== null) {
    const message = `Cannot read request: header field "${headers.repeated}" was sent twice`;
    return reject("request", "header_field_repeated", { status: 400, error: { kind: "invalid_request", message } });
  }
  if (headers.get("host") === null) {
    const message = "Cannot read request: Host is missing";
    return reject("request", "host_missing", { status: 400, error: { kind: "invalid_request", message } });
  }
  if (!options.names.host(headers.get("host"))) {
    return reject("request", "host_not_allowed", forbidden("Host is not allowed"));
  }
  if (!options.names.origin(headers.get("origin"), headers.get("host"))) {
    return reject("request", "origin_not_allowed", forbidden("Origin is not allowed"));
  }
  if (!correlation.ok) {
    const error: EdgeError = { kind: "invalid_correlation_id", message: "Invalid correlation id" };
    return reject("request", `correlation_id_${correlation.reason}`, httpError(error));
  }
  return await dispatch(options, request, { ...origin, correlation_id: correlation.id }, reject);
}

async function dispatch(
  options: AppOptions,
  request: HttpRequest,
  origin: CallOrigin,
  reject: Reject,
): Promise<HttpReply> {
  const page = options.pages?.get(request.path);
  if (page !== undefined) {
    if (isListedPreflight(options, request)) return preflight(PROBE_METHODS);
    const isRead = PROBE_METHODS.includes(request.method);
    return isRead ? page(request) : reject("request", "method_not_allowed", notAllowed(PROBE_METHODS));
  }
  const route = options.routes.get(request.path);
  if (route === undefined) return reject("request", "path_unknown", notFound());
  if (isListedPreflight(options, request)) return preflight(Object.keys(route));
  const endpoint = endpointOf(route, request.method);
  if (endpoint === undefined) return reject("request", "method_not_allowed", notAllowed(Object.keys(route)));
  const authentication = await options.authenticate(request);
  if (!authentication.ok) {
    const slow = options.limits.turnAway(peerKey(request.peerAddress));
    const { status, kind, detail, challenge, subject } = authentication;
    if (slow !== null) return reject("authentication", slow.kind, httpError(slow), subject);
    const fields = challenge === undefined ? {} : { "www-authenticate": challenge };
    return reject("authentication", detail, { status, error: { kind, message: REJECTIONS[kind] }, fields }, subject);
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

/** Whether a request is a CORS preflight of a listed origin. */
function isListedPreflight({ names }: AppOptions, { method, headers }: HttpRequest): boolean {
  const origin = headers.get("origin");
  return method === "OPTIONS" && origin !== null && names.isListedOrigin(origin);
}

/** The reply to a CORS preflight. */
function preflight(methods: readonly string[]): HttpReply {
  return {
    status: 204,
    fields: {
      "access-control-allow-methods": methods.join(", "),
      "access-control-allow-headers":
        "accept, authorization, content-type, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id, traceparent, " +
        "x-correlation-id",
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
