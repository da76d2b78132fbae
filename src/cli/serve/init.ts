import { dirname, join, resolve } from "node:path";
import { DEFAULT_CONFIG_FILE, loadConfig } from "../../config/load.ts";
import { STARTER_CONFIG, STARTER_EVIDENCE_FOLDER } from "../../config/sections/starter.ts";
import { serveCommand, stableCommand } from "../client/block.ts";
import { removedUnlessDone } from "../../store/unfinished.ts";
import { cannotWrite, writeNewFile } from "../terminal/new_file.ts";
import { type JsonFlag, writeAnswer } from "../terminal/output.ts";
import { shellLine } from "../terminal/text.ts";

/** The flags of `gate init`. */
export interface InitOptions extends JsonFlag {
  readonly force?: boolean;
  readonly stdout?: boolean;
}

/** Runs `gate init [FILE]`. */
export async function runInit(file: string | undefined, options: InitOptions): Promise<number> {
  if (options.stdout === true) {
    const note = `Next: create the folder "${STARTER_EVIDENCE_FOLDER}" beside the file\n`;
    return writeAnswer("init", options, { path: null, content: STARTER_CONFIG }, STARTER_CONFIG, { note });
  }
  const path = resolve(file ?? DEFAULT_CONFIG_FILE);
  await writeStarter(path, STARTER_CONFIG, options.force === true);
  const { fault, ...planned } = await serveCommand(await loadConfig({ config: path }));
  const start = fault === null ? stableCommand(planned) : null;
  const how = start === null
    ? `No line serves it with the permissions that it needs alone: ${fault}`
    : `This serves it, with the permissions that it needs:\n${shellLine([start.command, ...start.args])}`;
  const note = `Next: gate doctor\n${how}\n`;
  return writeAnswer("init", options, { path, content: STARTER_CONFIG, start }, `${path}\n`, { note });
}

/** Writes a starter configuration, and creates the folder that it names. */
export async function writeStarter(path: string, text: string, replaces = false): Promise<void> {
  await writeNewFile(path, text, { createNew: !replaces, hint: "--force replaces it" });
  const evidence = join(dirname(path), STARTER_EVIDENCE_FOLDER);
  await removedUnlessDone(
    replaces ? [] : [path],
    () =>
      Deno.mkdir(evidence, { recursive: true }).catch((error) => {
        throw cannotWrite(evidence, error);
      }),
  );
}
