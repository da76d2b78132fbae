/**
 * Runs a process for as long as it makes progress, its output shown. No other work on the machine ends it: what is
 * limited is the time in which it shows nothing.
 *
 * @module
 */

/** A process that ended, or was ended. */
export interface WatchedEnd {
  readonly code: number;
  /** The signal that ended the process, if one did. */
  readonly signal: Deno.Signal | null;
  /** Whether it was ended because it showed nothing for too long. */
  readonly isStuck: boolean;
  /** Marks of the reporter "dot": tests and steps that passed, and those that did not. */
  readonly marks: { readonly passed: number; readonly failed: number };
}

/** How a process is run. */
export interface WatchOptions {
  /** What the lines about its progress call it. */
  readonly name: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the process is ended, which has shown nothing for so many seconds. */
  readonly isStuck: (silentSeconds: number) => boolean;
  /** Seconds after which a line says how far it is, where the process itself writes none. */
  readonly lineSeconds: number;
  /** Ends the process. */
  readonly signal: AbortSignal;
}

/** Seconds that a process has to report after it was interrupted. */
const REPORT_SECONDS = 10;

/** Runs a command without input. It leads a process group, which ends with it. */
export async function runWatched(
  [program = "", ...args]: readonly string[],
  { name, environment, isStuck: decide, lineSeconds, signal }: WatchOptions,
): Promise<WatchedEnd> {
  const child = new Deno.Command(program, {
    args,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    env: { ...environment },
    detached: true,
  }).spawn();
  const shown = { passed: 0, failed: 0, silent: 0, withoutLine: 0, seconds: 0 };
  const read = (output: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> =>
    readLines(output, () => shown.silent = 0, (line) => {
      if (line === ".") shown.passed++;
      else if (line === "!" || line === ",") shown.failed++;
      else {
        shown.withoutLine = 0;
        console.log(line);
      }
    });
  const output = Promise.all([read(child.stdout), read(child.stderr)]);
  let isStuck = false;
  let sinceEnding = 0;
  // Ticks are counted, not a clock: where this process gets no time, its child gets none either.
  const ticks = setInterval(() => {
    shown.seconds++;
    if (++shown.withoutLine >= lineSeconds) {
      shown.withoutLine = 0;
      const tests = shown.passed + shown.failed;
      console.log(
        `   ${name}, ${shown.seconds} s${tests === 0 ? "" : `: ${tests} tests and steps, ${shown.failed} failed`}`,
      );
    }
    isStuck ||= decide(++shown.silent);
    if (!isStuck && !signal.aborted) return;
    if (sinceEnding === 0) send(child.pid, "SIGINT");
    if (sinceEnding === REPORT_SECONDS) send(-child.pid, "SIGKILL");
    sinceEnding++;
  }, 1000);
  const { code, signal: endedBy } = await child.status;
  clearInterval(ticks);
  send(-child.pid, "SIGKILL");
  await output;
  const { passed, failed } = shown;
  return { code, signal: endedBy, isStuck, marks: { passed, failed } };
}

/** Sends a signal to a process, or to a group; either may have ended. */
function send(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

async function readLines(
  output: ReadableStream<Uint8Array<ArrayBuffer>>,
  onText: () => void,
  onLine: (line: string) => void,
): Promise<void> {
  let rest = "";
  for await (const text of output.pipeThrough(new TextDecoderStream())) {
    onText();
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(onLine);
  }
  if (rest !== "") onLine(rest);
}
