/**
 * `gate console` as a process.
 *
 * @module
 */

import assert from "node:assert/strict";
import { until } from "../../until.ts";
import { type ServerProcess, startServer } from "../client.ts";
import { gateArgs } from "../gate_command.ts";

/** A console that runs. */
export interface ConsoleProcess extends AsyncDisposable {
  readonly process: ServerProcess;
  /** The address that it printed. */
  readonly address: string;
  readonly url: string;
  /** What makes the first browser with the address its caller. */
  readonly secret: string;
}

/** The address of a console with its secret. */
export const ADDRESS = /^(http:\/\/127\.0\.0\.1:\d+)\/console#\/open\/([A-Za-z0-9_-]{43})$/;

/** Starts `gate console` over the configuration of a folder. */
export async function startConsole(
  folder: string,
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ConsoleProcess> {
  const process = startServer({ args: gateArgs("console", ...flags), cwd: folder, env: { GATE_CONFIG: "", ...env } });
  await until("the address", () => process.lines().length > 0);
  const [address = ""] = process.lines();
  const [, url = "", secret = ""] = ADDRESS.exec(address) ?? [];
  assert.notEqual(secret, "", address);
  return { process, address, url, secret, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() };
}
