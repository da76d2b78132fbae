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
    const removed = Object.keys(lock.specifiers).find((name) => name.startsWith("npm:zod@"));
    assert.ok(removed !== undefined);
    delete lock.specifiers[removed];
    await Deno.copyFile(new URL("deno.json", ROOT_URL), `${folder}/deno.json`);
    await Deno.writeTextFile(`${folder}/deno.lock`, JSON.stringify(lock));
    assert.equal((await installFrozen(folder)).success, false);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
