/**
 * What keeps a server from working that has already begun to listen: its stores, keys, documents or audit log cannot be
 * opened.
 *
 * @module
 */

import type { EdgeError } from "./edge_error.ts";

/** How the process ends, as `docs/operations.md` lists exit codes. */
export type StartExitCode = 1 | 2 | 8;

/** Nothing can be served; the message says why, in one line. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly exitCode: StartExitCode;

  /** Builds the failure of what was thrown. */
  constructor(thrown: unknown, exitCode: StartExitCode) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    super(message.replaceAll(/\s*\n\s*/g, " "), { cause: thrown });
    this.exitCode = exitCode;
  }

  /** What clients are told. */
  get edgeError(): EdgeError {
    return { kind: "unavailable", message: this.message };
  }
}

/** The failure that something thrown amounts to; one that nobody expected unless it is a failure already. */
export function startFailure(thrown: unknown): StartFailure {
  return thrown instanceof StartFailure ? thrown : new StartFailure(thrown, 1);
}
