import assert from "node:assert/strict";
import { readImports, resolveSpecifier } from "../../checks/source.ts";
import { readTree } from "../../checks/tree.ts";
import { gate, inFolder } from "../gate_command.ts";
import { startServer, type Wire } from "../client.ts";
import { answering, ok, withServer } from "./fixtures.ts";

interface Printed {
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly run: readonly string[];
  readonly compile: readonly string[];
}

const STORES = `
[run_state_store]
type = "sqlite"
path = "gate.db"
[schema_registry]
type = "sqlite"
path = "gate.db"
acl = { allow_local_only = true }
[evidence]
allow_raw_values = true
require_provider_opt_in = false
`;

async function permissionsOf(folder: string, text: string): Promise<Printed> {
  await Deno.writeTextFile(`${folder}/gate.toml`, text);
  const { code, stdout, stderr } = await gate(folder, "permissions", "--config", `${folder}/gate.toml`, "--json");
  assert.equal(code, 0, stderr);
  return (JSON.parse(stdout) as { result: Printed }).result;
}

function provider(name: string, config: string): string {
  return `[[providers]]\nname = "${name}"\ntype = "builtin"\n${config}\n`;
}

/** Providers, permissions. */
const ROWS: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["", { env: [], net: [], deny_net: [], run: [], sys: ["statfs"] }],
  ['[namespace.authority]\nmode = "ledger_http"\nledger = { base_url = "https://ledger.example/" }\n', {
    net: ["ledger.example:443"],
    sys: "all",
  }],
  [provider("time", ""), { env: [], net: [], deny_net: [], run: [] }],
  [provider("env", 'config = { allowlist = ["B", "A", "GATE_X", "AWS_X", "C*"], denylist = ["B"] }'), {
    env: ["A"],
  }],
  [provider("env", "config = { allowlist = ['A', 'B'], overrides = { A = '1', C = '1' } }"), { env: ["B"] }],
  [provider("env", "config = { overrides = { A = '1' } }"), { env: "all" }],
  [provider("env", ""), { env: "all" }],
  [provider("rest", 'config = { allowed_hosts = [], auth = { bearer_token = "env:TOKEN" } }'), {
    env: ["TOKEN"],
    net: [],
  }],
  [provider("http", 'config = { allowed_hosts = ["192.0.2.7", "::1"] }'), {
    net: ["192.0.2.7", "[::1]"],
    deny_net: [],
  }],
  [provider("http", 'config = { allowed_hosts = ["api.example"], allow_private_networks = true }'), {
    net: "all",
    deny_net: [],
  }],
  ['[[providers]]\nname = "a"\ntype = "mcp"\ncommand = ["/opt/a", "-x"]\ncapabilities_path = "a.json"\n', {
    run: Deno.build.os === "windows" ? ["/opt/a"] : ["/bin/kill", "/opt/a"],
  }],
  ['[[providers]]\nname = "a"\ntype = "mcp"\nurl = "https://a.example"\ncapabilities_path = "a.json"\n', { run: [] }],
];

Deno.test("gate permissions derives each permission from the configuration", () =>
  inFolder(async (folder) => {
    for (const [text, expected] of ROWS) {
      const { permissions } = await permissionsOf(folder, STORES + text);
      for (const [kind, value] of Object.entries(expected)) {
        assert.deepEqual(permissions[kind], value, `${text} ${kind}`);
      }
    }
  }));

Deno.test("gate permissions denies private networks that neither a provider nor gate itself needs", () =>
  inFolder(async (folder) => {
    const http = provider("http", "");
    const open = await permissionsOf(folder, STORES + http);
    assert.equal(open.permissions["net"], "all");
    const denied = open.permissions["deny_net"] as string[];
    for (const network of ["127.0.0.0/8", "169.254.0.0/16", "10.0.0.0/8", "[::1]"]) assert.ok(denied.includes(network));
    const listening = await permissionsOf(
      folder,
      `${STORES}${http}[server]\ntransport = "http"\nbind = "127.0.0.1:8080"\n`,
    );
    assert.deepEqual(listening.permissions["deny_net"], []);
    assert.match(String(listening.permissions["notes"]), /127\.0\.0\.1:8080/);
  }));

async function callTool(server: ReturnType<typeof startServer>, name: string, input: unknown): Promise<Wire> {
  const reply = await server.request("tools/call", { name, arguments: input });
  return reply["result"] as Wire;
}

Deno.test("gate permissions prints exactly the flags that the providers need", () =>
  inFolder((folder) =>
    withServer(answering(ok('{"a":1}')), async ({ port }) => {
      await Deno.mkdir(`${folder}/reports`);
      await Deno.writeTextFile(`${folder}/reports/a.json`, '{"a":1}');
      const request = "{ allow_http = true, allow_private_networks = true, allowed_hosts = ['127.0.0.1'] }";
      const text = STORES + provider("time", "") + provider("env", "config = { allowlist = ['PROBE_A'] }") +
        provider("json", "config = { root = 'reports', root_id = 'reports' }") +
        provider("http", `config = ${request}`);
      const { run } = await permissionsOf(folder, text);
      const [deno, ...args] = run;
      assert.equal(deno, "deno");
      assert.ok(
        !args.some((word) => /^--allow-(read|write|env|net|run|sys|all|ffi)$/.test(word) || word === "-A"),
        args.join(" "),
      );
      await using server = startServer({ args, cwd: folder, env: { PROBE_A: "a", NO_COLOR: "1" } });
      const info = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "probe", version: "1" } };
      await server.request("initialize", info);
      await server.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      const checks = [
        ["time", "now", {}],
        ["env", "get", { key: "PROBE_A" }],
        ["json", "path", { file: "a.json", jsonpath: "$.a" }],
        ["http", "status", { url: `http://127.0.0.1:${port}/` }],
      ] as const;
      for (const [provider_id, check_id, params] of checks) {
        const context = { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 5 } };
        const result = await callTool(server, "evidence_query", { query: { provider_id, check_id, params }, context });
        assert.notEqual(result["isError"], true, `${provider_id}: ${JSON.stringify(result)} ${server.errors()}`);
        assert.match(JSON.stringify(result), /evidence_hash":\{/, JSON.stringify(result));
      }
    })
  ));

Deno.test("gate permissions prints a compile line that embeds every worker", () =>
  inFolder(async (folder) => {
    const { compile } = await permissionsOf(folder, STORES);
    const args = compile.slice(1).map((word, index, words) =>
      words[index - 1] === "--output" ? `${folder}/gate` : word
    );
    const { code, stderr, stdout } = await new Deno.Command(Deno.execPath(), {
      args,
      env: { DENORT_BIN: "/bin/true", NO_COLOR: "1" },
    }).output();
    const shown = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
    assert.equal(code, 0, shown);
    const modules = await startedModules();
    for (const path of modules) assert.ok(shown.includes(path.split("/").at(-1) ?? ""), `${path} in ${shown}`);
    const included = compile.filter((word) => word.endsWith("_worker.ts")).map((path) =>
      path.slice(path.indexOf("/src/") + 1)
    );
    assert.deepEqual(included.sort(), modules);
  }));

/** Pages for browsers are bundled; their scripts are not modules of the program. */
const PAGE_BUILDERS = ["src/console/assets.ts", "src/runpack/browser/build.ts"];

/** Every module of the program that is started by its URL. */
async function startedModules(): Promise<readonly string[]> {
  const files = (await readTree()).filter((file) => file.path.startsWith("src/") && !file.path.endsWith("_test.ts"));
  const found = files.filter(({ path }) => !PAGE_BUILDERS.includes(path)).flatMap((file) =>
    readImports(file).filter((edge) => edge.kind === "worker")
      .map((edge) => resolveSpecifier(file.path, edge.specifier ?? "") ?? "")
  );
  return [...new Set(found)].sort();
}
