/**
 * Posts to one host. The host is resolved and checked for each request; a worker that may connect to the checked
 * address only sends it.
 */

import { isLoopbackHost } from "../../config/postgres_address.ts";
import { hostKey } from "../../config/host_name.ts";
import {
  checkDestination,
  type Destination,
  type EgressPolicy,
  resolveDestination,
  systemResolver,
} from "../egress/destination.ts";
import type { PinnedQuestion, PinnedResponse } from "../egress/pinned_request.ts";
import { createWorkerPool } from "../sandbox/worker_pool.ts";
import { askHost, startTimeLimit } from "./bounded_request.ts";
import { addressPermissions } from "./permissions.ts";
import type { Failure } from "./result.ts";

/** Milliseconds for the names of a host. */
const RESOLVE_MILLIS = 5_000;

/** What is posted. */
export interface Post {
  /** All headers except Host, in order. */
  readonly headers: PinnedQuestion["headers"];
  readonly body: string;
}

/** Posts to one address. */
export interface Poster {
  /** The status and the headers of the answer; its body is not read. Never rejects. */
  readonly post: (post: Post, signal: AbortSignal) => Promise<PinnedResponse | Failure>;
  readonly close: () => void;
}

/** The options of a poster. */
export interface PosterOptions {
  /** `https`, or `http` to this machine. */
  readonly url: string;
  /** Milliseconds for one request. */
  readonly requestMillis: number;
  /** Requests in flight. */
  readonly concurrency: number;
}

/**
 * The policy for an address that the operator names: that host alone, and addresses of this machine only where the name
 * says so.
 */
function postingPolicy(url: string): EgressPolicy {
  const host = hostKey(new URL(url).hostname) ?? "";
  const isLocal = isLoopbackHost(host);
  return { allowHttp: isLocal, allowPrivateNetworks: isLocal, allowedHosts: new Set([host]) };
}

/** Resolves the host of an address that may be posted to; the fault says why gate would not post to it. */
export async function checkReceiverHost(
  url: string,
): Promise<{ readonly host: string; readonly fault: string | null }> {
  const { host } = new URL(url);
  const policy = postingPolicy(url);
  const destination = checkDestination(url, policy);
  if (destination === null) return { host, fault: `Cannot ask host "${host}"` };
  if ("code" in destination) return { host, fault: destination.message };
  const found = await resolveDestination(destination, policy, systemResolver, AbortSignal.timeout(RESOLVE_MILLIS))
    .catch(() => null);
  if (found === null) return { host, fault: `Cannot resolve host "${host}" in time` };
  return { host, fault: "code" in found ? found.message : null };
}

/**
 * Makes a poster; its worker starts with the first request.
 *
 * @throws {TypeError} Where the address is not one that may be posted to
 */
export function createPoster({ url, requestMillis, concurrency }: PosterOptions): Poster {
  const policy = postingPolicy(url);
  const checked = checkDestination(url, policy);
  if (checked === null || "code" in checked) throw new TypeError("Cannot post: the address is refused");
  const destination: Destination = checked;
  const pool = createWorkerPool({
    name: "gate-notify",
    module: new URL("./request_worker.ts", import.meta.url),
    concurrency,
  });
  const access = {
    policy,
    resolver: systemResolver,
    pool,
    permissions: (_: readonly string[], address: string, port: number) => addressPermissions([address], port),
  };
  const { secure, host, authority, port, target } = destination;
  return {
    post: async ({ headers, body }, signal) => {
      const limit = startTimeLimit(requestMillis, signal);
      try {
        return await askHost<PinnedResponse>(access, destination, limit, (address, connectMillis): PinnedQuestion => ({
          ...{ secure, host, authority, port, method: "POST", target, address, headers },
          body: new TextEncoder().encode(body),
          wantsBody: false,
          maximumBytes: 0,
          connectMillis,
          authorities: null,
          client: null,
        }));
      } finally {
        limit.end();
      }
    },
    close: pool.close,
  };
}
