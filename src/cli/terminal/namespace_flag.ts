/** The value of `--namespace`. */

import { CliError } from "./cli_error.ts";

/**
 * The namespace that a text names.
 *
 * @throws {CliError} `usage`
 */
export function parseNamespace(text: string): number {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0;
  if (id >= 1 && Number.isSafeInteger(id)) return id;
  throw new CliError("usage", `Cannot use --namespace "${text}": must be an integer of at least 1`);
}
