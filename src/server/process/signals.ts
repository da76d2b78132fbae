/** Handles stop signals and uncaught errors of the process. */

/** A watch over the stop signals. */
export interface StopWatch {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  readonly close: () => void;
}

/** The stop signals, with the exit code of a process that one ended: 128 plus the signal's number. */
const SIGNALS = Deno.build.os === "windows"
  ? [["SIGINT", 130], ["SIGBREAK", 149]] as const
  : [["SIGINT", 130], ["SIGTERM", 143]] as const;

/** The exit code of a process that SIGHUP ended. */
export const HANGUP_CODE = 129;

/**
 * Watches for SIGINT and SIGTERM (on Windows SIGBREAK). The first asks for an orderly stop; a second one ends the
 * process at once.
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
 * Exits at the first stop signal, which also ends the processes that this one started, and removes what it has not
 * finished. The system's default would only end this process.
 *
 * @param exit Ends the process
 * @param isAtTerminal Whether the end of a terminal is such a signal too
 */
export function exitAtSignals(exit: (code: number) => void, isAtTerminal = true): { readonly close: () => void } {
  const stops = listen(exit);
  const hangup = isAtTerminal ? watchHangup(() => exit(HANGUP_CODE)) : null;
  return {
    close: () => {
      stops.close();
      hangup?.close();
    },
  };
}

/** Calls a function at each stop signal, with its exit code. */
function listen(handle: (code: number) => void): { readonly close: () => void } {
  const handlers = SIGNALS.map(([signal, code]) => {
    const handler = (): void => handle(code);
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
 * Calls a function at each SIGHUP, which by default ends the process. Does nothing on Windows.
 *
 * @param handle The function
 */
export function watchHangup(handle: () => void): { readonly close: () => void } {
  if (Deno.build.os === "windows") return { close: () => undefined };
  Deno.addSignalListener("SIGHUP", handle);
  return { close: () => Deno.removeSignalListener("SIGHUP", handle) };
}

/**
 * Exits with code 1 at an uncaught error. The runtime would do the same, but would first close open databases, and a
 * database whose files were replaced must not be closed.
 */
export function exitWhenUncaught(): void {
  const end = (thrown: unknown): never => {
    Deno.stderr.writeSync(new TextEncoder().encode(`error: Uncaught ${Deno.inspect(thrown)}\n`));
    Deno.exit(1);
  };
  addEventListener("error", ({ error }) => end(error));
  addEventListener("unhandledrejection", ({ reason }) => end(reason));
}
