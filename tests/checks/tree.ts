/**
 * The project's tree as the checks see it: every text file that belongs to it, without what git ignores.
 *
 * @module
 */

import type { SourceFile, Violation } from "./source.ts";

/** The folder that holds `deno.json`. */
export const ROOT_URL: URL = new URL("../../", import.meta.url);

/** Endings of files that are data, not text to read. */
const BINARY_ENDING = /\.(sqlite|db|png|jpg|gif|ico|gz|tar|zip|wasm|der|p12|bin)$/;

/** A file over this many bytes is data: it is listed, but its text is not read. */
const TEXT_BYTES_MAX = 2 * 1024 * 1024;

/** The names directly under the root that `.gitignore` excludes with a line `/name` or `/name/`. */
export function ignoredEntries(gitignore: string): Set<string> {
  const names = gitignore.split("\n").map((line) => /^\/([^/*]+)\/?$/.exec(line.trim())?.[1]);
  return new Set(names.filter((name) => name !== undefined));
}

/** Every file under the root, sorted by path; a file of data has an empty text. */
export async function readTree(root: URL = ROOT_URL): Promise<SourceFile[]> {
  const gitignore = await Deno.readTextFile(new URL(".gitignore", root)).catch(() => "");
  const ignored = ignoredEntries(gitignore).add(".git");
  const files: SourceFile[] = [];
  await collect(root, "", ignored, files);
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

async function collect(folder: URL, prefix: string, ignored: Set<string>, files: SourceFile[]): Promise<void> {
  for await (const entry of Deno.readDir(folder)) {
    const path = prefix + entry.name;
    if (ignored.has(path)) continue;
    if (entry.isDirectory) await collect(new URL(`${entry.name}/`, folder), `${path}/`, ignored, files);
    else files.push({ path, text: await readText(new URL(entry.name, folder)) });
  }
}

async function readText(url: URL): Promise<string> {
  if (BINARY_ENDING.test(url.pathname) || (await Deno.stat(url)).size > TEXT_BYTES_MAX) return "";
  return await Deno.readTextFile(url);
}

/** One violation a line, as `path:line: rule: message`. */
export function formatViolations(violations: readonly Violation[]): string {
  return violations.map((entry) => `${entry.path}:${entry.line}: ${entry.rule}: ${entry.message}`).join("\n");
}
