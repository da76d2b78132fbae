/**
 * `gate help exit-codes`: lists the exit codes.
 *
 * @module
 */

import { EXIT, EXIT_CODE_MEANINGS } from "./exit_codes.ts";
import { writeOut, writeResult } from "./output.ts";
import { columns } from "./text.ts";

/** The flags of `gate help`. */
export interface HelpOptions {
  readonly json?: boolean;
}

/** Runs `gate help exit-codes`. */
export function runHelpExitCodes(options: HelpOptions): number {
  if (options.json === true) writeResult("help exit-codes", EXIT_CODE_MEANINGS);
  else writeOut(columns(EXIT_CODE_MEANINGS.map(({ code, meaning }) => [String(code), meaning])));
  return EXIT.ok;
}
