/**
 * `gate console`: serves the console on this machine alone, and opens the browser. Other users of the machine reach the
 * port too. So the address that it prints has a secret, which the first browser turns into its session.
 */

import { dirname, join } from "node:path";
import type { GateConfig } from "../../config/types.ts";
import { createSecret } from "../../server/auth/one_time_link.ts";
import { CONSOLE_PATH } from "../../server/http/console_pages.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { type ConfigFlags, writeAnswer, writeError } from "../terminal/output.ts";
import { runServe } from "./serve.ts";
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

/** The flags of `gate console`. */
export interface ConsoleFlags extends ConfigFlags {
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
  const port = consolePort(flags.port);
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
        hintAt(config, flags);
        return localOf(config, port);
      },
      listening: (url) => {
        const address = `${url}${CONSOLE_PATH}#/open/${secret}`;
        writeAnswer("console", flags, { address }, `${address}\n`);
        if (flags.open !== false) void openBrowser(opening, dataDir, address);
      },
      link: { secret, taken: opening.remove, refused: warnOfSecondUse },
      opens: flags.open !== false,
    });
  } finally {
    opening.remove();
  }
}

/** Says what a newcomer would otherwise find missing on the page. */
function hintAt({ run_state_store, trust }: GateConfig, { evidenceKeys }: ConsoleFlags): void {
  if (run_state_store.type === "memory") {
    writeError(
      "gate warn: the console stays empty, because its store is in memory: " +
        "make a gate.toml here with gate init, or name one with --config\n",
    );
  }
  if (evidenceKeys === undefined && trust.evidence_keys === null) {
    writeError(
      "gate info: to approve here, trust the keys of people with gate key trust, or name their folder: --evidence-keys DIR\n",
    );
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
    evidence: { allow_raw_values: true, require_provider_opt_in: false },
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

/** Before the address in the file that leads to it. */
const OPENING_HEAD = '<!doctype html>\n<meta charset="utf-8">\n<meta http-equiv="refresh" content="0;url=';

/** A file that leads the browser to an address. */
interface OpeningFile {
  /** Writes the file; returns its path. */
  readonly write: (folder: string, address: string) => string;
  readonly remove: () => void;
}

/**
 * Other users see the arguments of every process, and the secret if the address were one of them. This file has mode
 * 0600, and is removed once the browser has opened the address.
 */
function createOpeningFile(): OpeningFile {
  let path: string | null = null;
  let held: Deno.FsFile | null = null;
  const remove = (): void => {
    held?.close();
    held = null;
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
      // The lock shows to other processes that this one runs. It is shared, so that the browser can read the file
      // everywhere.
      held = Deno.openSync(path, { read: true, write: true });
      held.lockSync(false);
      Deno.writeTextFileSync(path, `${OPENING_HEAD}${address}">\n<title>gate</title>\n`);
      removeStaleFiles(dirname(path));
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

/** The name of a file that leads to an address. */
const OPENING_NAME = /^gate-console-[^/\\]{1,64}\.html$/;
/** Most bytes of such a file. */
const OPENING_BYTES = 1024;

/**
 * Removes the files of processes that were killed before they could. A process locks its file as long as it runs; a
 * file of another kind with such a name stays.
 */
function removeStaleFiles(folder: string): void {
  try {
    for (const { name, isFile } of Deno.readDirSync(folder)) {
      if (isFile && OPENING_NAME.test(name)) removeStaleFile(join(folder, name));
    }
  } catch {
    // A folder that cannot be listed keeps them. Their secrets ended with their processes.
  }
}

function removeStaleFile(path: string): void {
  try {
    using file = Deno.openSync(path, { read: true, write: true });
    if (!file.tryLockSync(true)) return;
    const bytes = new Uint8Array(OPENING_BYTES);
    const text = new TextDecoder().decode(bytes.subarray(0, file.readSync(bytes) ?? 0));
    if (text.startsWith(OPENING_HEAD)) Deno.removeSync(path);
  } catch {
    // Another process removed it, or it belongs to another user.
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
