/** `gate hook check`: which of the files that decide for a hook can be written by the user who runs it. */

import { dirname, resolve } from "node:path";
import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { PIPELINE_STORE } from "../store/files.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { shown } from "../terminal/text.ts";
import { findHooks, readHooks } from "./hooks_file.ts";

/** Something that decides, and what it is. */
interface Deciding {
  readonly path: string;
  readonly what: string;
}

/** Runs `gate hook check`: an agent runs as the user of its host, so what that user can write the agent can. */
export async function runHookCheck(flags: ConfigFlags & { readonly hooks?: string }): Promise<number> {
  const file = await findHooks(flags.hooks, Deno.cwd());
  const folder = dirname(file);
  const { stop, tool } = await readHooks(file);
  const laws = [...stop === null ? [] : [stop], ...tool ?? []];
  const config = await loadConfig({ ...flags, workingDirectory: folder });
  const deciding = [
    { path: file, what: "which laws are asked" },
    ...new Set(laws.map(({ law }) => resolve(folder, law))).values().map((path) => ({ path, what: "a law" })),
    ...filesOf(config, folder),
  ];
  const writable: Deciding[] = [];
  for (const one of deciding) if (await isWritable(one.path)) writable.push(one);
  const lines = writable.map(({ path, what }) => `warning: ${shown(path)}: this user can write ${what}\n`);
  const none = "This user can write none of the files that decide, nor the folders they lie in\n";
  const text = lines.length === 0 ? none : lines.join("");
  return writeAnswer("hook check", flags, { file, writable }, text);
}

function filesOf(config: GateConfig, folder: string): readonly Deciding[] {
  const { config_path, run_state_store: store, trust, providers } = config;
  const runs = store.type === "postgres" ? null : store.path ?? resolve(folder, PIPELINE_STORE);
  return [
    ...config_path === null ? [] : [{ path: config_path, what: "the configuration" }],
    ...runs === null ? [] : [{ path: runs, what: "the runs; a server keeps them out of its reach" }],
    ...trust.evidence_keys === null ? [] : [{ path: trust.evidence_keys, what: "the keys of people" }],
    ...providers.flatMap((entry) =>
      entry.type === "builtin" && entry.name === "json"
        ? [{ path: entry.config.root, what: `the evidence of provider ${entry.name}` }]
        : []
    ),
  ];
}

/** Whether this process can write a file, replace it, or make one in a folder: it tries, since modes do not say all. */
async function isWritable(path: string): Promise<boolean> {
  const found = await Deno.stat(path).catch((error) => error instanceof Deno.errors.NotFound ? "missing" : null);
  if (found === null) return false;
  if (found === "missing") return await isWritable(dirname(path));
  const opened = found.isFile ? await Deno.open(path, { write: true }).catch(() => null) : null;
  opened?.close();
  if (opened !== null) return true;
  const made = await Deno.makeTempFile({ dir: found.isDirectory ? path : dirname(path) }).catch(() => null);
  if (made !== null) await Deno.remove(made);
  return made !== null;
}
