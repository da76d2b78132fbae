import { EXIT_CODE_MEANINGS } from "./exit_codes.ts";
import { type JsonFlag, writeAnswer } from "./output.ts";
import { columns } from "./text.ts";

/** Runs `gate help exit-codes`. */
export function runHelpExitCodes(options: JsonFlag): number {
  const text = columns(EXIT_CODE_MEANINGS.map(({ code, meaning }) => [String(code), meaning]));
  return writeAnswer("help exit-codes", options, EXIT_CODE_MEANINGS, text);
}
