/** The demo from a cache that holds only the packages which a reader downloads at the first run. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { MEGABYTES_MAX, PACKAGES_MAX } from "../../docs/examples/release_gate/demo.ts";
import { inFolder } from "./gate_command.ts";
import { CHECKOUT, copyPackages, deno, packagesIn } from "./package_cache.ts";

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

Deno.test("the demo gates the release of the checkout with at most 30 packages and 30 MB, and keeps its runpack", () =>
  inFolder(async (folder) => {
    const text = new TextDecoder();
    const bytes = await copyPackages(PACKAGES, folder);
    const before = await packagesIn(join(folder, "npm"));
    assert.ok(before.length <= PACKAGES_MAX, `${before.length} packages`);
    assert.ok(bytes <= MEGABYTES_MAX * 1_000_000, `${bytes} bytes`);

    const branch = { GITHUB_REF_NAME: "main", GITHUB_SHA: "4f2a9c1".padEnd(40, "0") };
    const page = await Deno.readTextFile(join(CHECKOUT, "README.md"));
    const downloaded = `${before.length} packages (${Math.round(bytes / 1_000_000)} MB)`;
    const example = await Deno.readTextFile(join(CHECKOUT, "docs/examples/release_gate/README.md"));
    for (const text of [page, example]) assert.ok(text.includes(downloaded), downloaded);
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
    const folderOfRun = kept.split(" ").at(-1) ?? "";
    const [, block = ""] = /^npx -y deno@\S+ (run [^`]*runpack admit [^`]*)$/m.exec(page) ?? [];
    const admit = block.replace(/"\$\(ls [^"]*\)"/, folderOfRun).replaceAll("\\\n", " ").trim().split(/ +/);
    const admitted = await deno(admit, { DENO_DIR: folder });
    assert.equal(admitted.code, 0, text.decode(admitted.stdout) + text.decode(admitted.stderr));
    assert.deepEqual(await packagesIn(join(folder, "npm")), before);
    await Deno.remove(join(CHECKOUT, folderOfRun), { recursive: true });
  }));
