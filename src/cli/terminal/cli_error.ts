/** The error that ends a command with a message and an exit code. */

import type { WordOf } from "../../canonical/words.ts";
import { EXIT, type ExitCode } from "./exit_codes.ts";

/** The codes that `--json` errors carry. */
export type CliErrorCode =
  | WordOf<"usage config_invalid file_exists store_unavailable store_corrupt run_not_found condition_not_found">
  | WordOf<"runpack_not_found runpack_invalid limit_exceeded integrity_failure not_evaluated">
  | WordOf<"repository_unavailable refused unreachable denied unexpected">;

/** A failure of a command. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;
  readonly exitCode: ExitCode;
  /** How to fix the problem, or null. */
  readonly hint: string | null;
  /** One line for each of several reasons; the message then counts them. */
  readonly reasons: readonly string[];

  /** Creates the error; the default exit code is that of a usage error. */
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

/** The error for an empty value of a flag or an argument. */
export function emptyValue(name: string): CliError {
  return new CliError("usage", `Cannot use ${name}: value is empty`);
}

/** The error for a second value of a flag that is not repeatable. */
export function secondValue(flag: string): CliError {
  return new CliError("usage", `Cannot use ${flag}: it is given twice`);
}
