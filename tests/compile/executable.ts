/**
 * Compiles gate to one executable.
 *
 * @module
 */

import { buildPages } from "../../src/console/assets.ts";
import { inFolder } from "../e2e/gate_command.ts";
import { NO_TELEMETRY, type Profile } from "../release/program.ts";

/** The built files of the console, where the program looks for them. */
export const CONSOLE_ASSETS = "src/console/assets.json";

/** The folder that holds `deno.json`. */
export const ROOT = new URL("../../", import.meta.url).pathname;

/** Platforms that the runtime compiles for. */
export const TARGETS: readonly string[] = [
  "aarch64-apple-darwin",
  "aarch64-pc-windows-msvc",
  "aarch64-unknown-linux-gnu",
  "x86_64-apple-darwin",
  "x86_64-pc-windows-msvc",
  "x86_64-unknown-linux-gnu",
];

/** Parts of packages that are not run: what is for compilers, debuggers and readers. Packages run as JavaScript. Licences stay. */
const UNUSED_FILE = /\.(map|md|[cm]?ts)$/;

/** What to compile. */
export interface Compilation {
  /** One of {@link TARGETS}; undefined for this machine's own. */
  readonly target?: string | undefined;
  readonly output: string;
  /** The configuration whose needs are all that is baked in; null for the set `serve` of `deno.json`. */
  readonly config: string | null;
  /** The set of permissions of `deno.json` where there is no configuration; `serve` by default. */
  readonly profile?: Profile;
}

/** How a compilation ended, with all that was said. */
export interface Compiled {
  readonly success: boolean;
  readonly said: string;
}

/** Compiles. `DENORT_BIN` in the environment names a base to use in place of the one that the runtime downloads. */
export async function compile(compilation: Compilation, env: Record<string, string> = {}): Promise<Compiled> {
  const { target, output, config, profile = "serve" } = compilation;
  const [words, excluded, assets] = await Promise.all([
    compileWords(config, profile),
    unusedFiles(),
    buildPages(),
  ]);
  // A compiled program cannot bundle its console, so the built files are embedded with the folder of the source.
  const built = `${ROOT}${CONSOLE_ASSETS}`;
  await Deno.writeTextFile(built, JSON.stringify(assets));
  try {
    const { success, said } = await deno([
      ...["compile", ...words],
      ...target === undefined ? [] : ["--target", target],
      ...["--include", built],
      ...excluded.flatMap((path) => ["--exclude", path]),
      ...["--output", output, `${ROOT}main.ts`],
    ], env);
    return { success, said: success ? said : withWayOut(said) };
  } finally {
    await Deno.remove(built);
  }
}

/** What a compilation that failed said; where the runtime could not fetch its base, with what to do without. */
export function withWayOut(said: string): string {
  const base = /error sending request for url \((\S*\/denort-[^/)]*)\)/.exec(said)?.[1];
  if (base === undefined) return said;
  return `${said.trimEnd()}\nCannot fetch the base of the executable: fetch ${base} where there is a network, unpack it, and name ` +
    "what is in it with DENORT_BIN=/path/to/denort\n";
}

/** The files that have to be named to be embedded, from the root of the checkout. */
export async function includedFiles(): Promise<readonly string[]> {
  const words = await compileWords(null, "serve");
  return words.filter((_, index) => words[index - 1] === "--include").map((path) => path.slice(ROOT.length));
}

/** Arguments of `deno compile` as `gate permissions` prints them, without the output and the entry. */
async function compileWords(config: string | null, profile: Profile): Promise<readonly string[]> {
  let words: readonly string[] = [];
  // In a folder of its own it finds no configuration that it was not told of.
  await inFolder(async (folder) => {
    const given = config === null ? [] : ["--config", config];
    const args = [...["run", "--no-prompt", "--quiet", "-P=serve", "--config", `${ROOT}deno.json`, `${ROOT}main.ts`]];
    const { success, out, said } = await deno(
      [...args, "permissions", "--json", ...given],
      { GATE_CONFIG: "" },
      folder,
    );
    if (!success) throw new Error(`Cannot tell what to compile: ${said}`);
    words = (JSON.parse(out) as { readonly result: { readonly compile: readonly string[] } }).result.compile;
  });
  const inner = words.slice(2, -3);
  if (config !== null) return inner;
  return ["--no-prompt", `-P=${profile}`, ...inner.filter((word) => !/^--(allow-|deny-net|no-prompt)/.test(word))];
}

interface ModuleGraph {
  readonly npmPackages: Readonly<Record<string, { readonly localPath?: string }>>;
}

/** Files of packages that are not embedded. */
async function unusedFiles(): Promise<readonly string[]> {
  const { success, said, out } = await deno(["info", "--json", "--quiet", "main.ts"], {});
  if (!success) throw new Error(`Cannot read the modules of gate: ${said}`);
  const { npmPackages } = JSON.parse(out) as ModuleGraph;
  const folders = new Set(Object.values(npmPackages).flatMap(({ localPath }) => localPath ?? []));
  const files = new Set([...folders].flatMap(filesUnder));
  // The form of a module for `require`: what is embedded imports the one beside it.
  const isForRequire = (path: string): boolean =>
    path.endsWith(".cjs") && [".js", ".mjs"].some((ending) => files.has(path.replace(/\.cjs$/, ending)));
  return [...files].filter((path) => UNUSED_FILE.test(path) || isForRequire(path)).sort();
}

function filesUnder(folder: string): string[] {
  let entries: Deno.DirEntry[];
  try {
    entries = [...Deno.readDirSync(folder)];
  } catch (error) {
    // A package of the tests that nobody has asked for yet.
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
  return entries.flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory ? filesUnder(path) : [path];
  });
}

/** Runs the runtime. What its environment says of telemetry would be built into an executable. */
async function deno(
  args: readonly string[],
  env: Record<string, string>,
  cwd = ROOT,
): Promise<Compiled & { readonly out: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0", DENO_NO_UPDATE_CHECK: "1", ...env, ...NO_TELEMETRY },
    stdin: "null",
  });
  const { success, stdout, stderr } = await command.output();
  const [out, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { success, out: out ?? "", said: `${errors}${out}` };
}
