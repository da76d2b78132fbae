/** The first start from the block that `gate doctor` prints, from a cache with the packages that it needs. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { gate, inFolder, STORES } from "../gate_command.ts";
import { CHECKOUT, copyPackages, packagesIn } from "../package_cache.ts";

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

Deno.test("the block of the README for a checkout is what gate doctor prints for the starter configuration", () =>
  inFolder(async (folder) => {
    await gate(folder, "init");
    const { result } = JSON.parse((await gate(folder, "doctor", "--json")).stdout);
    const page = await Deno.readTextFile(join(CHECKOUT, "README.md"));
    const [block = ""] = /\{\n {2}"mcpServers": \{\n {4}"gate": \{\n {6}"command": "npx",.*?\n\}/s.exec(page) ?? [];
    const { command, args } = (JSON.parse(block) as Block).mcpServers.gate;
    assert.deepEqual([command, ...args.slice(0, 2)], ["npx", "-y", `deno@${Deno.version.deno}`]);
    const printed = result.client.mcpServers.gate.args as readonly string[];
    assert.deepEqual(
      args.slice(2),
      printed.slice(printed.indexOf("run")).map((word) =>
        word.replaceAll(`${folder}/`, "/path/to/").replaceAll(CHECKOUT, "/path/to/gate/").replace(
          /(?<=^--allow-read=).*/,
          sorted,
        )
      ),
    );
  }));

function sorted(items: string): string {
  return items.split(",").sort().join();
}

/** The packages that the first gate of the README needs. */
const FIRST_GATE_PACKAGES = ["@marcbachmann/cel-js", "commander", "smol-toml", "yaml"];

/** Runs the runtime that is its first argument in place of the one that it names. */
const NPX = 'runtime=$1\nnpx() { shift 2; "$runtime" "$@"; }';

Deno.test("the first gate of the README downloads as many packages and megabytes as the README says, in any folder", () =>
  inFolder(async (folder) => {
    const cache = join(folder, "cache");
    const bytes = await copyPackages(FIRST_GATE_PACKAGES, cache);
    const before = await packagesIn(cache);
    const page = await Deno.readTextFile(join(CHECKOUT, "README.md"));
    const downloaded = `downloads ${before.length} packages (${Math.round(bytes / 1_000_000)} MB)`;
    assert.ok(page.includes(downloaded), downloaded);
    const [block = ""] = /^checkout=.*\ndeno=.*\ngate\(\) \{ DENO_TLS_CA_STORE=\S+ .* \}$/m.exec(page) ?? [];
    const [first = ""] = /^gate run .*two_tests_failed\.yaml$/m.exec(page) ?? [];
    // The function works in any folder. In another one than the checkout the run does not stay there.
    const script = `${NPX}\n${block}\ncd "$2"\n${first.replaceAll("docs/", "$checkout/docs/")}`;
    const { code, stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", script, "sh", Deno.execPath(), folder],
      cwd: CHECKOUT,
      env: { NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1", DENO_DIR: cache },
      stdin: "null",
    }).output();
    assert.equal(code, 3, new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr));
    assert.deepEqual(await packagesIn(cache), before);
  }));

Deno.test("the function of the README for PowerShell starts gate as the one for sh", async () => {
  const page = await Deno.readTextFile(join(CHECKOUT, "README.md"));
  const [, store, words = ""] = /^gate\(\) \{ DENO_TLS_CA_STORE=(\S+) "\$deno" (.*); \}$/m.exec(page) ?? [];
  const [, otherStore, otherWords] =
    /^\$env:DENO_TLS_CA_STORE = '(.*)'\n\$deno = .*\nfunction gate \{ & \$deno (.*) \}$/m.exec(page) ??
      [];
  assert.equal(otherStore, store);
  // PowerShell would read the bare word as a parameter with a value, and names all arguments otherwise.
  assert.equal(otherWords, words.replace("-P=serve", "'-P=serve'").replace('"$@"', "@args"));
});
