/** Connections to external providers: a child process or an HTTP endpoint. */

import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { McpProviderConfig } from "../../config/types.ts";
import { createBoundedFetch } from "./bounded_fetch.ts";
import { type Child, startChild, type StderrTail } from "./child.ts";
import { type ClientSession, type Negotiation, openSession } from "./client_session.ts";
import { ExternalFailure } from "./failure.ts";
import { createRawResults } from "./messages.ts";

/** How long a process has answered nothing. Times at which no query waits do not count. */
interface Silence {
  /** A query begins to wait. */
  readonly begin: () => void;
  /** A query waits no more, answered or not. */
  readonly end: () => void;
  /** The process has answered. */
  readonly answered: () => void;
  readonly milliseconds: () => number;
}

/** Starts to measure. */
export function createSilence(now: () => number = () => performance.now()): Silence {
  let waiting = 0;
  let since = 0;
  let past = 0;
  const current = (): number => waiting > 0 ? now() - since : 0;
  return {
    begin: () => {
      if (waiting++ === 0) since = now();
    },
    end: () => {
      if (waiting === 1) past += current();
      waiting--;
    },
    answered: () => {
      past = 0;
      since = now();
    },
    milliseconds: () => past + current(),
  };
}

/** The protocol revision that has no `initialize`. */
const MODERN: Negotiation = { pin: "2026-07-28" };
/** Milliseconds to wait while an endpoint terminates a session. */
const TERMINATE_MILLISECONDS = 500;

/** An open connection. */
export interface Connection {
  readonly session: ClientSession;
  /** The reason why it ended; null while it is open. */
  readonly over: () => ExternalFailure | null;
  /** Kills the process at once: queries in flight fail with `failure`. No effect on an endpoint. */
  readonly abort: (failure: ExternalFailure) => void;
  readonly close: () => Promise<void>;
  /** How long a process has answered nothing: it may be stuck. Null for an endpoint. */
  readonly silence: Silence | null;
}

/** Opens connections to one provider. */
export type Connect = (timeoutMillis: number) => Promise<Connection>;

/**
 * Opens connections to a provider's process. The first attempt uses the handshake of older revisions. A process that
 * rejects it is started again and addressed in the newest revision.
 *
 * @param directory Working directory of the process
 * @param stderr Receives the end of its standard error
 */
export function connectChild(command: readonly string[], directory: string, stderr: StderrTail): Connect {
  let settled: Negotiation | null = null;
  const open = async (negotiation: Negotiation, timeoutMillis: number): Promise<Connection> => {
    const rawResults = createRawResults();
    let over: ExternalFailure | null = null;
    const child = startChild({ command, directory, rawResults, stderr, ended: (failure) => over = failure });
    try {
      const session = await openSession(child, rawResults, negotiation, timeoutMillis);
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

/** Why a process ended. Null where it was closed because the session failed: the session's error says more. */
function endedByItself(over: ExternalFailure | null): ExternalFailure | null {
  return over?.code === "cancelled" ? null : over;
}

function childConnection(child: Child, session: ClientSession, over: Connection["over"]): Connection {
  return {
    session,
    over,
    abort: child.kill,
    close: async () => {
      await session.close();
      await child.gone;
    },
    silence: createSilence(),
  };
}

/** Opens connections to an HTTP endpoint. */
export function connectEndpoint(entry: McpProviderConfig, url: URL): Connect {
  return async (timeoutMillis) => {
    const rawResults = createRawResults();
    const { connect_timeout_ms: connectTimeoutMillis, request_timeout_ms: requestTimeoutMillis } = entry.timeouts;
    const bounded = createBoundedFetch({ url, connectTimeoutMillis, requestTimeoutMillis, rawResults });
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
      const session = await openSession(transport, rawResults, "auto", timeoutMillis);
      const close = async (): Promise<void> => {
        let timer: ReturnType<typeof setTimeout> | undefined;
        const waited = new Promise<void>((resolve) => timer = setTimeout(resolve, TERMINATE_MILLISECONDS));
        await Promise.race([transport.terminateSession().catch(() => {}), waited]);
        clearTimeout(timer);
        await session.close();
        bounded.close();
      };
      return { session, over: () => null, abort: () => {}, close, silence: null };
    } catch (error) {
      await transport.close();
      bounded.close();
      throw error;
    }
  };
}
