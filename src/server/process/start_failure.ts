/**
 * What keeps a server from working: its stores, keys, documents, audit log, certificates or address cannot be had.
 *
 * @module
 */

import { ConfigError, formatProblem } from "../../config/problems.ts";
import type { EdgeError } from "./edge_error.ts";

/** How the process ends, as `docs/guide/operations.md` lists exit codes. */
export type StartExitCode = 1 | 2 | 8;

/** What the configuration or the command line names cannot be used, now or later. */
export const MISCONFIGURED = 2;
/** What the machine does not give now: a store, a file, an address. */
export const UNREACHABLE = 8;

/** Nothing can be served; the message says why, in one line. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly exitCode: StartExitCode;

  /** Builds the failure of what was thrown. */
  constructor(thrown: unknown, exitCode: StartExitCode) {
    super(inOneLine(thrown), { cause: thrown });
    this.exitCode = exitCode;
  }

  /** What clients are told. */
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

/** For what goes wrong with what the machine has to give. */
export function unreachable(thrown: unknown): never {
  throw new StartFailure(thrown, UNREACHABLE);
}

/** The failure that something thrown amounts to; one that nobody expected unless it is a failure already. */
export function startFailure(thrown: unknown): StartFailure {
  return thrown instanceof StartFailure ? thrown : new StartFailure(thrown, 1);
}
