/**
 * `gate init`: writes a starter configuration, and makes the folder that it names.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { DEFAULT_CONFIG_FILE } from "../../config/load.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeError, writeOut, writeResult } from "../terminal/output.ts";
import { STARTER_CONFIG, STARTER_EVIDENCE_FOLDER } from "./starter.ts";

/** The flags of `gate init`. */
export interface InitOptions {
  readonly force?: boolean;
  readonly stdout?: boolean;
  readonly json?: boolean;
}

/** Runs `gate init [FILE]`. */
export async function runInit(file: string | undefined, options: InitOptions): Promise<number> {
  if (options.stdout === true) {
    if (options.json === true) writeResult("init", { path: null, content: STARTER_CONFIG });
    else {
      writeOut(STARTER_CONFIG);
      writeError(`Next: make the folder "${STARTER_EVIDENCE_FOLDER}" beside the file\n`);
    }
    return EXIT.ok;
  }
  const path = resolve(file ?? DEFAULT_CONFIG_FILE);
  await writeStarter(path, options.force === true);
  await Deno.mkdir(join(dirname(path), STARTER_EVIDENCE_FOLDER), { recursive: true });
  if (options.json === true) writeResult("init", { path, content: STARTER_CONFIG });
  else {
    writeOut(`${path}\n`);
    writeError("Next: gate doctor\n");
  }
  return EXIT.ok;
}

async function writeStarter(path: string, force: boolean): Promise<void> {
  try {
    // Without --force the file must be new: asked of the system in one step, so that nothing is overwritten in between.
    await Deno.writeTextFile(path, STARTER_CONFIG, force ? {} : { createNew: true });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new CliError("file_exists", `Cannot write "${path}": it exists already`, "--force replaces it");
    }
    if (error instanceof Deno.errors.NotFound) {
      throw new CliError("usage", `Cannot write "${path}": folder does not exist`);
    }
    throw error;
  }
}
