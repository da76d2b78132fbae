/** `gate hook check`: which of the files that decide for a hook can be written by the user who runs it. */

import { dirname, resolve } from "node:path";
import { defaultKeysFolder, loadConfig } from "../../config/load.ts";
import { trustedKeyMembers } from "../../config/trusted_keys.ts";
import type { GateConfig } from "../../config/types.ts";
import { PIPELINE_STORE } from "../store/files.ts";
import { filesOfProvider } from "../permissions/plan.ts";
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
    { path: trust.evidence_keys ?? defaultKeysFolder(config), what: "the keys of people" },
    ...trustedKeyMembers(config).map(({ key_id, path }) => ({ path, what: `the key ${key_id}` })),
    ...providers.flatMap((entry) =>
      filesOfProvider(entry).map((path) => ({ path, what: `what provider ${entry.name} answers` }))
    ),
  ];
}

/**
 * Whether this process can change what is at a path: write it, or replace it or a folder above it. The folders of links
 * count, and those of what links lead to.
 *
 * @param canWrite As {@link canWritePart}
 */
export async function isWritable(
  path: string,
  canWrite: (part: string, inside: string | null) => Promise<boolean> = canWritePart,
): Promise<boolean> {
  for (const start of new Set([path, await Deno.realPath(path).catch(() => path)])) {
    let inside: string | null = null;
    for (let part = start;; part = dirname(part)) {
      if (await canWrite(part, inside)) return true;
      if (part === dirname(part)) break;
      inside = part;
    }
  }
  return false;
}

/**
 * Whether this process can write a file, or replace what is inside a folder; it tries, since modes do not say all. Who owns
 * either can change its mode.
 *
 * @param inside What is inside the folder and counts; null for all of it
 */
async function canWritePart(part: string, inside: string | null): Promise<boolean> {
  const found = await Deno.stat(part).catch(() => null);
  if (found === null) return false;
  const mode = found.mode ?? 0;
  if (found.mode !== null && await Deno.chmod(part, mode & 0o7777).then(() => true, () => false)) return true;
  if (!found.isDirectory) {
    // A pipe would not open before another process reads it.
    const opened = found.isFile ? await Deno.open(part, { write: true }).catch(() => null) : null;
    opened?.close();
    return opened !== null;
  }
  // In a sticky folder each user replaces only what is their own.
  const isKept = (mode & 0o1000) !== 0 && inside !== null && await Deno.lstat(inside).then(() => true, () => false);
  const made = isKept ? null : await Deno.makeTempFile({ dir: part }).catch(() => null);
  if (made !== null) await Deno.remove(made);
  return made !== null;
}
