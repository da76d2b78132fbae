/** The first start from the block that `gate doctor` prints, from a cache with the packages that it needs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { gate, inFolder, STORES } from "./gate_command.ts";
import { copyPackages, packagesIn } from "./package_cache.ts";

interface Block {
  readonly mcpServers: {
    readonly gate: {
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    };
  };
}

/** The packages that a server with SQLite needs for its answers to these calls. */
const PACKAGES = ["smol-toml"];

Deno.test("the block of gate doctor starts with one package, and lists tools and providers without another", () =>
  inFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "gate.toml"), STORES);
    const doctor = await gate(folder, "doctor", "--json");
    const { result } = JSON.parse(doctor.stdout) as { readonly result: { readonly client: Block } };
    const { command, args, env } = result.client.mcpServers.gate;
    const cache = join(folder, "cache");
    await Deno.mkdir(cache);
    await copyPackages(PACKAGES, cache);
    const before = await packagesIn(cache);
    assert.equal(before.length, PACKAGES.length);
    const client = new Client({ name: "first-start", version: "1.0.0" });
    await client.connect(
      new StdioClientTransport({
        command,
        args: [...args],
        env: { PATH: Deno.env.get("PATH") ?? "", ...env, DENO_DIR: cache },
        cwd: folder,
        stderr: "ignore",
      }),
    );
    try {
      assert.ok((await client.listTools()).tools.length > 20);
      assert.notEqual((await client.callTool({ name: "providers_list", arguments: {} })).isError, true);
    } finally {
      await client.close();
    }
    assert.deepEqual(await packagesIn(cache), before);
  }));
