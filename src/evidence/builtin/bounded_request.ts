/**
 * One bounded GET request of `http` or `rest`. The URL is checked and resolved once; a worker that may connect to the checked
 * address only sends the request.
 *
 * @module
 */

import { hostKey } from "../../config/host_name.ts";
import type { BuiltinProviderConfig } from "../../config/types.ts";
import { type Destination, type EgressPolicy, resolveDestination } from "../egress/destination.ts";
import type { PinnedAnswer, PinnedQuestion, PinnedResponse } from "../egress/pinned_request.ts";
import { untilAborted } from "../egress/until_aborted.ts";
import type { WorkerPermissions } from "../sandbox/worker_host.ts";
import { createWorkerPool, type WorkerPool } from "../sandbox/worker_pool.ts";
import type { ProviderDependencies } from "./engine.ts";
import { addressPermissions } from "./permissions.ts";
import { type Failure, workerFailure } from "./result.ts";

/** Workers that are kept, one for each address. */
const WORKERS_MAXIMUM = 8;
/** Requests in flight of one worker. */
const CONCURRENCY = 256;
/** Milliseconds after the time limit at which a worker that did not cancel its request is ended. */
const GRACE_MILLIS = 1000;

/** Policy and workers that send the requests of one provider. */
export interface Requester {
  readonly policy: EgressPolicy;
  readonly config: BuiltinProviderConfig<"http">;
  readonly pool: WorkerPool;
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
    setup: null,
    concurrency: CONCURRENCY,
    workersMaximum: WORKERS_MAXIMUM,
    limits: dependencies.workerLimits,
  });
  return { policy: egressPolicy(config), config, pool, dependencies };
}

/** The egress policy of a provider's configuration. */
export function egressPolicy(config: BuiltinProviderConfig<"http">): EgressPolicy {
  const hosts = config.allowed_hosts?.map((host) => hostKey(host) ?? host);
  return {
    allowHttp: config.allow_http,
    allowPrivateNetworks: config.allow_private_networks,
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
 * Starts the worker of a grant; its start does not count towards the limit. A failed start is reported by the question that
 * follows.
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
  outgoing: OutgoingRequest,
  limit: TimeLimit,
): Promise<PinnedResponse | Failure> {
  const { destination } = outgoing;
  let addresses: readonly string[];
  try {
    const found = await resolveDestination(
      destination,
      requester.policy,
      requester.dependencies.resolver,
      limit.signal,
    );
    if ("code" in found) return found;
    addresses = found;
  } catch {
    return ended(limit, destination);
  }
  let failure: Failure = { code: "connection_failed", message: `Cannot ask "${destination.host}"` };
  for (const [index, address] of addresses.entries()) {
    await startWorker(requester.pool, addressPermissions(address, outgoing.destination.port), limit);
    const connectMillis = Math.ceil(limit.left() / (addresses.length - index));
    const answer = await send(requester, outgoing, address, connectMillis, limit);
    if (answer.ok) return answer.response;
    failure = answer;
    if (limit.signal.aborted) return ended(limit, destination);
    if (!answer.unsent || (answer.code !== "connection_failed" && answer.code !== "timeout")) break;
  }
  return { code: failure.code, message: failure.message };
}

async function send(
  requester: Requester,
  { destination, headers, wantsBody }: OutgoingRequest,
  address: string,
  connectMillis: number,
  limit: TimeLimit,
): Promise<PinnedAnswer> {
  const { secure, host, authority, port, target } = destination;
  const question: PinnedQuestion = {
    secure,
    host,
    authority,
    port,
    target,
    address,
    headers,
    wantsBody,
    maximumBytes: requester.config.max_response_bytes,
    connectMillis,
    authorities: requester.dependencies.authorities,
  };
  const reply = await requester.pool.ask<PinnedAnswer>(addressPermissions(address, port), question, {
    limitMillis: limit.left() + GRACE_MILLIS,
    signal: limit.signal,
  });
  return reply.ok ? reply.answer : { ok: false, ...workerFailure(reply), unsent: false };
}

/** The failure for an aborted limit: timeout or cancellation. */
export function ended(limit: TimeLimit, { host }: Destination): Failure {
  return limit.isOver()
    ? { code: "timeout", message: `Cannot ask "${host}": the time is over` }
    : { code: "cancelled", message: `Cannot ask "${host}": the query was cancelled` };
}
