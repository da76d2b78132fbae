/**
 * One bounded request. The host is checked and resolved once; a worker that may connect to the checked addresses only
 * sends the request.
 */

import { hostKey } from "../../config/host_name.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import { type Destination, type EgressPolicy, resolveDestination, type Resolver } from "../egress/destination.ts";
import type { PinnedFailure, PinnedQuestion, PinnedResponse } from "../egress/pinned_request.ts";
import { untilAborted } from "../../config/until_aborted.ts";
import type { WorkerPermissions } from "../sandbox/worker_host.ts";
import { createWorkerPool, type WorkerPool } from "../sandbox/worker_pool.ts";
import type { GivenSources, ProviderDependencies } from "./engine.ts";
import { addressPermissions } from "./permissions.ts";
import { type Failure, workerFailure } from "./result.ts";

/** Workers that are kept, one for each address. */
const WORKERS_MAXIMUM = 8;
/** Requests in flight of one worker. */
const CONCURRENCY = 256;
/** Milliseconds after the time limit at which a worker that did not cancel its request is ended. */
const GRACE_MILLIS = 1000;

/** How to reach the addresses of a host: the policy on them, and the workers that connect to them. */
export interface HostAccess {
  readonly policy: EgressPolicy;
  readonly resolver: Resolver;
  readonly pool: WorkerPool;
  /** The permissions of the worker that connects to one of the host's checked addresses. */
  readonly permissions: (addresses: readonly string[], address: string, port: number) => WorkerPermissions;
}

/** Policy and workers that send the requests of one provider. */
export interface Requester extends HostAccess {
  readonly config: BuiltinProviderConfig<"http">;
  readonly dependencies: ProviderDependencies;
}

/** A request to send. */
export interface OutgoingRequest {
  readonly destination: Destination;
  readonly headers: PinnedQuestion["headers"];
  readonly wantsBody: boolean;
}

/** The time limit of one check, over all of its steps. */
export interface TimeLimit {
  /** Aborted when the time is over or the query is cancelled. */
  readonly signal: AbortSignal;
  /** Milliseconds left, at least 0. */
  readonly left: () => number;
  readonly isOver: () => boolean;
  /** Suspends the limit until the returned function is called or the query is cancelled. */
  readonly pause: () => () => void;
  readonly end: () => void;
}

/** Creates the requester of a provider. */
export function createRequester(
  name: string,
  config: BuiltinProviderConfig<"http">,
  dependencies: ProviderDependencies,
): Requester {
  const pool = createWorkerPool({
    name,
    module: new URL("./request_worker.ts", import.meta.url),
    concurrency: CONCURRENCY,
    workersMaximum: WORKERS_MAXIMUM,
    limits: dependencies.workerLimits,
  });
  const { resolver } = dependencies;
  const permissions: Requester["permissions"] = (_, address, port) => addressPermissions([address], port);
  return { policy: egressPolicy(config), resolver, config, pool, permissions, dependencies };
}

/** The egress policy of a provider's configuration. */
export function egressPolicy(config: BuiltinProviderConfig<"http">): EgressPolicy {
  const hosts = config.allowed_hosts?.map((host) => hostKey(host) ?? host);
  return {
    allowHttp: config.allow_http,
    allowPrivateNetworks: config.allow_private_networks,
    privateSetting: "config.allow_private_networks",
    allowedHosts: hosts === undefined ? null : new Set(hosts),
  };
}

/** The longest timeout of a timer; a longer one would fire at once. */
const LONGEST_MILLIS = 2 ** 31 - 1;

/** Starts the time limit of a check; the caller has to end it. */
export function startTimeLimit(maximum: number, signal: AbortSignal): TimeLimit {
  const millis = Math.min(maximum, LONGEST_MILLIS);
  const controller = new AbortController();
  let until = performance.now() + millis;
  let over = false;
  const expire = (): void => {
    over = true;
    controller.abort();
  };
  let timer = setTimeout(expire, millis);
  const abort = (): void => controller.abort();
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) controller.abort();
  return {
    signal: controller.signal,
    left: () => Math.max(0, until - performance.now()),
    isOver: () => over,
    pause(): () => void {
      clearTimeout(timer);
      const left = Math.max(0, until - performance.now());
      until = Infinity;
      return () => {
        until = performance.now() + left;
        timer = setTimeout(expire, left);
      };
    },
    end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

/**
 * Starts the worker of a grant; its start does not count towards the limit. A failed start is reported by the question
 * that follows.
 */
export async function startWorker(pool: WorkerPool, permissions: WorkerPermissions, limit: TimeLimit): Promise<void> {
  const resume = limit.pause();
  try {
    await untilAborted(pool.start(permissions), limit.signal);
  } catch {
    // Aborted: the question that follows reports it.
  } finally {
    resume();
  }
}

/** Sends the request to the host's addresses in order until one accepts the connection. Never rejects. */
export async function sendRequest(
  requester: Requester,
  { destination, headers, wantsBody }: OutgoingRequest,
  limit: TimeLimit,
): Promise<PinnedResponse | Failure> {
  const { secure, host, authority, port, target } = destination;
  const { given } = requester.dependencies;
  if (given !== null) return givenResponse(given, destination, wantsBody);
  return await askHost<PinnedResponse>(requester, destination, limit, (address, connectMillis): PinnedQuestion => ({
    secure,
    host,
    authority,
    port,
    method: "GET",
    target,
    address,
    headers,
    body: null,
    wantsBody,
    maximumBytes: requester.config.max_response_bytes,
    connectMillis,
    authorities: requester.dependencies.authorities,
    client: null,
  }));
}

function givenResponse(given: GivenSources, { href }: Destination, wantsBody: boolean): PinnedResponse | Failure {
  const found = given.answer(href);
  if (found === undefined) return { code: "connection_failed", message: `No answer is given for ${href}` };
  return { ...found, body: wantsBody ? found.body.slice() : new Uint8Array() };
}

/** What a worker replies to a question that connects to one address. */
export type AddressReply<Response> = { readonly ok: true; readonly response: Response } | PinnedFailure;

/**
 * Asks a worker to connect to the host's addresses, in order, until one accepts the connection. Never rejects.
 *
 * @param questionFor The question for one address, with the milliseconds to connect
 */
export async function askHost<Response extends object>(
  access: HostAccess,
  destination: Pick<Destination, "host" | "port">,
  limit: TimeLimit,
  questionFor: (address: string, connectMillis: number) => unknown,
): Promise<Response | Failure> {
  const { host, port } = destination;
  let addresses: readonly string[];
  try {
    const found = await resolveDestination(destination, access.policy, access.resolver, limit.signal);
    if ("code" in found) return found;
    addresses = found;
  } catch {
    return ended(limit, destination);
  }
  let failure: Failure = { code: "connection_failed", message: `Cannot ask "${host}"` };
  for (const [index, address] of addresses.entries()) {
    const permissions = access.permissions(addresses, address, port);
    await startWorker(access.pool, permissions, limit);
    const connectMillis = Math.ceil(limit.left() / (addresses.length - index));
    const reply = await access.pool.ask<AddressReply<Response>>(permissions, questionFor(address, connectMillis), {
      limitMillis: limit.left() + GRACE_MILLIS,
      signal: limit.signal,
    });
    const answer = reply.ok ? reply.answer : { ok: false as const, ...workerFailure(reply), unsent: false };
    if (answer.ok) return answer.response;
    failure = answer;
    if (limit.signal.aborted) return ended(limit, destination);
    if (!answer.unsent || (answer.code !== "connection_failed" && answer.code !== "timeout")) break;
  }
  return { code: failure.code, message: failure.message };
}

/** The failure for an aborted limit: timeout or cancellation. */
export function ended(limit: TimeLimit, { host }: Pick<Destination, "host">): Failure {
  return limit.isOver()
    ? { code: "timeout", message: `Cannot ask "${host}": the time is over` }
    : { code: "cancelled", message: `Cannot ask "${host}": the query was cancelled` };
}
