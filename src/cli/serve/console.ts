/**
 * `gate console`: serves the console on this machine alone, and opens the browser.
 *
 * @module
 */

import type { GateConfig } from "../../config/types.ts";
import { CONSOLE_PATH } from "../../server/http/console_pages.ts";
import { CliError } from "../terminal/cli_error.ts";
import { writeError, writeOut } from "../terminal/output.ts";
import { runServe } from "./serve.ts";

/** The flags of `gate console`. */
export interface ConsoleFlags {
  readonly config?: string;
  readonly dataDir?: string;
  readonly evidenceKeys?: string;
  readonly port?: string;
  /** False with `--no-open`. */
  readonly open?: boolean;
  readonly json?: boolean;
}

/** The program that opens an address, by operating system. */
const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ["open"],
  windows: ["cmd", "/c", "start", ""],
};

/** Runs `gate console` until a signal stops it. */
export async function runConsole(flags: ConsoleFlags): Promise<number> {
  const { port = "0" } = flags;
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new CliError("usage", `Cannot use --port "${port}": must be an integer from 0 to 65535`);
  }
  const valued = [["config", flags.config], ["data-dir", flags.dataDir], [
    "evidence-keys",
    flags.evidenceKeys,
  ]] as const;
  const given = valued.flatMap(([name, value]) => value === undefined ? [] : [`--${name}=${value}`]);
  return await runServe(["--console", "--log-level=warn", ...given], {
    adapt: (config) => localOf(config, Number(port)),
    listening: (url) => {
      writeOut(`${url}${CONSOLE_PATH}\n`);
      if (flags.open !== false) void openBrowser(`${url}${CONSOLE_PATH}`);
    },
  });
}

/** The configuration for a server on the loopback: its caller is the person who may read and write the stores. */
function localOf(config: GateConfig, port: number): GateConfig {
  const { server } = config;
  return {
    ...config,
    server: {
      ...server,
      transport: "http",
      bind: `127.0.0.1:${port}`,
      auth: null,
      tls: null,
      tls_termination: "server",
      // The audit file belongs to the server that runs beside this one. Decisions are in the records all the same.
      audit: { ...server.audit, enabled: false, path: null },
    },
  };
}

async function openBrowser(url: string): Promise<void> {
  const [program = "", ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  const { state } = await Deno.permissions.query({ name: "run", command: program });
  if (state !== "granted") return;
  try {
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    const { success } = await new Deno.Command(program, { args: [...args, url], ...quiet }).output();
    if (!success) writeError("gate warn: the browser did not open: open the address yourself\n");
  } catch {
    writeError(`gate warn: "${program}" is not installed: open the address yourself\n`);
  }
}
