/**
 * One connection to an external provider that all queries share. It opens with the first query and reopens after it
 * ended, with backoff.
 */

import { untilAborted } from "../../config/until_aborted.ts";
import type { Connect, Connection } from "./connections.ts";
import { ExternalFailure, failureIn } from "./failure.ts";

/** Milliseconds of the first backoff, which doubles, and of the longest. */
const BACKOFF_MILLISECONDS = 100;
const BACKOFF_MAXIMUM_MILLISECONDS = 5000;

/** The shared connection of one provider. */
export interface ReconnectingConnection {
  /**
   * The open connection; opens one if necessary.
   *
   * @param deadline On the clock of `performance.now()`
   * @throws {ExternalFailure} Where no connection is open by then
   */
  readonly acquire: (deadline: number, signal: AbortSignal) => Promise<Connection>;
  /** Ends a connection that cannot be used further; other queries over it fail with `failure`. */
  readonly discard: (connection: Connection, failure: ExternalFailure) => void;
  /** Resets the backoff after an answer. */
  readonly recordSuccess: () => void;
  readonly close: () => Promise<void>;
}

/**
 * Creates the shared connection of a provider; it is not open yet.
 *
 * @param connect Opens a connection
 * @param openMillis Milliseconds that opening may take
 */
export function createReconnectingConnection(connect: Connect, openMillis: number): ReconnectingConnection {
  let current: Connection | null = null;
  let opening: Promise<Connection> | null = null;
  let failures = 0;
  let notBefore = 0;
  let closed = false;

  const recordFailure = (): void => {
    notBefore = performance.now() + Math.min(BACKOFF_MAXIMUM_MILLISECONDS, BACKOFF_MILLISECONDS * 2 ** failures);
    failures = Math.min(failures + 1, 16);
  };

  const open = async (): Promise<Connection> => {
    try {
      const opened = await connect(openMillis);
      if (closed) await opened.close();
      else current = opened;
      return opened;
    } catch (error) {
      recordFailure();
      throw failureIn(error) ?? new ExternalFailure("provider_unreachable", "Cannot start provider");
    } finally {
      opening = null;
    }
  };

  return {
    acquire: async (deadline, signal) => {
      if (closed) throw new ExternalFailure("provider_unreachable", "Cannot ask provider: gate is shutting down");
      if (current !== null && current.over() !== null) {
        current = null;
        recordFailure();
      }
      if (current !== null) return current;
      const backoff = notBefore - performance.now();
      if (opening === null && backoff > 0) await waitOut(backoff, deadline, signal);
      if (current !== null) return current;
      opening ??= open();
      return await within(opening, deadline, signal);
    },
    discard: (connection, failure) => {
      if (current === connection) current = null;
      connection.abort(failure);
      connection.close().catch(() => {});
      recordFailure();
    },
    recordSuccess: () => {
      failures = 0;
      notBefore = 0;
    },
    close: async () => {
      closed = true;
      const last = current ?? await opening?.catch(() => null) ?? null;
      current = null;
      await last?.close();
    },
  };
}

async function waitOut(backoff: number, deadline: number, signal: AbortSignal): Promise<void> {
  if (performance.now() + backoff >= deadline) {
    const message = `The provider ended and is not started again before ${Math.ceil(backoff)} ms`;
    throw new ExternalFailure("provider_unreachable", message);
  }
  await within(new Promise((resolve) => setTimeout(resolve, backoff)), deadline, signal);
}

/** Waits for a promise until a deadline or an abort. */
async function within<Value>(work: Promise<Value>, deadline: number, signal: AbortSignal): Promise<Value> {
  const late = AbortSignal.timeout(Math.max(0, deadline - performance.now()));
  try {
    return await untilAborted(work, AbortSignal.any([signal, late]));
  } catch (error) {
    if (signal.aborted) throw new ExternalFailure("cancelled", "The caller is gone", false);
    throw late.aborted ? new ExternalFailure("timeout", "The provider did not start in time") : error;
  }
}
