/**
 * The port of `gate console`.
 *
 * @module
 */

import { CliError } from "../terminal/cli_error.ts";

/** The port without `--port`. The key of a browser belongs to an address, so the address stays the same where it can. */
const CONSOLE_PORT = 4283;

/**
 * The port to listen on: that of `--port`, else the usual one where it is free, else 0 for any free one.
 *
 * @throws {CliError} `usage`
 */
export function consolePort(given: string | undefined, usual: number = CONSOLE_PORT): number {
  if (given === undefined) return isFree(usual) ? usual : 0;
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new CliError("usage", `Cannot use --port "${given}": must be an integer from 0 to 65535`);
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch {
    // Another process listens there, or this one may not.
    return false;
  }
}
