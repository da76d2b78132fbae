/**
 * Caches of the runtime with some packages only. A program that needs another one downloads it, and then the cache has it
 * too.
 *
 * @module
 */

import assert from "node:assert/strict";
import { join, relative } from "node:path";
import type { Downloads } from "../../docs/examples/release_gate/downloads.ts";

/** The folder that holds `deno.json`. */
export const CHECKOUT = new URL("../../", import.meta.url).pathname;

interface ModuleGraph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

/** Runs the runtime, in the checkout where no folder is named. */
export async function deno(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd = CHECKOUT,
): Promise<Deno.CommandOutput> {
  return await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
  }).output();
}

/** Whether packages and their bytes stay within what a command may download. */
export function isWithin(found: { readonly packages: number; readonly bytes: number }, most: Downloads): boolean {
  return found.packages <= most.packages && found.bytes <= most.megabytes * 1_000_000;
}

/** The bytes of the files below a folder. */
export async function bytesOf(folder: string): Promise<number> {
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    bytes += isDirectory ? await bytesOf(join(folder, name)) : (await Deno.stat(join(folder, name))).size;
  }
  return bytes;
}

/** Copies a folder and returns the bytes of its files. */
async function copyFolder(from: string, to: string): Promise<number> {
  await Deno.mkdir(to, { recursive: true });
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (isDirectory) {
      bytes += await copyFolder(join(from, name), join(to, name));
    } else {
      await Deno.copyFile(join(from, name), join(to, name));
      bytes += (await Deno.stat(join(to, name))).size;
    }
  }
  return bytes;
}

/** The folders of packages in a cache, each a path that ends in name and version. */
export async function packagesIn(folder: string): Promise<string[]> {
  const found = await Array.fromAsync(Deno.readDir(folder));
  const below = found.filter(({ isDirectory }) => isDirectory).map(async ({ name }) => {
    const path = join(folder, name);
    return /^\d+\.\d+\.\d+/.test(name) ? [path] : await packagesIn(path);
  });
  return (await Promise.all(below)).flat().sort();
}

/** The program, and the modules that name the packages of tests. */
const MODULES = [
  "main.ts",
  ...["ajv", "canonicalize", "fast_check", "json_canon"].map((name) => `tests/packages/${name}.ts`),
];

/**
 * Copies packages that the program or its tests name from the cache of this machine into an empty one; returns their
 * bytes.
 */
export async function copyPackages(names: readonly string[], folder: string): Promise<number> {
  const text = new TextDecoder();
  const graphs = await Promise.all(MODULES.map(async (module) => {
    const { stdout } = await deno(["info", "--json", "--lock=tests/deno.lock", module]);
    return (JSON.parse(text.decode(stdout)) as ModuleGraph).npmPackages;
  }));
  const needed = Object.values(Object.assign({}, ...graphs) as ModuleGraph["npmPackages"]).filter(({ name }) =>
    names.includes(name)
  );
  assert.equal(needed.length, names.length);
  const { npmCache } = JSON.parse(text.decode((await deno(["info", "--json"])).stdout)) as { npmCache: string };
  let bytes = 0;
  for (const { localPath } of needed) {
    bytes += await copyFolder(localPath, join(folder, "npm", relative(npmCache, localPath)));
  }
  return bytes;
}
