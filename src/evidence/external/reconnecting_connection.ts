/**
 * Keeps one connection to an external provider: opened when it is first needed, shared by all questions, opened again after
 * its end with growing pauses.
 *
 * @module
 */

import type { Connect, Connection } from "./connections.ts";
import { ExternalFailure, failureIn } from "./failure.ts";

/** Milliseconds of the first pause after an end, and of the longest. */
const PAUSE_FIRST = 100;
const PAUSE_LONGEST = 5000;

/** The keeper of one provider's connection. */
export interface Keeper {
  /**
   * The connection, opened where there is none.
   *
   * @param deadline On the clock of `performance.now()`
   * @throws {ExternalFailure} Where it cannot be had by then
   */
  readonly take: (deadline: number, signal: AbortSignal) => Promise<Connection>;
  /** Ends a connection that cannot be used further; others asking over it fail with `failure`. */
  readonly drop: (connection: Connection, failure: ExternalFailure) => void;
  /** A question was answered: the next end is the first again. */
  readonly praise: () => void;
  readonly close: () => Promise<void>;
}

/**
 * Makes a keeper.
 *
 * @param connect Opens a connection
 * @param openMillis How long opening may take
 */
export function createKeeper(connect: Connect, openMillis: number): Keeper {
  let current: Connection | null = null;
  let opening: Promise<Connection> | null = null;
  let ends = 0;
  let notBefore = 0;
  let closed = false;

  const blame = (): void => {
    notBefore = performance.now() + Math.min(PAUSE_LONGEST, PAUSE_FIRST * 2 ** ends);
    ends = Math.min(ends + 1, 16);
  };

  const open = async (): Promise<Connection> => {
    try {
      const opened = await connect(openMillis);
      if (closed) await opened.close();
      else current = opened;
      return opened;
    } catch (error) {
      blame();
      throw failureIn(error) ?? new ExternalFailure("provider_unreachable", "Cannot start provider");
    } finally {
      opening = null;
    }
  };

  return {
    take: async (deadline, signal) => {
      if (closed) throw new ExternalFailure("provider_unreachable", "Cannot ask provider: gate is shutting down");
      if (current !== null && current.over() !== null) {
        current = null;
        blame();
      }
      if (current !== null) return current;
      const pause = notBefore - performance.now();
      if (opening === null && pause > 0) await waitOut(pause, deadline, signal);
      if (current !== null) return current;
      opening ??= open();
      return await within(opening, deadline, signal);
    },
    drop: (connection, failure) => {
      if (current === connection) current = null;
      connection.give(failure);
      connection.close().catch(() => {});
      blame();
    },
    praise: () => {
      ends = 0;
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

async function waitOut(pause: number, deadline: number, signal: AbortSignal): Promise<void> {
  if (performance.now() + pause >= deadline) {
    const message = `The provider ended and is not started again before ${Math.ceil(pause)} ms`;
    throw new ExternalFailure("provider_unreachable", message);
  }
  await within(new Promise((resolve) => setTimeout(resolve, pause)), deadline, signal);
}

/** Waits for something, but not beyond a deadline or an abort. */
async function within<Value>(work: Promise<Value>, deadline: number, signal: AbortSignal): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>();
  const cancelled = (): void => reject(new ExternalFailure("cancelled", "The caller is gone", false));
  if (signal.aborted) cancelled();
  signal.addEventListener("abort", cancelled, { once: true });
  const timer = setTimeout(
    () => reject(new ExternalFailure("timeout", "The provider did not start in time")),
    Math.max(0, deadline - performance.now()),
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cancelled);
  }
}
