/**
 * Failures that keep a server from starting: a store, key, document, audit log, certificate or address cannot be
 * opened.
 */

import { ConfigError, formatProblem } from "../../config/problems.ts";
import type { EdgeError } from "./edge_error.ts";

/** The exit codes of a failed start, as listed in `docs/guide/operations.md`. */
export type StartExitCode = 1 | 2 | 8;

/** A name in the configuration or on the command line cannot be used. */
export const MISCONFIGURED = 2;
/** A store, file or address is not available now. */
export const UNREACHABLE = 8;

/** The server cannot start; the message is one line. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly exitCode: StartExitCode;

  /** Builds the failure of an exception. */
  constructor(thrown: unknown, exitCode: StartExitCode) {
    super(inOneLine(thrown), { cause: thrown });
    this.exitCode = exitCode;
  }

  /** The error for clients. */
  get edgeError(): EdgeError {
    return { kind: "unavailable", message: this.message };
  }
}

function inOneLine(thrown: unknown): string {
  if (thrown instanceof ConfigError) {
    return `Cannot use configuration "${thrown.configPath}": ${thrown.problems.map(formatProblem).join("; ")}`;
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return message.replaceAll(/\s*\n\s*/g, " ");
}

/** Throws an exception as a failure with the exit code {@link UNREACHABLE}. */
export function unreachable(thrown: unknown): never {
  throw new StartFailure(thrown, UNREACHABLE);
}

/** The failure of an exception: itself, or with exit code 1 if it is of another class. */
export function startFailure(thrown: unknown): StartFailure {
  return thrown instanceof StartFailure ? thrown : new StartFailure(thrown, 1);
}
