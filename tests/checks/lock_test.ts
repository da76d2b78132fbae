import assert from "node:assert/strict";
import { ROOT_URL } from "./tree.ts";

interface DenoConfig {
  readonly imports: Readonly<Record<string, string>>;
}

const config = JSON.parse(await Deno.readTextFile(new URL("deno.json", ROOT_URL))) as DenoConfig;

async function installFrozen(folder: URL | string): Promise<{ readonly success: boolean; readonly message: string }> {
  const command = new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet", "--frozen"],
    cwd: folder,
    stdin: "null",
    env: { NO_COLOR: "1" },
  });
  const { success, stderr } = await command.output();
  return { success, message: new TextDecoder().decode(stderr) };
}

const PACKAGE = /^npm:\/?(@[a-z0-9-]+\/)?[a-z0-9-]+@(\d+\.\d+\.\d+)(\/.*)?$/;

Deno.test("the tree: every package is named by one exact version", () => {
  for (const target of Object.values(config.imports)) {
    if (!target.startsWith("./")) assert.match(target, PACKAGE);
  }
});

Deno.test("the tree: the sample provider runs where there is no deno.json, on the packages of this one", async () => {
  const sample = await Deno.readTextFile(new URL("docs/examples/mcp_provider/provider.ts", ROOT_URL));
  const packages = [...sample.matchAll(/^import .* from "([^"]+)";$/gm)].map((match) => match[1] ?? "");
  assert.ok(packages.length > 0);
  for (const name of packages) assert.ok(Object.values(config.imports).includes(name), name);
});

Deno.test("the tree: deno.lock fits deno.json", async () => {
  const { success, message } = await installFrozen(ROOT_URL);
  assert.ok(success, message);
});

Deno.test("a lock that lacks a package is refused", async () => {
  const folder = await Deno.makeTempDir({ prefix: "gate-lock-" });
  try {
    const lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT_URL))) as {
      readonly specifiers: Record<string, string>;
    };
    const removed = Object.keys(lock.specifiers).find((name) => name.startsWith("npm:yaml@"));
    assert.ok(removed !== undefined);
    delete lock.specifiers[removed];
    await Deno.copyFile(new URL("deno.json", ROOT_URL), `${folder}/deno.json`);
    await Deno.writeTextFile(`${folder}/deno.lock`, JSON.stringify(lock));
    assert.equal((await installFrozen(folder)).success, false);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("the tree: the lock of the tests has what that of the program has, byte for byte", async () => {
  const [program, tests] = await Promise.all(["deno.lock", "tests/deno.lock"].map(async (path) => {
    return (JSON.parse(await Deno.readTextFile(new URL(path, ROOT_URL))) as { npm: Record<string, unknown> }).npm;
  }));
  assert.ok(program !== undefined && tests !== undefined);
  for (const [name, entry] of Object.entries(program)) {
    assert.deepEqual(
      tests[name],
      entry,
      `${name}: run "deno check --lock=tests/deno.lock --frozen=false main.ts tests"`,
    );
  }
});

/** Packages that only the client of S3 needs. */
const OF_S3 = /^(?:@aws-sdk|@aws|@smithy)\/|^(?:bowser|tslib)@/;

/** The most packages that a command of the program downloads at its first run, beside the runtime. */
Deno.test("the tree: the program's lock names at most 60 packages, and at most 32 without those of S3", async () => {
  const lock = JSON.parse(await Deno.readTextFile(new URL("deno.lock", ROOT_URL))) as { npm: Record<string, unknown> };
  const names = Object.keys(lock.npm);
  const others = names.filter((name) => !OF_S3.test(name));
  assert.ok(names.length <= 60, `${names.length} packages`);
  assert.ok(others.length <= 32 && others.length < names.length, `${others.length} packages without those of S3`);
});
