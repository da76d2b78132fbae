/**
 * The packages of one platform: archive, Debian package, bundle for desktop clients, npm packages and container image.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { type Zippable, zipSync } from "npm:fflate@0.8.3";
import { VERSION } from "../../src/config/product_version.ts";
import { deploymentBlock, replaceAll } from "../e2e/serve/presets_blocks.ts";
import { ar, gzip, type PackageFile, tar } from "./archives.ts";
import {
  assignments,
  dataFolderArguments,
  type Installed,
  LAUNCHERS,
  type Platform,
  type Profile,
  RUNTIME_ENVIRONMENT,
  runtimeFlags,
} from "./program.ts";

/** A line about gate, at most 100 characters. */
export const DESCRIPTION =
  "Answers from evidence whether work may move on, and records each answer so that it can be checked";

/** The name of gate in registries of MCP servers. */
export const SERVER_NAME = "io.github.gate-authors/gate";

/** The npm package of the launcher; the packages of platforms add `-OS-CPU`. */
export const NPM_NAME = "@gate-authors/gate";

const AUTHORS = "The gate authors";
const MAINTAINER = `${AUTHORS} <gate-authors@localhost.localdomain>`;
const encoder = new TextEncoder();

function file(path: string, text: string, executable = false): PackageFile {
  return { path, bytes: encoder.encode(text), executable };
}

function json(path: string, value: unknown): PackageFile {
  return file(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** SHA-256 in hex. */
export function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function platformName({ os, cpu }: Platform): string {
  return `${os}-${cpu}`;
}

/** What the manifest of each package says about its program. */
function contentsOf({ runtime }: Installed): string {
  return `Holds the runtime Deno ${runtime} and the program under a launcher, and no compiled executable.`;
}

/** The installed tree in one folder, to be unpacked anywhere. */
export function archivePackage({ files }: Installed, platform: Platform, seconds: number): PackageFile {
  const root = `gate-${VERSION}-${platformName(platform)}`;
  return { path: `${root}.tar.gz`, bytes: gzip(tar(files, seconds, `${root}/`)) };
}

/** A bundle for desktop clients: a zip with a manifest of version 0.4. */
export async function desktopBundle(
  installed: Installed,
  platform: Platform,
  seconds: number,
): Promise<PackageFile> {
  const entry = `lib/gate/${platform.os === "win32" ? "deno.exe" : "deno"}`;
  const manifest = json("manifest.json", {
    manifest_version: "0.4",
    name: "gate",
    version: VERSION,
    description: DESCRIPTION,
    long_description: `${DESCRIPTION}. ${contentsOf(installed)}`,
    author: { name: AUTHORS },
    license: "Apache-2.0",
    server: {
      type: "binary",
      entry_point: entry,
      mcp_config: {
        command: `\${__dirname}/${entry}`,
        args: await dataFolderArguments("${__dirname}/lib/gate/", "${user_config.data_folder}"),
        env: RUNTIME_ENVIRONMENT,
      },
    },
    tools_generated: true,
    user_config: {
      data_folder: {
        type: "directory",
        title: "Data folder",
        description: "Where gate keeps its runs and runpacks",
        required: true,
        default: "${HOME}/gate",
      },
    },
    compatibility: { platforms: [platform.os] },
  });
  const entries: Zippable = {};
  for (const { path, bytes, executable } of [manifest, ...installed.files]) {
    // The upper half holds the type and the mode of a file of Unix, as `unzip` reads it.
    const attrs = ((executable === true ? 0o100755 : 0o100644) << 16) >>> 0;
    entries[path] = [bytes, { attrs, os: 3, level: 6, mtime: zipTime(seconds) }];
  }
  return { path: `gate-${VERSION}-${platformName(platform)}.mcpb`, bytes: zipSync(entries) };
}

/** The date whose local fields are those of a time in UTC: a zip holds fields without a time zone. */
function zipTime(seconds: number): Date {
  const utc = new Date(seconds * 1000);
  const [year, month, day] = [utc.getUTCFullYear(), utc.getUTCMonth(), utc.getUTCDate()];
  return new Date(year, month, day, utc.getUTCHours(), utc.getUTCMinutes(), utc.getUTCSeconds());
}

/** The npm package that holds gate for one platform. */
export function npmPlatformPackage(
  installed: Installed,
  platform: Platform,
  seconds: number,
): PackageFile {
  const name = `${NPM_NAME}-${platformName(platform)}`;
  const { os, cpu } = platform;
  const about = json("package.json", {
    name,
    version: VERSION,
    description: `gate for ${platformName(platform)}. ${contentsOf(installed)}`,
    license: "Apache-2.0",
    author: AUTHORS,
    os: [os],
    cpu: [cpu],
    ...os === "linux" ? { libc: ["glibc"] } : {},
    preferUnplugged: true,
  });
  return npmTarball(`gate-npm-${platformName(platform)}-${VERSION}.tgz`, [about, ...installed.files], seconds);
}

/**
 * The npm package that users install: it starts the gate of their platform. Where Node can, the gate replaces the process of the launcher,
 * so no second runtime stays in memory and every signal reaches the server. Otherwise the launcher hands signals on, and its own end
 * ends the server.
 */
export function npmLauncher(platforms: readonly Platform[], seconds: number): PackageFile {
  const names = platforms.map((platform) => [`${NPM_NAME}-${platformName(platform)}`, VERSION]);
  const about = json("package.json", {
    name: NPM_NAME,
    version: VERSION,
    description: DESCRIPTION,
    license: "Apache-2.0",
    author: AUTHORS,
    mcpName: SERVER_NAME,
    bin: Object.fromEntries(LAUNCHERS.map(({ name }) => [name, `${name}.js`])),
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(names),
  });
  const launchers = LAUNCHERS.map(({ name, profile }) => file(`${name}.js`, npmLauncherScript(name, profile), true));
  return npmTarball(`gate-npm-${VERSION}.tgz`, [about, ...launchers], seconds);
}

/** On Windows the script starts the runtime itself: a batch file needs a shell, which would interpret the arguments. */
function npmLauncherScript(launcher: string, profile: Profile): string {
  return `#!/usr/bin/env node
"use strict";
const { spawn, spawnSync } = require("node:child_process");
const { accessSync, constants: { X_OK } } = require("node:fs");
const { constants } = require("node:os");
const { dirname, join } = require("node:path");

const name = \`${NPM_NAME}-\${process.platform}-\${process.arch}\`;
let folder;
try {
  folder = dirname(require.resolve(\`\${name}/package.json\`));
} catch {
  console.error(\`gate: Cannot find package "\${name}": install without --omit=optional, on a platform that gate is released for\`);
  process.exit(8);
}
const windows = process.platform === "win32";
const program = windows ? join(folder, "lib/gate/deno.exe") : join(folder, "bin/${launcher}");
const env = { ...process.env, ...(windows ? ${JSON.stringify(RUNTIME_ENVIRONMENT)} : {}) };
const given = process.argv.slice(2);
const flags = ${JSON.stringify(runtimeFlags("./"))};
const inside = (word) => word.startsWith("./") ? join(folder, "lib/gate", word) : word;
const runtime = (grants) => [...flags, ...grants, "./main.js"].map(inside);
let words = windows ? runtime(["-P=${profile}"]) : [];
if (windows && "${profile}" === "serve" && given[0] === "serve" && given[1] !== "--help") {
  // A server has the permissions that its configuration needs, one flag a line.
  const planner = [...runtime(["-P=plan"]), "permissions", "--flags", ...given];
  const { status, stdout } = spawnSync(program, planner, { stdio: ["ignore", "pipe", "inherit"], encoding: "utf8", env });
  if (status !== 0) process.exit(status ?? 8);
  words = runtime(stdout.split(/\\r?\\n/).filter((flag) => flag !== ""));
}
if (!windows && typeof process.execve === "function") {
  try {
    accessSync(program, X_OK);
  } catch (error) {
    console.error(\`gate: Cannot start: \${error.message}\`);
    process.exit(8);
  }
  process.execve(program, [program, ...given], env);
}
const child = spawn(program, [...words, ...given], { stdio: "inherit", env });
// SIGKILL cannot be handed on. The input of this shell ends with the launcher, and the shell then ends gate. Windows does so itself.
const watch = windows || child.pid === undefined ? null : spawn("/bin/sh", ["-c", 'read -r _; kill "$0"', String(child.pid)], {
  stdio: ["pipe", "ignore", "ignore"],
  detached: true,
});
watch?.on("error", () => {});
// npx sends a signal to this process alone.
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(\`gate: Cannot start: \${error.message}\`);
  process.exit(8);
});
child.on("exit", (code, signal) => {
  watch?.kill("SIGKILL");
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
`;
}

function npmTarball(name: string, files: readonly PackageFile[], seconds: number): PackageFile {
  return { path: name, bytes: gzip(tar(files, seconds, "package/")) };
}

/** Where a Debian package and an image install gate. */
const INSTALLED_FOLDER = "usr/lib/gate/";

function installedBelowUsr({ files }: Installed): readonly PackageFile[] {
  return files.map((one) => ({ ...one, path: `usr/${one.path}` }));
}

/** A Debian package with the unit of the deployment guide. Null for platforms that Debian does not run on. */
export async function debianPackage(
  installed: Installed,
  platform: Platform,
  seconds: number,
): Promise<PackageFile | null> {
  if (platform.os !== "linux") return null;
  const architecture = platform.cpu === "x64" ? "amd64" : "arm64";
  const unit = replaceAll(await deploymentBlock("ini", "[Unit]"), [["/usr/local/bin/gate", "/usr/bin/gate"]]);
  const data = [
    ...installedBelowUsr(installed),
    file("usr/lib/systemd/system/gate.service", unit),
    file("usr/share/doc/gate/copyright", COPYRIGHT),
    file("usr/share/lintian/overrides/gate", OVERRIDES),
    { path: "usr/share/doc/gate/changelog.gz", bytes: gzip(encoder.encode(changelog(seconds)), 9) },
    ...Object.entries(MANUALS).map(([name, text]) => ({
      path: `usr/share/man/man1/${name}.1.gz`,
      bytes: gzip(encoder.encode(text), 9),
    })),
  ];
  const control = [
    file("control", controlOf(architecture, data, contentsOf(installed))),
    file("md5sums", data.map(({ path, bytes }) => `${md5(bytes)}  ${path}\n`).sort().join("")),
    file("postinst", POSTINST, true),
  ];
  const members = [
    file("debian-binary", "2.0\n"),
    { path: "control.tar.gz", bytes: gzip(tar(control, seconds, "./")) },
    { path: "data.tar.gz", bytes: gzip(tar(data, seconds, "./")) },
  ];
  return { path: `gate_${VERSION}_${architecture}.deb`, bytes: ar(members, seconds) };
}

function md5(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("hex");
}

function controlOf(architecture: string, data: readonly PackageFile[], contents: string): string {
  const kibibytes = Math.ceil(data.reduce((total, { bytes }) => total + bytes.length, 0) / 1024);
  return `Package: gate
Version: ${VERSION}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${kibibytes}
Depends: adduser, ca-certificates, libc6 (>= 2.31), libgcc-s1
Section: devel
Priority: optional
Description: answers from evidence whether work may move on
 gate decides by a law, a file, and by evidence whether a release, a migration
 or the task of an agent may take its next step. Each decision is recorded, and
 can be derived again later, alone and offline. It is an MCP server.
 .
 ${contents.replace(" and no ", "\n and no ")}
`;
}

const POSTINST = `#!/bin/sh
set -e
if [ "$1" = configure ] && ! getent passwd gate > /dev/null; then
  adduser --system --group --home /var/lib/gate --no-create-home gate
fi
`;

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: gate

Files: *
Copyright: 2026 ${AUTHORS}
License: Apache-2.0
 On Debian systems the full text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0. The licences of the packages that gate
 runs are beside them in /usr/lib/gate/node_modules.
`;

const OVERRIDES = `# The runtime is the one that its authors publish.
gate: embedded-library
gate: hardening-no-relro
# Packages of npm are installed as they were published.
gate: script-not-executable
# The project has no mail address.
gate: bogus-mail-host
gate: bogus-mail-host-in-debian-changelog
`;

function changelog(seconds: number): string {
  const date = new Date(seconds * 1000).toUTCString().replace("GMT", "+0000");
  return `gate (${VERSION}) unstable; urgency=medium\n\n  * Release ${VERSION}.\n\n -- ${MAINTAINER}  ${date}\n`;
}

const MANUALS: Readonly<Record<string, string>> = {
  gate: `.TH GATE 1 "" "gate ${VERSION}" "User Commands"
.SH NAME
gate \\- answers from evidence whether work may move on
.SH SYNOPSIS
.B gate
.I COMMAND
[options]
.SH DESCRIPTION
gate help lists the commands; gate help COMMAND describes one of them.
`,
  "gate-verify": `.TH GATE\\-VERIFY 1 "" "gate ${VERSION}" "User Commands"
.SH NAME
gate\\-verify \\- verifies records of gate, and may do nothing but read
.SH SYNOPSIS
.B gate\\-verify runpack verify
.I PATH
.br
.B gate\\-verify release verify
.I FOLDER
.SH DESCRIPTION
gate\\-verify is gate without permission to write, to reach a network, to start programs or to read the environment.
.SH SEE ALSO
.BR gate (1)
`,
};

/** What the runtime links, besides the program: its loader, the C library, and the authorities of TLS. */
const BASE_FILES = ["libc.so.6", "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "librt.so.1"];
/** Files that the C library opens by name to look up hosts. */
const LOOKUP_FILES = ["libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"];
const NOBODY_ID = 65532;
const NOBODY = `${NOBODY_ID}:${NOBODY_ID}`;
/** The folder of the image that keeps runs. It belongs to the user of the image, so a new volume there does too. */
const IMAGE_DATA = "data";

/** A container image as an OCI layout in a tar: one layer, no shell. Built for this machine's own platform only. */
export async function containerImage(
  installed: Installed,
  platform: Platform,
  seconds: number,
): Promise<PackageFile> {
  const layer = tar([...await baseFiles(), ...installedBelowUsr(installed), ...ACCOUNTS], seconds, "", [
    { path: IMAGE_DATA, owner: NOBODY_ID },
  ]);
  const packed = gzip(layer);
  const created = new Date(seconds * 1000).toISOString();
  const start = await dataFolderArguments(`/${INSTALLED_FOLDER}`, `/${IMAGE_DATA}`);
  const words = start.indexOf("serve");
  const config = encoder.encode(JSON.stringify({
    created,
    architecture: platform.cpu === "x64" ? "amd64" : "arm64",
    os: "linux",
    config: {
      User: NOBODY,
      Entrypoint: [`/${INSTALLED_FOLDER}deno`, ...start.slice(0, words)],
      Cmd: start.slice(words),
      Volumes: { [`/${IMAGE_DATA}`]: {} },
      Env: [...assignments(), "DENO_DIR=/tmp/deno", "HOME=/tmp"],
      WorkingDir: "/tmp",
      Labels: {
        "io.modelcontextprotocol.server.name": SERVER_NAME,
        "org.opencontainers.image.description": `${DESCRIPTION}. ${contentsOf(installed)}`,
        "org.opencontainers.image.licenses": "Apache-2.0",
      },
    },
    rootfs: { type: "layers", diff_ids: [`sha256:${digestOf(layer)}`] },
    history: [{ created, created_by: `gate ${VERSION}` }],
  }));
  const manifest = encoder.encode(JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: described("application/vnd.oci.image.config.v1+json", config),
    layers: [described("application/vnd.oci.image.layer.v1.tar+gzip", packed)],
  }));
  const index = {
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.index.v1+json",
    manifests: [{
      ...described("application/vnd.oci.image.manifest.v1+json", manifest),
      annotations: { "org.opencontainers.image.ref.name": VERSION },
    }],
  };
  const blobs = [packed, config, manifest].map((bytes) => ({ path: `blobs/sha256/${digestOf(bytes)}`, bytes }));
  const files = [file("oci-layout", '{"imageLayoutVersion":"1.0.0"}'), json("index.json", index), ...blobs];
  return { path: `gate-${VERSION}-${platformName(platform)}.oci.tar`, bytes: tar(files, seconds) };
}

function described(mediaType: string, bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return { mediaType, digest: `sha256:${digestOf(bytes)}`, size: bytes.length };
}

const ACCOUNTS = [
  file("etc/passwd", "root:x:0:0:root:/root:/sbin/nologin\ngate:x:65532:65532:gate:/tmp:/sbin/nologin\n"),
  file("etc/group", "root:x:0:\ngate:x:65532:\n"),
  file("etc/nsswitch.conf", "hosts: files dns\n"),
];

async function baseFiles(): Promise<readonly PackageFile[]> {
  const triple = `${Deno.build.arch}-linux-gnu`;
  const libraries = [...BASE_FILES, ...LOOKUP_FILES].map((name) => [`/lib/${triple}/${name}`, `lib/${triple}/${name}`]);
  const loader = Deno.build.arch === "x86_64" ? "lib64/ld-linux-x86-64.so.2" : "lib/ld-linux-aarch64.so.1";
  const authorities = "etc/ssl/certs/ca-certificates.crt";
  const named = [...libraries, [`/${loader}`, loader], [`/${authorities}`, authorities]];
  return await Promise.all(named.map(async ([from = "", path = ""]) => ({
    path,
    bytes: await Deno.readFile(from),
    executable: path !== authorities,
  })));
}
