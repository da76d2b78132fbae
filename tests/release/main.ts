/**
 * `deno task release OUTPUT --key FILE [--target TARGET|all|available]... [--runtime VERSION] [--executables FOLDER] [--downloads URL]`:
 * a folder with every package of a release, their digests and the signed provenance, which names what was left out and why. The same
 * commit gives the same bytes.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { join, resolve } from "node:path";
import { PROVENANCE_FILE, SUMS_FILE } from "../../src/runpack/format/release_provenance.ts";
import { VERSION } from "../../src/config/product_version.ts";
import { sha256 } from "../../src/evidence/host_primitives.ts";
import { packSigner } from "../../src/runpack/host/signing.ts";
import type { PackageFile } from "./archives.ts";
import { encodeProvenance, encodeSums } from "./lists.ts";
import { billOfMaterials, formula, serverEntry } from "./documents.ts";
import {
  archivePackage,
  containerImage,
  debianPackage,
  desktopBundle,
  digestOf,
  npmLauncher,
  npmPlatformPackage,
} from "./packages.ts";
import {
  installedFiles,
  type Platform,
  PLATFORMS,
  type Program,
  readProgram,
  runtimeVersion,
  whyNoRuntime,
} from "./program.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** Where packages are offered for download. */
const DOWNLOADS = `https://github.com/gate-authors/gate/releases/download/v${VERSION}`;

/** A part of a release that was not built, and why. */
export interface LeftOut {
  /** A target, a file, or `executables`. */
  readonly what: string;
  readonly why: string;
}

/** What to release. */
export interface Release {
  readonly output: string;
  readonly platforms: readonly Platform[];
  /** The bytes of the file with the private key that signs the provenance. */
  readonly key: Uint8Array;
  readonly downloads?: string;
  /** The version of the runtime for platforms other than this machine's; that of this machine's runtime by default. */
  readonly runtime?: string;
  /** A folder of compiled executables, which the release has as they are. */
  readonly executables?: string;
  /** Platforms that were asked for and are not among the others. */
  readonly leftOut?: readonly LeftOut[];
  readonly report?: (line: string) => void;
}

/** Writes the folder of a release. It must not exist. */
export async function writeRelease(release: Release): Promise<void> {
  const { output, platforms, key, downloads = DOWNLOADS, executables, runtime = Deno.version.deno, report } = release;
  const signer = packSigner(sha256, key);
  if (signer === null) throw new Error("Cannot release: the key is not an Ed25519 private key");
  const [commit, seconds] = await lastCommit();
  const program = await readProgram();
  await Deno.mkdir(output);
  const digests = new Map<string, string>();
  const write = async (file: PackageFile): Promise<PackageFile> => {
    await Deno.writeFile(join(output, file.path), file.bytes, { createNew: true });
    digests.set(file.path, digestOf(file.bytes));
    report?.(`${file.path}  ${(file.bytes.length / 1e6).toFixed(1)} MB`);
    return file;
  };
  const [archives, bundles]: [PackageFile[], PackageFile[]] = [[], []];
  for (const platform of platforms) {
    for (const file of await packagesOf(program, platform, runtime, seconds)) {
      await write(file);
      if (file.path.endsWith(".tar.gz")) archives.push(file);
      if (file.path.endsWith(".mcpb")) bundles.push(file);
    }
  }
  for (
    const name of executables === undefined ? [] : [...Deno.readDirSync(executables)].map(({ name }) => name).sort()
  ) {
    await write({ path: name, bytes: await Deno.readFile(join(executables ?? "", name)) });
  }
  await write(npmLauncher(platforms, seconds));
  const runtimes = platforms.map((platform) => runtimeVersion(platform, runtime));
  await write(billOfMaterials(program.dependencies, [...new Set(runtimes)].sort()));
  await write(serverEntry(bundles, downloads));
  await write(formula(archives, downloads));
  await write({ path: SUMS_FILE, bytes: new TextEncoder().encode(encodeSums(digests)) });
  const leftOut = [...release.leftOut ?? [], ...leftOutOf(release)];
  for (const { what, why } of leftOut) report?.(`Left out ${what}: ${why}`);
  const statement = encodeProvenance(digests, predicateOf(commit, release, leftOut));
  await Deno.writeTextFile(join(output, PROVENANCE_FILE), `${signer.signStatement(statement)}\n`, { createNew: true });
}

async function packagesOf(
  program: Program,
  platform: Platform,
  runtime: string,
  seconds: number,
): Promise<readonly PackageFile[]> {
  const installed = await installedFiles(program, platform, runtime);
  const debian = await debianPackage(installed, platform, seconds);
  // The base of an image comes from this machine.
  const image = hasImage(platform) && platform.target === Deno.build.target
    ? [await containerImage(installed, platform, seconds)]
    : [];
  return [
    archivePackage(installed, platform, seconds),
    await desktopBundle(installed, platform, seconds),
    npmPlatformPackage(installed, platform, seconds),
    ...debian === null ? [] : [debian],
    ...image,
  ];
}

function hasImage({ os }: Platform): boolean {
  return os === "linux";
}

/** What the release of some platforms does not have, because of where and how it is built. */
function leftOutOf({ platforms, executables }: Release): readonly LeftOut[] {
  const images = platforms.filter((platform) => hasImage(platform) && platform.target !== Deno.build.target);
  return [
    ...images.map(({ target }) => ({
      what: `container image of ${target}`,
      why: "its C library comes from a machine of that platform",
    })),
    ...executables === undefined
      ? [{ what: "executables", why: "--executables names no folder of compiled ones" }]
      : [],
  ];
}

/** A SLSA provenance v1: from which commit, with which runtime, for which platforms, and what was left out. */
function predicateOf(
  commit: string,
  { platforms, runtime = Deno.version.deno }: Release,
  leftOut: readonly LeftOut[],
): Parameters<typeof encodeProvenance>[1] {
  const runtimes = platforms.map((platform) =>
    `pkg:npm/${platform.runtime.replace("@", "%40")}@${runtimeVersion(platform, runtime)}`
  );
  return {
    buildDefinition: {
      buildType: "urn:gate:release:v1",
      externalParameters: { version: VERSION, targets: platforms.map(({ target }) => target) },
      internalParameters: { left_out: leftOut.map(({ what, why }) => ({ what, why })) },
      resolvedDependencies: [
        { uri: "git+https://github.com/gate-authors/gate", digest: { gitCommit: commit } },
        ...runtimes.map((uri) => ({ uri })),
      ],
    },
    runDetails: { builder: { id: "urn:gate:release-task" }, metadata: {} },
  };
}

/** The commit of this checkout and its time, Unix time in seconds. */
async function lastCommit(): Promise<readonly [string, number]> {
  const args = ["log", "-1", "--format=%H %ct"];
  const { success, stdout } = await new Deno.Command("git", { args, cwd: ROOT, stderr: "inherit" }).output();
  const [commit = "", seconds = ""] = new TextDecoder().decode(stdout).trim().split(" ");
  if (!success || seconds === "") throw new Error("Cannot release: this is not a checkout of git");
  return [commit, Number(seconds)];
}

/**
 * The files of a checkout that differ from its last commit, as `git status` names them. A release of them would have a provenance that
 * names a commit without them.
 */
export async function uncommittedFiles(checkout: string): Promise<readonly string[]> {
  const args = ["status", "--porcelain", "--untracked-files=all"];
  const { success, stdout } = await new Deno.Command("git", { args, cwd: checkout, stderr: "inherit" }).output();
  if (!success) throw new Error("Cannot release: this is not a checkout of git");
  return new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "").map((line) => line.slice(3));
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      key: { type: "string" },
      target: { type: "string", multiple: true, default: [Deno.build.target] },
      downloads: { type: "string" },
      executables: { type: "string" },
      runtime: { type: "string", default: Deno.version.deno },
    },
  });
  const isEvery = values.target.some((target) => target === "all" || target === "available");
  const targets = isEvery ? PLATFORMS.map(({ target }) => target) : values.target;
  const named = PLATFORMS.filter(({ target }) => targets.includes(target));
  const [output, ...rest] = positionals;
  if (
    output === undefined || rest.length > 0 || values.key === undefined || named.length !== targets.length
  ) {
    const known = PLATFORMS.map(({ target }) => target).join(", ");
    console.error(
      "Usage: deno task release OUTPUT --key FILE [--target TARGET]... [--runtime VERSION] [--executables FOLDER]; " +
        `targets are all, available, ${known}`,
    );
    return 2;
  }
  const [uncommitted, ...others] = await uncommittedFiles(ROOT);
  if (uncommitted !== undefined) {
    const more = others.length === 0 ? "" : ` and ${others.length} more`;
    console.error(`Cannot release: ${uncommitted}${more} differ from the last commit, which the provenance names`);
    return 1;
  }
  const { platforms, leftOut } = values.target.includes("available")
    ? await availableOf(named, values.runtime)
    : { platforms: named, leftOut: [] };
  await writeRelease({
    output: fromCaller(output),
    platforms,
    leftOut,
    runtime: values.runtime,
    key: await Deno.readFile(fromCaller(values.key)),
    ...values.downloads === undefined ? {} : { downloads: values.downloads },
    ...values.executables === undefined ? {} : { executables: fromCaller(values.executables) },
    report: (line) => console.log(line),
  });
  return 0;
}

/** The platforms whose runtime can be downloaded in a version, and why the others are left out. */
export async function availableOf(
  platforms: readonly Platform[],
  runtime: string,
): Promise<{ readonly platforms: readonly Platform[]; readonly leftOut: readonly LeftOut[] }> {
  const found: Platform[] = [];
  const leftOut: LeftOut[] = [];
  for (const platform of platforms) {
    const why = await whyNoRuntime(platform, runtime);
    if (why === null) found.push(platform);
    else leftOut.push({ what: platform.target, why });
  }
  return { platforms: found, leftOut };
}

/** A path from the folder that the task was called in: tasks run in that of `deno.json`. */
function fromCaller(path: string): string {
  return resolve(Deno.env.get("INIT_CWD") ?? Deno.cwd(), path);
}

if (import.meta.main) Deno.exit(await main(Deno.args));
