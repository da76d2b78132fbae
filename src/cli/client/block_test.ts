import assert from "node:assert/strict";
import { DEFAULT_SETTINGS } from "@/config/defaults.ts";
import type { GateConfig } from "@/config/types.ts";
import { clientBlock, runtimeVariables, serveCommand, stableCommand } from "./block.ts";

const ARGS = ["run", "main.ts"];

const COMMANDS: readonly (readonly [command: string, expected: string])[] = [
  ["/usr/local/bin/deno", "/usr/local/bin/deno run main.ts"],
  ["/opt/me/.deno/bin/deno", "/opt/me/.deno/bin/deno run main.ts"],
  ["/opt/me/my_npx/deno", "/opt/me/my_npx/deno run main.ts"],
  ["/opt/me/.npm/_npx/0a1b/node_modules/deno/deno", `npx -y deno@${Deno.version.deno} run main.ts`],
  [
    "C:\\Users\\me\\AppData\\npm-cache\\_npx\\0a1b\\node_modules\\deno\\deno.exe",
    `npx -y deno@${Deno.version.deno} run main.ts`,
  ],
];

for (const [path, expected] of COMMANDS) {
  Deno.test(`stableCommand() ${path}: ${expected}`, () => {
    const { command, args } = stableCommand({ command: path, args: ARGS });
    assert.equal([command, ...args].join(" "), expected);
  });
}

const BASE = { DENO_NO_UPDATE_CHECK: "1", DENO_TLS_CA_STORE: "mozilla,system" };

const VARIABLES: readonly (readonly [name: string, Record<string, string>, Record<string, string>])[] = [
  ["nothing set", {}, BASE],
  ["others are not repeated", { HOME: "/opt/me", GITHUB_TOKEN: "secret" }, BASE],
  ["a store of certificates", { DENO_TLS_CA_STORE: "system" }, { ...BASE, DENO_TLS_CA_STORE: "system" }],
  [
    "files of certificates and the cache",
    { NODE_EXTRA_CA_CERTS: "/a.pem", DENO_CERT: "/b.pem", DENO_DIR: "/cache" },
    { ...BASE, DENO_CERT: "/b.pem", DENO_DIR: "/cache", NODE_EXTRA_CA_CERTS: "/a.pem" },
  ],
];

for (const [name, environment, expected] of VARIABLES) {
  Deno.test(`runtimeVariables() ${name}`, () =>
    assert.deepEqual(runtimeVariables((name) => environment[name]), expected));
}

Deno.test("clientBlock() runs what serveCommand() runs", async () => {
  const config: GateConfig = { ...DEFAULT_SETTINGS, config_path: "/etc/gate.toml", base_dir: "/etc" };
  const { command, args, env } = (await clientBlock(config) ?? assert.fail()).mcpServers.gate;
  const { plan: _, fault: _fault, ...start } = await serveCommand(config);
  assert.deepEqual({ command, args }, stableCommand(start));
  assert.deepEqual(args.slice(-3), ["serve", "--config", "/etc/gate.toml"]);
  assert.equal(env?.["DENO_NO_UPDATE_CHECK"], "1");
});
