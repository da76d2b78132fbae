/**
 * The namespace authority over HTTP: `GET {base_url}/v1/write/namespaces/{id}`, within limits of time and size, without
 * following redirects. Every response that is not listed in {@link ANSWERS} counts as unavailable.
 */

import http from "node:http";
import https from "node:https";
import { checkServerIdentity } from "node:tls";
import { type HostLookup, isLookedUp, lookUpHost } from "../config/host_lookup.ts";
import { byAlternativeNames } from "../config/server_identity.ts";
import type { LedgerConfig } from "../config/types.ts";
import type { NamespaceAnswer, NamespaceAuthority } from "./types.ts";

/** Grants by namespace. */
interface GrantCache {
  readonly has: (id: number) => boolean;
  /** @param from Instant on the clock, in milliseconds, at which the lifetime begins */
  readonly add: (id: number, from: number) => void;
}

/**
 * A cache of grants; a full cache evicts the oldest grant.
 *
 * @param lifetime Milliseconds for which a grant is valid
 * @param maximum Grants at one time
 * @param now A clock in milliseconds that never goes back
 */
export function createGrantCache(lifetime: number, maximum: number, now: () => number): GrantCache {
  // Insertion order, oldest first.
  const grants = new Map<number, number>();
  return {
    has: (id) => {
      const from = grants.get(id);
      if (from === undefined) return false;
      if (now() - from < lifetime) return true;
      grants.delete(id);
      return false;
    },
    add: (id, from) => {
      grants.delete(id);
      const oldest = grants.keys().next();
      if (grants.size >= maximum && !oldest.done) grants.delete(oldest.value);
      grants.set(id, from);
    },
  };
}

/** Bytes of a response body; a longer body makes the response invalid. */
export const LEDGER_BODY_BYTES = 64 * 1024;

/** Bytes of a response's header section. */
const HEADER_BYTES = 16 * 1024;

/** Milliseconds for which a grant is cached, and so the longest delay until a revocation takes effect. */
export const GRANT_MILLISECONDS = 5_000;

/** Namespaces whose grant is cached. */
const GRANTS_MAXIMUM = 1024;

/** The answer for each status. */
const ANSWERS: ReadonlyMap<number, NamespaceAnswer> = new Map<number, NamespaceAnswer>([
  [200, { verdict: "granted", reason: "authority_grants" }],
  [401, { verdict: "refused", reason: "authority_not_authorized" }],
  [403, { verdict: "refused", reason: "authority_not_authorized" }],
  [404, { verdict: "refused", reason: "authority_not_found" }],
]);

/** The reason for an unavailable answer, as the audit log shows it. */
type Outage =
  | "authority_status"
  | "authority_connect_timeout"
  | "authority_request_timeout"
  | "authority_body_too_large"
  | "authority_body_truncated"
  | "authority_connection_failed"
  | "authority_not_permitted";

class LedgerOutage extends Error {
  override readonly name = "LedgerOutage";
  readonly outage: Outage;
  /** The connection was reused and nothing was read from it, so a retry is safe. */
  readonly stale: boolean;

  constructor(outage: Outage, stale = false) {
    super(outage);
    this.outage = outage;
    this.stale = stale;
  }
}

/**
 * An authority that asks a ledger. Grants are cached for {@link GRANT_MILLISECONDS}; refusals and outages are not
 * cached. Concurrent questions for one namespace share one request.
 *
 * @param config `namespace.authority.ledger`
 * @param now A clock in milliseconds that never goes back
 */
export function connectLedger(
  config: LedgerConfig,
  now: () => number = () => performance.now(),
  lookUp: HostLookup = lookUpHost,
): NamespaceAuthority {
  const url = new URL(config.base_url);
  const base = url.pathname.replace(/\/+$/, "");
  const agent = new (url.protocol === "https:" ? https : http).Agent({
    keepAlive: true,
    maxSockets: 64,
    checkServerIdentity: byAlternativeNames(checkServerIdentity),
  });
  const grants = createGrantCache(GRANT_MILLISECONDS, GRANTS_MAXIMUM, now);
  const pending = new Map<number, Promise<NamespaceAnswer>>();

  const request = async (namespaceId: number, correlationId: string | null): Promise<NamespaceAnswer> => {
    const target = new URL(url);
    target.pathname = `${base}/v1/write/namespaces/${namespaceId}`;
    const headers = headersOf(config, correlationId);
    const fetchOnce = async (): Promise<number> => {
      const spent = await lookedUp(config, target, agent, lookUp);
      const connect_timeout_ms = config.connect_timeout_ms - spent;
      const request_timeout_ms = config.request_timeout_ms - spent;
      return await fetchStatus({ ...config, connect_timeout_ms, request_timeout_ms }, { target, agent, headers });
    };
    try {
      const status = await fetchOnce().catch((error) => {
        if (error instanceof LedgerOutage && error.stale) return fetchOnce();
        throw error;
      });
      return ANSWERS.get(status) ?? { verdict: "unavailable", reason: "authority_status" };
    } catch (error) {
      const reason = error instanceof LedgerOutage ? error.outage : "authority_connection_failed";
      return { verdict: "unavailable", reason };
    }
  };

  return {
    ask: (namespaceId, correlationId) => {
      if (grants.has(namespaceId)) {
        return Promise.resolve({ verdict: "granted", reason: "authority_grants_cached" });
      }
      const shared = pending.get(namespaceId);
      if (shared !== undefined) return shared;
      const startedAt = now();
      const asked = request(namespaceId, correlationId).then((answer) => {
        // Counted from the start of the request: the ledger may have decided at that moment.
        if (answer.verdict === "granted") grants.add(namespaceId, startedAt);
        return answer;
      }).finally(() => pending.delete(namespaceId));
      pending.set(namespaceId, asked);
      return asked;
    },
    close: () => agent.destroy(),
  };
}

function headersOf(config: LedgerConfig, correlationId: string | null): Record<string, string> {
  return {
    accept: "application/json",
    "accept-encoding": "identity",
    ...config.auth_token === null ? {} : { authorization: `Bearer ${config.auth_token}` },
    ...correlationId === null ? {} : { "x-correlation-id": correlationId },
  };
}

interface LedgerRequest {
  readonly target: URL;
  readonly agent: http.Agent;
  readonly headers: Record<string, string>;
}

/** Looks up the host of a connection that is not open yet; returns the milliseconds that it took. */
async function lookedUp(config: LedgerConfig, target: URL, agent: http.Agent, lookUp: HostLookup): Promise<number> {
  if (Object.keys(agent.freeSockets).length > 0) return 0;
  const startedAt = performance.now();
  const isInTime = await isLookedUp(target, config.connect_timeout_ms, lookUp);
  if (!isInTime) throw new LedgerOutage("authority_connect_timeout");
  return Math.min(performance.now() - startedAt, config.connect_timeout_ms - 1);
}

/** The status of one response, once its whole body was read. */
function fetchStatus(config: LedgerConfig, { target, agent, headers }: LedgerRequest): Promise<number> {
  requirePermission(target);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const outgoing = (target.protocol === "https:" ? https : http).get(target, {
    agent,
    headers,
    maxHeaderSize: HEADER_BYTES,
  });
  const fail = (outage: LedgerOutage): void => {
    reject(outage);
    outgoing.destroy();
  };
  const connect = setTimeout(
    () => fail(new LedgerOutage("authority_connect_timeout")),
    config.connect_timeout_ms,
  );
  const whole = setTimeout(() => fail(new LedgerOutage("authority_request_timeout")), config.request_timeout_ms);
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) clearTimeout(connect);
    else socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connect));
  });
  outgoing.on("error", () => fail(new LedgerOutage("authority_connection_failed", outgoing.reusedSocket)));
  outgoing.on("response", (response) => {
    clearTimeout(connect);
    drain(response).then(() => resolve(response.statusCode ?? 0), fail);
  });
  return promise.finally(() => {
    clearTimeout(connect);
    clearTimeout(whole);
  });
}

/** Queried before the request, because Deno throws its own permission error past every handler. */
function requirePermission(target: URL): void {
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  const { state } = Deno.permissions.querySync({ name: "net", host: `${target.hostname}:${port}` });
  if (state !== "granted") throw new LedgerOutage("authority_not_permitted");
}

/** Reads a body to its end and discards it. */
async function drain(response: http.IncomingMessage): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response) {
      bytes += (chunk as Uint8Array).length;
      if (bytes > LEDGER_BODY_BYTES) break;
    }
  } catch {
    throw new LedgerOutage("authority_body_truncated");
  }
  if (bytes > LEDGER_BODY_BYTES) throw new LedgerOutage("authority_body_too_large");
  if (!response.complete) throw new LedgerOutage("authority_body_truncated");
}
