/**
 * `gate help exit-codes`: lists the exit codes.
 *
 * @module
 */

import { EXIT, EXIT_CODE_MEANINGS } from "./exit_codes.ts";
import { type JsonFlag, writeOut, writeResult } from "./output.ts";
import { columns } from "./text.ts";

/** Runs `gate help exit-codes`. */
export function runHelpExitCodes(options: JsonFlag): number {
  if (options.json === true) writeResult("help exit-codes", EXIT_CODE_MEANINGS);
  else writeOut(columns(EXIT_CODE_MEANINGS.map(({ code, meaning }) => [String(code), meaning])));
  return EXIT.ok;
}
