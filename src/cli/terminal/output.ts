/**
 * The output of commands: data on standard output, everything else on standard error.
 *
 * With `--json` a command writes one object, `{ok, command, result}`, and an error is one line `{error: {code, message,
 * hint}}`.
 */

import { TERMINAL_ACTIVE } from "../../canonical/shown.ts";
import { ConfigError, countOf, formatProblem } from "../../config/problems.ts";
import { formatEntry, formatOfStderr, type LogLevel } from "../../server/process/log.ts";
import { terminalSafe } from "../../server/process/terminal_safe.ts";
import { CliError } from "./cli_error.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";

/** The flag that every command has. */
export interface JsonFlag {
  /** Whether to write one JSON object, and errors as JSON. */
  readonly json?: boolean;
}

/** The flags of commands that read a configuration. */
export interface ConfigFlags extends JsonFlag {
  /** The configuration file. */
  readonly config?: string;
  /** The folder of runs and runpacks where there is no configuration, else of runpacks. */
  readonly dataDir?: string;
}

/** A synchronous writer, such as `Deno.stdout`. */
interface Writer {
  writeSync(bytes: Uint8Array): number;
}

/**
 * Writes all of a text to standard output, without characters that reorder it or control a terminal; colours stay. A
 * closed pipe is not an error.
 */
export function writeOut(text: string): void {
  writeAllTo(Deno.stdout, text);
}

/** Writes messages to standard error, as {@link writeOut} does. */
export function writeError(text: string): void {
  writeAllTo(Deno.stderr, text);
}

/** Writes the result of a command as one line of JSON. */
export function writeResult(command: string, result: unknown, ok = true): void {
  writeOut(`${terminalSafe(JSON.stringify({ ok, command, result }))}\n`);
}

/**
 * Writes what a command found: its result with `--json`, else a text, and a note on standard error. Returns the exit
 * code, of which only 0 is `ok`.
 */
export function writeAnswer(
  command: string,
  { json }: JsonFlag,
  result: unknown,
  text: string,
  { note = "", exitCode = EXIT.ok }: { readonly note?: string; readonly exitCode?: ExitCode } = {},
): ExitCode {
  if (json === true) writeResult(command, result, exitCode === EXIT.ok);
  else {
    writeOut(text);
    if (note !== "") writeError(note);
  }
  return exitCode;
}

/** Formats data for people. */
export function prettyJson(value: unknown): string {
  return `${terminalSafe(JSON.stringify(value, null, 2))}\n`;
}

/** Writes an entry in the format of the server's log, for messages before that log is open. */
export function writeLog(level: LogLevel, message: string): void {
  writeError(formatEntry(formatOfStderr(), Date.now(), level, message, {}));
}

/** The words of a command line that are gate's own: those after `--` belong to a command that gate starts. */
export function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end < 0 ? argv : argv.slice(0, end);
}

/** Writes why a command failed, and returns the exit code. */
export function reportFailure(error: unknown, asJson: boolean): ExitCode {
  const failure = describeFailure(error);
  if (asJson) writeError(`${terminalSafe(JSON.stringify({ error: failure.json }))}\n`);
  else for (const line of failure.lines) writeError(`gate: ${line}\n`);
  return failure.exitCode;
}

/** Writes why a server did not start, in the log format unless standard error is a terminal; returns the exit code. */
export function reportStartFailure(error: unknown): ExitCode {
  if (formatOfStderr() === "text") return reportFailure(error, false);
  const { exitCode, lines } = describeFailure(error);
  for (const line of lines) writeLog("error", line);
  return exitCode;
}

interface Failure {
  readonly exitCode: ExitCode;
  readonly lines: readonly string[];
  readonly json: Readonly<Record<string, unknown>>;
}

function describeFailure(error: unknown): Failure {
  if (error instanceof ConfigError) return describeConfigError(error);
  if (error instanceof CliError) {
    const { code, message, hint, exitCode, reasons } = error;
    const json = { code, message, hint, ...reasons.length === 0 ? {} : { reasons } };
    return { exitCode, lines: [hint === null ? message : `${message} (${hint})`, ...reasons], json };
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const line = message.replaceAll(/\s*\n\s*/g, " ");
  return { exitCode: EXIT.unexpected, lines: [line], json: { code: "unexpected", message: line, hint: null } };
}

function describeConfigError(error: ConfigError): Failure {
  const count = countOf(error.problems.length, "problem");
  const message = `Cannot use configuration "${error.configPath}": ${count}`;
  return {
    exitCode: EXIT.usage,
    lines: [message, ...error.problems.map(formatProblem)],
    json: {
      code: "config_invalid",
      message,
      hint: "gate config schema prints the allowed members",
      problems: error.problems,
    },
  };
}

function writeAllTo(writer: Writer, text: string): void {
  let rest = new TextEncoder().encode(text.replaceAll(TERMINAL_ACTIVE, "\ufffd"));
  try {
    while (rest.length > 0) rest = rest.subarray(writer.writeSync(rest));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
