/**
 * Connections to external providers: a process of ours, or an HTTP endpoint.
 *
 * @module
 */

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpProviderConfig } from "../../config/types.ts";
import { createBoundedFetch } from "./bounded_fetch.ts";
import { type Child, startChild, type StderrTail } from "./child.ts";
import { type ClientSession, type Negotiation, openSession } from "./client_session.ts";
import { ExternalFailure } from "./failure.ts";
import { createCloakroom } from "./wire.ts";

/** The revision that has no `initialize`. */
const MODERN: Negotiation = { pin: "2026-07-28" };
/** Milliseconds that a provider has to forget a conversation that is closed. */
const FAREWELL_MILLISECONDS = 500;

/** An open connection. */
export interface Connection {
  readonly session: ClientSession;
  /** Why it is over; null while it stands. */
  readonly over: () => ExternalFailure | null;
  /** Ends it at once: what is in flight fails with this. An endpoint just goes on. */
  readonly give: (failure: ExternalFailure) => void;
  readonly close: () => Promise<void>;
  /** Whether it is of no further use once a question over it was not answered in time: a process may be stuck. */
  readonly endsWithTimeout: boolean;
}

/** Opens connections to one provider. */
export type Connect = (timeoutMillis: number) => Promise<Connection>;

/**
 * Connections to a provider's process. It is first spoken to as older revisions ask; one that refuses that is started again
 * and spoken to in the newest.
 *
 * @param directory Working directory of the process
 * @param stderr Where the end of its standard error is kept
 */
export function connectChild(command: readonly string[], directory: string, stderr: StderrTail): Connect {
  let settled: Negotiation | null = null;
  const open = async (negotiation: Negotiation, timeoutMillis: number): Promise<Connection> => {
    const cloakroom = createCloakroom();
    let over: ExternalFailure | null = null;
    const child = startChild({ command, directory, cloakroom, stderr, ended: (failure) => over = failure });
    try {
      const session = await openSession(child, cloakroom, negotiation, timeoutMillis);
      settled = negotiation;
      return childConnection(child, session, () => over);
    } catch (error) {
      const failure = endedByItself(over) ?? error;
      child.kill(new ExternalFailure("worker_died", "The provider's process was ended"));
      throw failure;
    }
  };
  return async (timeoutMillis) => {
    try {
      return await open(settled ?? "legacy", timeoutMillis);
    } catch (error) {
      const refused = error instanceof ExternalFailure && error.code === "provider_protocol_error";
      if (!refused || settled !== null) throw error;
      return await open(MODERN, timeoutMillis).catch(() => {
        throw error;
      });
    }
  };
}

/** Why a process is over, unless it was closed because its conversation failed: then that says more. */
function endedByItself(over: ExternalFailure | null): ExternalFailure | null {
  return over?.code === "cancelled" ? null : over;
}

function childConnection(child: Child, session: ClientSession, over: Connection["over"]): Connection {
  return {
    session,
    over,
    give: child.kill,
    close: async () => {
      await session.close();
      await child.gone;
    },
    endsWithTimeout: true,
  };
}

/** Connections to an HTTP endpoint. */
export function connectEndpoint(entry: McpProviderConfig, url: URL): Connect {
  return async (timeoutMillis) => {
    const cloakroom = createCloakroom();
    const { connect_timeout_ms: connectTimeoutMillis } = entry.timeouts;
    const bounded = createBoundedFetch({ url, connectTimeoutMillis, cloakroom });
    const token = entry.auth?.bearer_token ?? null;
    const transport = new StreamableHTTPClientTransport(url, {
      fetch: bounded.fetch,
      requestInit: token === null ? {} : { headers: { authorization: `Bearer ${token}` } },
      reconnectionOptions: {
        maxRetries: 0,
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 1000,
        reconnectionDelayGrowFactor: 1,
      },
    });
    try {
      const session = await openSession(transport, cloakroom, "auto", timeoutMillis);
      const close = async (): Promise<void> => {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const waited = new Promise<void>((resolve) => timer = setTimeout(resolve, FAREWELL_MILLISECONDS));
        await Promise.race([transport.terminateSession().catch(() => {}), waited]);
        clearTimeout(timer);
        await session.close();
        bounded.close();
      };
      return { session, over: () => null, give: () => {}, close, endsWithTimeout: false };
    } catch (error) {
      await transport.close();
      bounded.close();
      throw error;
    }
  };
}
