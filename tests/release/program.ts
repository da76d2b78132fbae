/**
 * The files of an installed gate. Where no base of an executable is at hand, that is the runtime, the program and its packages under a
 * launcher; both start the same program with the same permissions.
 *
 * @module
 */

import { stripTypeScriptTypes } from "node:module";

import { buildPages } from "../../src/console/assets.ts";
import { CONSOLE_ASSETS } from "../compile/executable.ts";
import { gateProcess, inFolder } from "../e2e/gate_command.ts";
import { readTree } from "../checks/tree.ts";
import { isTest } from "../checks/layering.ts";
import type { PackageFile } from "./archives.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const encoder = new TextEncoder();

/** A platform that gate is released for. */
export interface Platform {
  /** As the runtime names it. */
  readonly target: string;
  /** As Node names its system and processor. */
  readonly os: "darwin" | "linux" | "win32";
  readonly cpu: "arm64" | "x64";
  /** The npm package that holds the runtime. */
  readonly runtime: string;
}

/** Every platform of a release. */
export const PLATFORMS: readonly Platform[] = [
  { target: "aarch64-apple-darwin", os: "darwin", cpu: "arm64", runtime: "@deno/darwin-arm64" },
  { target: "aarch64-pc-windows-msvc", os: "win32", cpu: "arm64", runtime: "@deno/win32-arm64" },
  { target: "aarch64-unknown-linux-gnu", os: "linux", cpu: "arm64", runtime: "@deno/linux-arm64-glibc" },
  { target: "x86_64-apple-darwin", os: "darwin", cpu: "x64", runtime: "@deno/darwin-x64" },
  { target: "x86_64-pc-windows-msvc", os: "win32", cpu: "x64", runtime: "@deno/win32-x64" },
  { target: "x86_64-unknown-linux-gnu", os: "linux", cpu: "x64", runtime: "@deno/linux-x64-glibc" },
];

/** The version of the runtime in the packages of a platform: this runtime's for its own, else `version`. */
export function runtimeVersion({ target }: Platform, version: string): string {
  return target === Deno.build.target ? Deno.version.deno : version;
}

/** A package of npm that gate runs. */
export interface Dependency {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
}

/** What is installed, in the order of paths. */
export interface Program {
  readonly files: readonly PackageFile[];
  readonly dependencies: readonly Dependency[];
}

/** Parts of packages that the program never reads. Licences stay. */
const UNUSED_FILE = /\.(map|md|[cm]?ts|flow)$|(^|\/)\./;

/** Reads the program of this checkout: modules, documents, settings and packages, without tests. */
export async function readProgram(): Promise<Program> {
  const dependencies = await readDependencies();
  const tree = await readTree();
  const own = tree.filter(({ path }) =>
    path === "main.ts" || /^(src|docs)\//.test(path) && !isTest(path) && !path.endsWith(".png")
  );
  const texts = own.map(({ path, text }) =>
    path.endsWith(".ts")
      ? { path: asJavaScript(path), bytes: encoder.encode(javaScriptOf(text)) }
      : { path, bytes: encoder.encode(text) }
  );
  const packages = dependencies.flatMap(({ name, folder }) =>
    filesUnder(folder).filter((path) => !UNUSED_FILE.test(path)).map((path) => ({
      path: `node_modules/${name}/${path}`,
      bytes: Deno.readFileSync(`${folder}/${path}`),
    }))
  );
  const assets = { path: CONSOLE_ASSETS, bytes: encoder.encode(JSON.stringify(await buildPages())) };
  const licence = { path: "LICENSE", bytes: await Deno.readFile(`${ROOT}LICENSE`) };
  return { files: [...texts, ...packages, assets, licence, await settings(dependencies)], dependencies };
}

function asJavaScript(path: string): string {
  return path.replace(/\.ts$/, ".js");
}

/** A relative path to a module of gate, at the end of a text in quotes. */
const MODULE_PATH = /(?<=["'`](?:\.\.?\/|src\/|main)[^"'`\n]*)\.ts(?=["'`])/g;

/** A module in JavaScript: below a folder `node_modules`, where npm installs it, the runtime accepts nothing else. */
function javaScriptOf(text: string): string {
  return stripTypeScriptTypes(text, { mode: "transform" }).replaceAll(MODULE_PATH, ".js");
}

/** The settings of the program alone: its imports and the permissions of its launchers. */
async function settings(dependencies: readonly Dependency[]): Promise<PackageFile> {
  const all = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`)) as {
    readonly imports: Readonly<Record<string, string>>;
    readonly permissions: Readonly<Record<string, unknown>>;
    readonly [name: string]: unknown;
  };
  const names = dependencies.map(({ name }) => name);
  const imports = Object.entries(all.imports).filter(([, to]) =>
    !to.startsWith("npm:") || names.some((name) => new RegExp(`^npm:/?${name}@`).test(to))
  );
  const { serve, plan, verify } = all.permissions;
  const kept = { ...all, imports: Object.fromEntries(imports), permissions: { serve, plan, verify } } as Record<
    string,
    unknown
  >;
  for (const name of ["tasks", "fmt", "lint", "lock", "test", "exclude"]) delete kept[name];
  return {
    path: "deno.json",
    bytes: encoder.encode(`${JSON.stringify({ ...kept, lock: false, nodeModulesDir: "manual" }, null, 2)}\n`),
  };
}

interface ModuleGraph {
  readonly modules: readonly {
    readonly specifier: string;
    readonly npmPackage?: string;
    readonly error?: string;
    readonly dependencies?: readonly { readonly code?: { readonly specifier?: string } }[];
  }[];
  readonly redirects: Readonly<Record<string, string>>;
  readonly npmPackages: Readonly<Record<string, NpmPackage>>;
}

interface NpmPackage {
  readonly name: string;
  readonly version: string;
  readonly dependencies: readonly string[];
  readonly localPath: string;
}

/** The packages that modules of gate load, with all that these need. A package of which only types are imported is not loaded. */
export async function readDependencies(): Promise<readonly Dependency[]> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "--quiet", "main.ts"],
    cwd: ROOT,
    stdin: "null",
    stderr: "inherit",
  });
  const { success, stdout } = await command.output();
  if (!success) throw new Error("Cannot read the modules of gate");
  const { modules, redirects, npmPackages } = JSON.parse(new TextDecoder().decode(stdout)) as ModuleGraph;
  const imported = modules.flatMap(({ dependencies = [] }) =>
    dependencies.flatMap(({ code }) => code?.specifier ?? [])
  );
  const loaded = new Set(imported.map((specifier) => redirects[specifier] ?? specifier));
  const reached = new Set(
    modules.flatMap(({ specifier, npmPackage }) => loaded.has(specifier) ? npmPackage ?? [] : []),
  );
  // A set that grows while it is walked is walked to its end.
  for (const id of reached) npmPackages[id]?.dependencies.forEach((one) => reached.add(one));
  const found = [...reached].sort().map((id) => {
    const one = npmPackages[id];
    if (one === undefined) throw new Error(`Cannot find package "${id}" in the graph of modules`);
    return { name: one.name, version: one.version, folder: one.localPath };
  });
  const twice = found.find(({ name }, index) => found.findIndex((one) => one.name === name) < index);
  if (twice !== undefined) throw new Error(`Cannot lay out packages: "${twice.name}" has two versions`);
  return found;
}

function filesUnder(folder: string, before = ""): readonly string[] {
  return [...Deno.readDirSync(`${folder}/${before}`)].filter(({ name }) => name !== "node_modules")
    .flatMap(({ name, isDirectory }) => isDirectory ? filesUnder(folder, `${before}${name}/`) : [`${before}${name}`])
    .sort();
}

/** The runtime for a platform: this one for its own, else the one of its npm package in a version, which is downloaded. */
async function readRuntime(platform: Platform, version: string): Promise<Uint8Array> {
  if (platform.target === Deno.build.target) return await Deno.readFile(Deno.execPath());
  const found = await findRuntime(platform, version);
  if ("why" in found) throw new Error(`Cannot release for ${platform.target}: ${found.why}`);
  return await Deno.readFile(`${found.folder}/${platform.os === "win32" ? "deno.exe" : "deno"}`);
}

/** What the runtime says of a package, or of a version, that the registry does not have. Other failures say nothing about the registry. */
const NOT_IN_REGISTRY = /^Could not find npm package | does not exist\.$/;

/**
 * Why there is no runtime for a platform in a version; null where there is one.
 *
 * @throws {Error} If the registry cannot be asked
 */
export async function whyNoRuntime(platform: Platform, version: string): Promise<string | null> {
  if (platform.target === Deno.build.target) return null;
  const found = await findRuntime(platform, version);
  if (!("why" in found)) return null;
  if (NOT_IN_REGISTRY.test(found.why)) return found.why;
  throw new Error(`Cannot tell whether there is a runtime for ${platform.target}: ${found.why}`);
}

/** The folder of the npm package that holds the runtime of a platform, or why it cannot be downloaded. */
async function findRuntime(
  { runtime }: Platform,
  version: string,
): Promise<{ readonly folder: string } | { readonly why: string }> {
  const specifier = `npm:${runtime}@${version}`;
  const args = ["info", "--json", "--quiet", "--no-config", "--no-lock", specifier];
  const { success, stdout } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stderr: "inherit" })
    .output();
  if (!success) throw new Error(`Cannot download ${specifier}`);
  const { npmPackages, modules } = JSON.parse(new TextDecoder().decode(stdout)) as ModuleGraph;
  const folder = Object.values(npmPackages).find(({ name }) => name === runtime)?.localPath;
  if (folder !== undefined) return { folder };
  return { why: modules.flatMap(({ error }) => error ?? [])[0] ?? `Cannot find ${specifier}` };
}

/** Permissions that a launcher starts commands with: sets of `deno.json`. */
export type Profile = "serve" | "verify";

/** The launchers: commands of `gate` may do what any of them needs, `gate-verify` may read and nothing else. */
export const LAUNCHERS: readonly { readonly name: string; readonly profile: Profile }[] = [
  { name: "gate", profile: "serve" },
  { name: "gate-verify", profile: "verify" },
];

/** Flags of the runtime wherever a package starts it, beside those for permissions; paths begin with `folder`. */
export function runtimeFlags(folder: string): readonly string[] {
  const flags = ["--no-prompt", "--quiet", "--unstable-lazy-dynamic-imports", "--cached-only", "--no-lock"];
  return ["run", ...flags, "--config", `${folder}deno.json`];
}

/** A folder that no machine has, in place of one that is known only when a package is started. */
const UNKNOWN_FOLDER = "/folder-of-the-reader";

/**
 * The arguments of the runtime that serve a data folder without a configuration: with the permissions that
 * `gate permissions` prints for it. The program is in `folder`.
 */
export async function dataFolderArguments(folder: string, data: string): Promise<readonly string[]> {
  let grants: readonly string[] = [];
  await inFolder(async (empty) => {
    const { code, stdout, stderr } = await gateProcess(empty, "permissions", "--flags", "--data-dir", UNKNOWN_FOLDER);
    if (code !== 0) throw new Error(`Cannot tell the permissions of a data folder: ${stderr}`);
    grants = stdout.trim().split("\n").map((flag) => flag.replaceAll(UNKNOWN_FOLDER, data).replaceAll(ROOT, folder));
  });
  return [...runtimeFlags(folder), ...grants, `${folder}main.js`, "serve", "--data-dir", data];
}

/** Switches the exporter of the runtime off. Each of the variables alone switches it on. */
export const NO_TELEMETRY = {
  OTEL_DENO: "false",
  OTEL_DENO_TRACING: "false",
  OTEL_DENO_METRICS: "false",
  OTEL_DENO_CONSOLE: "ignore",
} as const;

/** What the environment of the runtime has wherever a package starts it. */
export const RUNTIME_ENVIRONMENT = { DENO_NO_UPDATE_CHECK: "1", ...NO_TELEMETRY } as const;

/** The environment of the runtime, as `NAME=value`. */
export function assignments(): readonly string[] {
  return Object.entries(RUNTIME_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
}

/** Words on a command line; those with a variable in quotes. */
function commandLine(words: readonly string[], variable: string): string {
  return words.map((word) => word.includes(variable) ? `"${word}"` : word).join(" ");
}

function launcher(profile: Profile): string {
  const start = (...grants: readonly string[]): string =>
    commandLine(["${folder}deno", ...runtimeFlags("${folder}"), ...grants, "${folder}main.js"], "${");
  return `#!/bin/sh
# Starts gate with the runtime beside it. The process is replaced, so that signals reach gate.
set -euf
folder=$(dirname -- "$(readlink -f -- "$0")")/../lib/gate/
export ${assignments().join(" ")}
${
    profile === "verify" ? "" : `case "\${1-} \${2-}" in "serve --help" | "serve -h") ;; "serve "*)
  # A server has the permissions that its configuration needs, one flag a line.
  grants=$(${start("-P=plan")} permissions --flags "$@")
  IFS='
'
  exec ${start("$grants").replace('"$grants"', "$grants")} "$@" ;;
esac
`
  }exec ${start(`-P=${profile}`)} "$@"
`;
}

function windowsLauncher(profile: Profile): string {
  const start = (...grants: readonly string[]): string =>
    commandLine(["%folder%deno.exe", ...runtimeFlags("%folder%"), ...grants, "%folder%main.js"], "%folder%");
  const planned = [
    'if not "%~1"=="serve" goto start',
    'if "%~2"=="--help" goto start',
    "set grants=",
    `for /f "usebackq delims=" %%f in (\`call ${
      start("-P=plan")
    } permissions --flags %*\`) do call set grants=%%grants%% "%%f"`,
    "if not defined grants exit /b 2",
    ":start",
  ];
  return [
    "@echo off",
    "setlocal",
    ...assignments().map((one) => `set ${one}`),
    'set "folder=%~dp0..\\lib\\gate\\"',
    `set grants=-P=${profile}`,
    ...profile === "verify" ? [] : planned,
    `${start("%grants%")} %*`,
    "",
  ].join("\r\n");
}

/** The installed tree of a platform, with the version of its runtime. */
export interface Installed {
  readonly files: readonly PackageFile[];
  readonly runtime: string;
}

/** The installed tree of a platform: the launchers in `bin/`, and `lib/gate/`. */
export async function installedFiles(
  program: Program,
  platform: Platform,
  version: string,
): Promise<Installed> {
  const isWindows = platform.os === "win32";
  const launchers = LAUNCHERS.map(({ name, profile }): PackageFile =>
    isWindows
      ? { path: `bin/${name}.cmd`, bytes: encoder.encode(windowsLauncher(profile)) }
      : { path: `bin/${name}`, bytes: encoder.encode(launcher(profile)), executable: true }
  );
  const runtime = {
    path: `lib/gate/${isWindows ? "deno.exe" : "deno"}`,
    bytes: await readRuntime(platform, version),
    executable: true,
  };
  const inside = program.files.map((file) => ({ ...file, path: `lib/gate/${file.path}` }));
  return { files: [...launchers, runtime, ...inside], runtime: runtimeVersion(platform, version) };
}
