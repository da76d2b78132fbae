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

/** Whether `.gitignore` excludes a path with a line that begins at the root; `*` stands for a part of one name. */
export function isIgnored(gitignore: string, path: string): boolean {
  return gitignore.split("\n").some((line) => {
    const [, pattern] = /^\/(.+?)\/?$/.exec(line.trim()) ?? [];
    if (pattern === undefined) return false;
    const names = pattern.split("/");
    const entries = path.split("/");
    return names.length === entries.length && names.every((name, index) => matchesName(name, entries[index] ?? ""));
  });
}

function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split("*").map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join(".*")}$`).test(name);
}

/** Every file under the root, sorted by path; a file of data has an empty text. */
export async function readTree(root: URL = ROOT_URL): Promise<SourceFile[]> {
  const gitignore = await Deno.readTextFile(new URL(".gitignore", root)).catch(() => "");
  const files: SourceFile[] = [];
  await collect(root, "", (path) => path === ".git" || isIgnored(gitignore, path), files);
  return files.sort((a, b) => a.path < b.path ? -1 : 1);
}

/** A page is `README.md` or a Markdown file of `docs`. */
export function pagesOf(files: readonly SourceFile[]): SourceFile[] {
  return files.filter((file) => /^(README\.md|docs\/.*\.md)$/.test(file.path));
}

async function collect(
  folder: URL,
  prefix: string,
  ignored: (path: string) => boolean,
  files: SourceFile[],
): Promise<void> {
  for await (const entry of Deno.readDir(folder)) {
    const path = prefix + entry.name;
    if (ignored(path)) continue;
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
