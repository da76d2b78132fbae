/**
 * What the process does when it is told to stop.
 *
 * @module
 */

/** A watch over the stop signals. */
export interface StopWatch {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/** Exit codes of a second signal: 128 and the signal's number. */
const SIGNALS = [["SIGTERM", 143], ["SIGINT", 130]] as const;

/**
 * Watches for SIGTERM and SIGINT. The first asks for an orderly stop; a second one ends the process at once.
 *
 * @param exit Ends the process
 */
export function watchSignals(exit: (code: number) => void): StopWatch {
  const controller = new AbortController();
  const handlers = SIGNALS.map(([signal, code]) => {
    const handler = (): void => {
      if (controller.signal.aborted) exit(code);
      else controller.abort();
    };
    Deno.addSignalListener(signal, handler);
    return { signal, handler };
  });
  return {
    stop: controller.signal,
    close: () => {
      for (const { signal, handler } of handlers) Deno.removeSignalListener(signal, handler);
    },
  };
}
