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

/** The signals that there are, with the exit code of a second one: 128 and the signal's number. */
const SIGNALS = Deno.build.os === "windows"
  ? [["SIGINT", 130], ["SIGBREAK", 149]] as const
  : [["SIGINT", 130], ["SIGTERM", 143]] as const;

/**
 * Watches for SIGINT and SIGTERM (on Windows SIGBREAK). The first asks for an orderly stop; a second one ends the process at once.
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

/**
 * Calls a function at each SIGHUP, for which the system would else end the process. Does nothing on Windows.
 *
 * @param reload What to do
 */
export function watchHangup(reload: () => void): { readonly close: () => void } {
  if (Deno.build.os === "windows") return { close: () => undefined };
  Deno.addSignalListener("SIGHUP", reload);
  return { close: () => Deno.removeSignalListener("SIGHUP", reload) };
}
