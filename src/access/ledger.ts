/**
 * The namespace authority over HTTP: `GET {base_url}/v1/write/namespaces/{id}`, within bounds of time and size, without
 * following redirects. What is no clear answer is none.
 *
 * @module
 */

import http from "node:http";
import https from "node:https";
import type { LedgerConfig } from "../config/types.ts";
import { createGrantCache } from "./grant_cache.ts";
import type { NamespaceAnswer, NamespaceAuthority } from "./namespace_authority.ts";

/** Bytes of an answer's body that are read; a longer one is no answer. */
export const LEDGER_BODY_BYTES = 64 * 1024;

/** Bytes of an answer's header section. */
const HEADER_BYTES = 16 * 1024;

/** Milliseconds for which a granted namespace is not asked for again, and so the longest that a revocation may wait. */
export const GRANT_MILLISECONDS = 5_000;

/** Namespaces whose grant is remembered. */
const GRANTS_MAXIMUM = 1024;

/** What a status says; every other one is no answer. */
const ANSWERS: ReadonlyMap<number, NamespaceAnswer> = new Map<number, NamespaceAnswer>([
  [200, { verdict: "granted", reason: "authority_grants" }],
  [401, { verdict: "refused", reason: "authority_not_authorized" }],
  [403, { verdict: "refused", reason: "authority_not_authorized" }],
  [404, { verdict: "refused", reason: "authority_not_found" }],
]);

/** Why there is no answer, as the audit log has it. */
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
  /** The connection was one kept from before, and nothing was read from it: asking again is safe. */
  readonly stale: boolean;

  constructor(outage: Outage, stale = false) {
    super(outage);
    this.outage = outage;
    this.stale = stale;
  }
}

/**
 * An authority that asks a ledger. Grants are remembered for {@link GRANT_MILLISECONDS}, refusals and outages never;
 * questions for one namespace at one time are one request.
 *
 * @param config `namespace.authority.ledger`
 * @param now A clock in milliseconds that never goes back
 */
export function askLedger(config: LedgerConfig, now: () => number = () => performance.now()): NamespaceAuthority {
  const url = new URL(config.base_url);
  const base = url.pathname.replace(/\/+$/, "");
  const agent = new (url.protocol === "https:" ? https : http).Agent({ keepAlive: true, maxSockets: 64 });
  const grants = createGrantCache(GRANT_MILLISECONDS, GRANTS_MAXIMUM, now);
  const asking = new Map<number, Promise<NamespaceAnswer>>();

  const request = async (namespaceId: number, correlationId: string | null): Promise<NamespaceAnswer> => {
    const target = new URL(url);
    target.pathname = `${base}/v1/write/namespaces/${namespaceId}`;
    const headers = headersOf(config, correlationId);
    const fetchOnce = (): Promise<number> => status(config, { target, agent, headers });
    try {
      const found = await fetchOnce().catch((error) => {
        if (error instanceof LedgerOutage && error.stale) return fetchOnce();
        throw error;
      });
      return ANSWERS.get(found) ?? { verdict: "unavailable", reason: "authority_status" };
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
      const known = asking.get(namespaceId);
      if (known !== undefined) return known;
      const began = now();
      const answer = request(namespaceId, correlationId).then((given) => {
        // Remembered from when the question was put: the answer may be as old as that.
        if (given.verdict === "granted") grants.add(namespaceId, began);
        return given;
      }).finally(() => asking.delete(namespaceId));
      asking.set(namespaceId, answer);
      return answer;
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

/** The status of one request whose whole answer was read. */
function status(config: LedgerConfig, { target, agent, headers }: LedgerRequest): Promise<number> {
  requirePermission(target);
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const outgoing = (target.protocol === "https:" ? https : http).get(target, {
    agent,
    headers,
    maxHeaderSize: HEADER_BYTES,
  });
  const give = (outage: LedgerOutage): void => {
    reject(outage);
    outgoing.destroy();
  };
  const connect = setTimeout(
    () => give(new LedgerOutage("authority_connect_timeout")),
    config.connect_timeout_ms,
  );
  const whole = setTimeout(() => give(new LedgerOutage("authority_request_timeout")), config.request_timeout_ms);
  outgoing.on("socket", (socket) => {
    if (outgoing.reusedSocket) clearTimeout(connect);
    else socket.once(target.protocol === "https:" ? "secureConnect" : "connect", () => clearTimeout(connect));
  });
  outgoing.on("error", () => give(new LedgerOutage("authority_connection_failed", outgoing.reusedSocket)));
  outgoing.on("response", (response) => {
    clearTimeout(connect);
    drain(response).then(() => resolve(response.statusCode ?? 0), give);
  });
  return promise.finally(() => {
    clearTimeout(connect);
    clearTimeout(whole);
  });
}

/** Deno throws a refusal of its own past every handler, so it is asked beforehand. */
function requirePermission(target: URL): void {
  const port = target.port || (target.protocol === "https:" ? "443" : "80");
  const { state } = Deno.permissions.querySync({ name: "net", host: `${target.hostname}:${port}` });
  if (state !== "granted") throw new LedgerOutage("authority_not_permitted");
}

/** Reads a body to its end and keeps nothing of it. */
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
