/** The demo from a cache that holds only the packages which a reader downloads at the first run. */
import assert from "node:assert/strict";
import { join, relative } from "node:path";
import { MEGABYTES_MAX, PACKAGES_MAX } from "../../docs/examples/release_gate/demo.ts";
import { inFolder } from "./gate_command.ts";

const CHECKOUT = new URL("../../", import.meta.url).pathname;

/** The packages that the demo runs. A module of it that needs another one downloads that, or fails without a network. */
const PACKAGES = [
  "@eslint-community/regexpp",
  "@modelcontextprotocol/client",
  "@modelcontextprotocol/core",
  "ajv",
  "canonicalize",
  "commander",
  "cross-spawn",
  "eventsource",
  "eventsource-parser",
  "fast-check",
  "fast-deep-equal",
  "fast-uri",
  "isexe",
  "jose",
  "json-canon",
  "json-p3",
  "json-schema-traverse",
  "path-key",
  "pkce-challenge",
  "pure-rand",
  "require-from-string",
  "shebang-command",
  "shebang-regex",
  "smol-toml",
  "which",
  "yaml",
  "zod",
];

interface ModuleGraph {
  readonly npmPackages: Readonly<Record<string, { readonly name: string; readonly localPath: string }>>;
}

async function deno(args: readonly string[], env: Record<string, string> = {}): Promise<Deno.CommandOutput> {
  return await new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: CHECKOUT,
    env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", ...env },
    stdin: "null",
  }).output();
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
async function packagesIn(folder: string): Promise<string[]> {
  const found = await Array.fromAsync(Deno.readDir(folder));
  const below = found.filter(({ isDirectory }) => isDirectory).map(async ({ name }) => {
    const path = join(folder, name);
    return /^\d+\.\d+\.\d+/.test(name) ? [path] : await packagesIn(path);
  });
  return (await Promise.all(below)).flat().sort();
}

Deno.test("the demo gates the release of the checkout with at most 30 packages and 30 MB, and keeps its runpack", () =>
  inFolder(async (folder) => {
    const text = new TextDecoder();
    const { npmPackages } = JSON.parse(text.decode((await deno(["info", "--json", "main.ts"])).stdout)) as ModuleGraph;
    const needed = Object.values(npmPackages).filter(({ name }) => PACKAGES.includes(name));
    assert.equal(needed.length, PACKAGES.length);
    const { npmCache } = JSON.parse(text.decode((await deno(["info", "--json"])).stdout)) as { npmCache: string };
    let bytes = 0;
    for (const { localPath } of needed) {
      bytes += await copyFolder(localPath, join(folder, "npm", relative(npmCache, localPath)));
    }
    const before = await packagesIn(join(folder, "npm"));
    assert.ok(before.length <= PACKAGES_MAX, `${before.length} packages`);
    assert.ok(bytes <= MEGABYTES_MAX * 1_000_000, `${bytes} bytes`);

    const branch = { GITHUB_REF_NAME: "main", GITHUB_SHA: "4f2a9c1".padEnd(40, "0") };
    const page = await Deno.readTextFile(join(CHECKOUT, "README.md"));
    const [, line = ""] = /^npx -y deno@\S+ (run .*demo\.ts)$/m.exec(page) ?? [];
    const demo = line.split(" ");
    const { code, stdout, stderr } = await deno(demo, { DENO_DIR: folder, ...branch });
    const printed = text.decode(stdout);
    assert.equal(code, 0, `${printed}${text.decode(stderr)}`);
    assert.deepEqual(await packagesIn(join(folder, "npm")), before);
    assert.ok(printed.startsWith(`Downloads at most ${PACKAGES_MAX} packages from npm (${MEGABYTES_MAX} MB)`), printed);
    assert.match(printed, /verified \d+ claims satisfied, 0 violated/);

    const [, kept = ""] = /^ {2}check it (?:deno|npx -y deno@\S+) (.*)$/m.exec(printed) ?? [];
    const verified = await deno(kept.split(" "), { DENO_DIR: folder });
    assert.equal(verified.code, 0, text.decode(verified.stdout));
    assert.deepEqual(await packagesIn(join(folder, "npm")), before);
    await Deno.remove(join(CHECKOUT, kept.split(" ").at(-1) ?? ""), { recursive: true });
  }));
