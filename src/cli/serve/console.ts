/**
 * `gate console`: serves the console on this machine alone, and opens the browser. The address that it prints has a secret, which the first
 * browser turns into its session, since other users of the machine reach the port too.
 *
 * @module
 */

import type { GateConfig } from "../../config/types.ts";
import { createSecret } from "../../server/auth/one_time_link.ts";
import { CONSOLE_PATH } from "../../server/http/console_pages.ts";
import { CliError } from "../terminal/cli_error.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { type ConfigFlags, writeError, writeOut } from "../terminal/output.ts";
import { runServe } from "./serve.ts";

/** The flags of `gate console`. */
export interface ConsoleFlags extends ConfigFlags {
  readonly dataDir?: string;
  readonly evidenceKeys?: string;
  readonly port?: string;
  /** False with `--no-open`. */
  readonly open?: boolean;
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
  const secret = createSecret();
  const opening = createOpeningFile();
  let dataDir = "";
  try {
    return await runServe(["--console", "--log-level=warn", ...given], {
      adapt: (config) => {
        dataDir = dataDirOf(config, flags.dataDir);
        return localOf(config, Number(port));
      },
      listening: (url) => {
        const address = `${url}${CONSOLE_PATH}#/open/${secret}`;
        writeOut(`${address}\n`);
        if (flags.open !== false) void openBrowser(opening, dataDir, address);
      },
      link: { secret, taken: opening.remove, refused: warnOfSecondUse },
    });
  } finally {
    opening.remove();
  }
}

function warnOfSecondUse(): void {
  writeError(
    "gate warn: the printed address was opened again, and refused: it works once. " +
      "If your browser shows no runs, someone else has opened it: stop gate console\n",
  );
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

/** A file that leads the browser to an address. */
interface OpeningFile {
  /** Writes the file; returns its path. */
  readonly write: (folder: string, address: string) => string;
  readonly remove: () => void;
}

/**
 * Other users see the arguments of every process, and the secret if the address were one of them. This file has mode 0600, and is removed
 * once the browser has opened the address.
 */
function createOpeningFile(): OpeningFile {
  let path: string | null = null;
  const remove = (): void => {
    if (path === null) return;
    try {
      Deno.removeSync(path);
    } catch {
      // It is gone already; its secret works once.
    }
    path = null;
  };
  // A second signal, and the end of the terminal, end the process at once.
  globalThis.addEventListener("unload", remove);
  return {
    write: (folder, address) => {
      const options = { prefix: "gate-console-", suffix: ".html" };
      // A browser in a sandbox reads the folders of its user, and no temporary files.
      path = newFile({ ...options, dir: folder }) ?? Deno.makeTempFileSync(options);
      const refresh = `<meta http-equiv="refresh" content="0;url=${address}">`;
      Deno.writeTextFileSync(path, `<!doctype html>\n<meta charset="utf-8">\n${refresh}\n<title>gate</title>\n`);
      return path;
    },
    remove,
  };
}

/** A new file with mode 0600; null where none can be made. */
function newFile(options: Deno.MakeTempOptions): string | null {
  try {
    return Deno.makeTempFileSync(options);
  } catch {
    return null;
  }
}

async function openBrowser(opening: OpeningFile, folder: string, address: string): Promise<void> {
  const [program = "", ...args] = OPENERS[Deno.build.os] ?? ["xdg-open"];
  const { state } = await Deno.permissions.query({ name: "run", command: program });
  if (state !== "granted") return;
  let path: string;
  try {
    path = opening.write(folder, address);
  } catch {
    return writeError("gate warn: no file can be written that opens the browser: open the address yourself\n");
  }
  try {
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    const { success } = await new Deno.Command(program, { args: [...args, path], ...quiet }).output();
    if (!success) writeError("gate warn: the browser did not open: open the address yourself\n");
  } catch {
    writeError(`gate warn: "${program}" is not installed: open the address yourself\n`);
  }
}
