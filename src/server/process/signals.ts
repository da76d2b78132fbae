/**
 * What the process does when it is told to stop, or fails in a way that nothing catches.
 *
 * @module
 */

/** A watch over the stop signals. */
export interface StopWatch {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/** The signals that there are, with the exit code of a process that one ended: 128 and the signal's number. */
const SIGNALS = Deno.build.os === "windows"
  ? [["SIGINT", 130], ["SIGBREAK", 149]] as const
  : [["SIGINT", 130], ["SIGTERM", 143]] as const;

/** The exit code of a process that SIGHUP ended. */
export const HANGUP_CODE = 129;

/**
 * Watches for SIGINT and SIGTERM (on Windows SIGBREAK). The first asks for an orderly stop; a second one ends the process at once.
 *
 * @param exit Ends the process
 */
export function watchSignals(exit: (code: number) => void): StopWatch {
  const controller = new AbortController();
  const { close } = listen((code) => {
    if (controller.signal.aborted) exit(code);
    else controller.abort();
  });
  return { stop: controller.signal, close };
}

/**
 * Ends the process at the first stop signal by an exit of its own, at which what it has started ends too. The system would end
 * this process alone.
 *
 * @param exit Ends the process
 */
export function exitAtSignals(exit: (code: number) => void): { readonly close: () => void } {
  const stops = listen(exit);
  const hangup = watchHangup(() => exit(HANGUP_CODE));
  return {
    close: () => {
      stops.close();
      hangup.close();
    },
  };
}

/** Calls a function at each stop signal, with its exit code. */
function listen(take: (code: number) => void): { readonly close: () => void } {
  const handlers = SIGNALS.map(([signal, code]) => {
    const handler = (): void => take(code);
    Deno.addSignalListener(signal, handler);
    return { signal, handler };
  });
  return {
    close: () => {
      for (const { signal, handler } of handlers) Deno.removeSignalListener(signal, handler);
    },
  };
}

/**
 * Calls a function at each SIGHUP, for which the system would else end the process. Does nothing on Windows.
 *
 * @param take What to do
 */
export function watchHangup(take: () => void): { readonly close: () => void } {
  if (Deno.build.os === "windows") return { close: () => undefined };
  Deno.addSignalListener("SIGHUP", take);
  return { close: () => Deno.removeSignalListener("SIGHUP", take) };
}

/**
 * Ends the process with exit code 1 at an error that nothing catches. The runtime would do so too, but closes open databases on its way,
 * and a database whose files were replaced must not be closed.
 */
export function exitWhenUncaught(): void {
  const end = (thrown: unknown): never => {
    Deno.stderr.writeSync(new TextEncoder().encode(`error: Uncaught ${Deno.inspect(thrown)}\n`));
    Deno.exit(1);
  };
  addEventListener("error", ({ error }) => end(error));
  addEventListener("unhandledrejection", ({ reason }) => end(reason));
}
