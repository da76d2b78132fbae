/** The commands of a newcomer: what they download at the first run, and the demo from a cache that holds only that. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { downloadsLine, OF_ALL_TESTS, OF_THE_DEMO } from "../../../docs/examples/release_gate/downloads.ts";
import { inFolder } from "../gate_command.ts";
import { bytesOf, CHECKOUT, copyPackages, deno, isWithin, packagesIn } from "../package_cache.ts";

/** What a newcomer's first command may download beside the runtime. */
const FIRST_COMMAND = { packages: 40, megabytes: 60 };

const LIMITS = [
  [40, 60_000_000, true],
  [41, 60_000_000, false],
  [40, 60_000_001, false],
] as const;

for (const [packages, bytes, outcome] of LIMITS) {
  Deno.test(`a first command with ${packages} packages of ${bytes} bytes is ${outcome ? "within" : "over"} the limit`, () =>
    assert.equal(isWithin({ packages, bytes }, FIRST_COMMAND), outcome));
}

for (const entry of ["docs/examples/release_gate/demo.ts", "tests/run.ts"]) {
  Deno.test(`${entry} needs no package, so its first line is shown before any download`, async () => {
    const { stdout } = await deno(["info", "--json", entry]);
    const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: { specifier: string }[] };
    const needed = modules.map(({ specifier }) => specifier);
    assert.ok(needed.some((specifier) => specifier.endsWith(`/${entry}`)));
    assert.deepEqual(needed.filter((specifier) => !specifier.startsWith("file:")), []);
  });
}

Deno.test("the tests download no more than their first line says", async () => {
  const lock = JSON.parse(await Deno.readTextFile(join(CHECKOUT, "tests/deno.lock"))) as { npm: object };
  const { npmCache } = JSON.parse(new TextDecoder().decode((await deno(["info", "--json"])).stdout)) as {
    npmCache: string;
  };
  // A version may be followed by those of its peers.
  const names = Object.keys(lock.npm).map((name) => name.replace(/_.*$/, ""));
  const cached = (await packagesIn(npmCache)).filter((path) =>
    names.some((name) => path.endsWith(`/${name.replace(/(?!^)@/, "/")}`))
  );
  assert.equal(cached.length, new Set(names).size);
  const sizes = await Promise.all(cached.map(bytesOf));
  const downloads = { packages: cached.length, bytes: sizes.reduce((sum, size) => sum + size, 0) };
  assert.ok(isWithin(downloads, OF_ALL_TESTS), JSON.stringify(downloads));
});

/** The packages that the demo runs. A module of it that needs another one downloads that, or fails without a network. */
const PACKAGES = [
  "@eslint-community/regexpp",
  "@marcbachmann/cel-js",
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
    assert.ok(isWithin({ packages: before.length, bytes }, OF_THE_DEMO), `${before.length} packages, ${bytes} bytes`);
    assert.ok(isWithin({ packages: OF_THE_DEMO.packages, bytes: OF_THE_DEMO.megabytes * 1_000_000 }, FIRST_COMMAND));

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
    assert.ok(printed.startsWith(downloadsLine(OF_THE_DEMO, "")), printed);
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
