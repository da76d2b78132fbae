/** The host side of the provider `rest`. */

import { canonicalize } from "../../canonical/canonicalize.ts";
import { type JsonObject, member } from "../../canonical/json.ts";
import type { BuiltinProviderEntry } from "../../config/types.ts";
import { isJsonContentType } from "../../law/content_type.ts";
import { checkDestination, type Destination, type EgressPolicy } from "../egress/destination.ts";
import type { PinnedResponse } from "../egress/pinned_request.ts";
import { HOST_PRIMITIVES } from "../host_primitives.ts";
import { createWorkerPool, type WorkerPool } from "../sandbox/worker_pool.ts";
import type { EvidenceQuery, ProviderAnswer } from "../types.ts";
import type { Engine, ProviderDependencies } from "./engine.ts";
import {
  createRequester,
  ended,
  type Requester,
  sendRequest,
  startTimeLimit,
  startWorker,
  type TimeLimit,
} from "./bounded_request.ts";
import { hostGrant } from "./http_provider.ts";
import type { Selection } from "../json_path/json_path.ts";
import { JSONPATH_CHARACTERS_MAXIMUM } from "./limits.ts";
import { describeGrant, NO_PERMISSIONS } from "./permissions.ts";
import { baseHeaders, headerValue, refuseEncoding } from "./response.ts";
import {
  type ConfiguredHeaders,
  configuredHeaders,
  describeHeaders,
  isHeaderName,
  queryHeaders,
} from "./rest_headers.ts";
import {
  answered,
  failed,
  type Failure,
  type Finding,
  invalidParams,
  observed,
  paramsOf,
  readText,
  type Source,
  workerFailure,
} from "./result.ts";
import { selectInBody, type SelectQuestion } from "./select_body.ts";

interface RestEngine {
  readonly requester: Requester;
  readonly selector: WorkerPool;
  readonly configured: ConfiguredHeaders;
  readonly userAgent: string;
}

/** A query with valid params. */
export interface RestRequest {
  readonly destination: Destination;
  readonly own: readonly (readonly [string, string])[];
  /** Set for `json_path`. */
  readonly jsonpath: string | null;
  /** Set for `header`. */
  readonly headerName: string;
}

/**
 * The provider `rest`. A separate worker without permissions parses bodies, so that a body is never parsed beside a
 * connection or a credential.
 *
 * @throws {ProviderSetupError} Where the configuration cannot be used
 */
export function createRestEngine(entry: BuiltinProviderEntry<"rest">, dependencies: ProviderDependencies): Engine {
  const engine: RestEngine = {
    configured: configuredHeaders(entry.config, dependencies),
    requester: createRequester("gate-rest", entry.config, dependencies),
    selector: createWorkerPool({
      name: "gate-rest-body",
      module: new URL("./select_worker.ts", import.meta.url),
      limits: dependencies.workerLimits,
    }),
    userAgent: entry.config.user_agent,
  };
  return {
    answer: async (query, _context, signal): Promise<ProviderAnswer> => {
      const request = decodeRequest(engine.configured, engine.requester.policy, query);
      if ("error" in request) return answered(request, null, describeGrant({}));
      if ("code" in request) return failed(request);
      const limit = startTimeLimit(entry.config.timeout_ms, signal);
      try {
        return await run(engine, request, limit);
      } finally {
        limit.end();
      }
    },
    close(): void {
      engine.requester.pool.close();
      engine.selector.close();
    },
  };
}

/** Decodes a query; returns an error or a failure where the request cannot be sent. */
export function decodeRequest(
  configured: ConfiguredHeaders,
  policy: EgressPolicy,
  query: EvidenceQuery,
): RestRequest | Failure | Extract<Finding, { error: unknown }> {
  const isJson = query.check_id === "json_path";
  const given = paramsOf(query, ["url", isJson ? "jsonpath" : "header_name", "headers"], true);
  if ("error" in given) return given;
  const url = readText(given.params, "url");
  if (typeof url !== "string") return url;
  const wanted = readText(given.params, isJson ? "jsonpath" : "header_name");
  if (typeof wanted !== "string") return wanted;
  if (!isJson && !isHeaderName(wanted)) return invalidParams("header_name", 'a header name as "header_name"');
  if (isJson && wanted.length > JSONPATH_CHARACTERS_MAXIMUM) {
    return invalidParams("jsonpath", `at most ${JSONPATH_CHARACTERS_MAXIMUM} characters of "jsonpath"`);
  }
  const headers = queryHeaders(member(given.params, "headers"), configured);
  if ("error" in headers) return headers;
  const destination = checkDestination(url, policy);
  if (destination === null) return invalidParams("url", 'an absolute URL as "url"');
  if ("code" in destination) return destination;
  return { destination, own: headers.headers, jsonpath: isJson ? wanted : null, headerName: wanted };
}

async function run(engine: RestEngine, request: RestRequest, limit: TimeLimit): Promise<ProviderAnswer> {
  const { destination, jsonpath } = request;
  const outgoing = { destination, headers: headersOf(engine, request), wantsBody: jsonpath !== null };
  const response = await sendRequest(engine.requester, outgoing, limit);
  if ("code" in response) return failed(response);
  const source = sourceOf(engine, request, response);
  const finding = jsonpath === null
    ? findHeader(response, request.headerName)
    : await findInBody(engine, request, response, jsonpath, limit);
  if ("code" in finding) return failed(finding);
  return answered(finding, source, hostGrant(destination));
}

/** The request's headers; an `Accept` of the configuration or the query replaces the default. */
function headersOf({ configured, userAgent }: RestEngine, { own, jsonpath }: RestRequest): RestRequest["own"] {
  const given = [...configured.headers, ...own];
  const accept = jsonpath === null ? "*/*" : "application/json, application/*+json";
  const base = baseHeaders(userAgent, accept);
  const hasAccept = given.some(([name]) => name.toLowerCase() === "accept");
  return [...hasAccept ? base.filter(([name]) => name !== "Accept") : base, ...given];
}

/**
 * Finds a header of a response. A header that is present counts at any status. An absent one counts at a 2xx status
 * only: a redirect or an error page shows nothing about the headers of the resource.
 */
function findHeader(response: PinnedResponse, name: string): Finding {
  const value = headerValue(response, name);
  if (value !== null) return { found: canonicalize(value), content_type: "text/plain" };
  const { status } = response;
  if (isSuccessful(status)) return { found: null };
  const message = `Header "${name}" is absent from a response with status ${status}, expected a status of 200 to 299`;
  return observed("status_unexpected", message, { status });
}

async function findInBody(
  engine: RestEngine,
  { destination }: RestRequest,
  response: PinnedResponse,
  jsonpath: string,
  limit: TimeLimit,
): Promise<Finding | Failure> {
  const refusal = refuseStatus(response) ?? refuseContentType(response) ?? refuseEncoding(response);
  if (refusal !== null) return refusal;
  const { body } = response;
  const question: SelectQuestion = { body, jsonpath, url: destination.href };
  if (engine.requester.dependencies.given !== null) return findingOf(selectInBody(question));
  await startWorker(engine.selector, NO_PERMISSIONS, limit);
  const reply = await engine.selector.ask<Selection>(NO_PERMISSIONS, question, {
    // Only terminating the worker stops a query that never ends.
    limitMillis: Math.max(1, limit.left()),
    signal: limit.signal,
    transfer: [body.buffer],
  });
  if (!reply.ok) return limit.signal.aborted ? ended(limit, destination) : workerFailure(reply);
  return findingOf(reply.answer);
}

function findingOf(selection: Selection): Finding {
  return "error" in selection ? selection : { found: selection.found, content_type: "application/json" };
}

function refuseStatus({ status }: PinnedResponse): Finding | null {
  if (isSuccessful(status)) return null;
  return observed("status_not_successful", `Expected a status of 200 to 299, got ${status}`, { status });
}

function isSuccessful(status: number): boolean {
  return status >= 200 && status <= 299;
}

function refuseContentType(response: PinnedResponse): Finding | null {
  const contentType = headerValue(response, "content-type");
  if (contentType !== null && isJsonContentType(contentType)) return null;
  const message = "Expected content type application/json or one that ends in +json";
  return observed("content_type_invalid", message, { content_type: contentType?.slice(0, 256) ?? null });
}

/** The source in evidence: the request, with the values of the configuration redacted. */
function sourceOf(engine: RestEngine, { destination, own, jsonpath }: RestRequest, response: PinnedResponse): Source {
  const { href } = destination;
  const anchor: JsonObject = {
    method: "GET",
    url: href,
    headers: describeHeaders(engine.configured, own),
    status: response.status,
    ...jsonpath === null
      ? {}
      : { hash_algorithm: engine.requester.config.hash_algorithm, body_hash: HOST_PRIMITIVES.sha256(response.body) },
  };
  return { anchor_type: "rest_request", anchor, uri: href };
}
