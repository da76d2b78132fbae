/**
 * The error that ends a command with an exit code and one line.
 *
 * @module
 */

import { EXIT, type ExitCode } from "./exit_codes.ts";

/** The codes that `--json` errors carry. */
export type CliErrorCode =
  | "usage"
  | "config_invalid"
  | "feature_unavailable"
  | "file_exists"
  | "store_unavailable"
  | "store_corrupt"
  | "run_not_found"
  | "condition_not_found"
  | "runpack_not_found"
  | "runpack_invalid"
  | "limit_exceeded"
  | "integrity_failure"
  | "not_evaluated"
  | "repository_unavailable"
  | "refused"
  | "unreachable"
  | "denied"
  | "unexpected";

/** A command that cannot do what it was asked. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly exitCode: ExitCode;
  /** What to do about it, or null. */
  readonly hint: string | null;
  /** Where there are several reasons, one line for each; the message then counts them. */
  readonly reasons: readonly string[];

  /** Builds the error; without an exit code it is a usage error. */
  constructor(
    code: CliErrorCode,
    message: string,
    hint: string | null = null,
    exitCode: ExitCode = EXIT.usage,
    reasons: readonly string[] = [],
  ) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
    this.hint = hint;
    this.reasons = reasons;
  }
}
