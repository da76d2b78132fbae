import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { formatProblem, problemCollector } from "./problems.ts";
import { dropForeignValues } from "./toml_tree.ts";
import { checkSettings } from "./schema.ts";
import type { GateSettings } from "./types.ts";

/** The settings of a text, or its problems as lines. */
async function check(toml: string): Promise<{ settings: GateSettings | null; lines: readonly string[] }> {
  const { report, problems } = problemCollector();
  const tree = dropForeignValues(parse(toml, { integersAsBigInt: "asNeeded" }), report);
  const settings = await checkSettings(tree, report);
  return { settings, lines: problems().map(formatProblem) };
}

const HTTP = "server.transport = 'http'\nserver.bind = '127.0.0.1:8080'\n";
const BEARER = `${HTTP}server.auth.mode = 'bearer_token'\n`;
const MTLS = "server.auth = { mode = 'mtls', mtls_subjects = ['CN=a'] }\n";
const OPEN_MTLS = `server.transport = 'http'\nserver.bind = '0.0.0.0:80'\n${MTLS}`;
const LEDGER = "[namespace.authority]\nmode = 'ledger_http'\nledger.base_url = 'https://names.example'\n";
const MCP = "[[providers]]\nname = 'x'\ntype = 'mcp'\nurl = 'https://x.example'\ncapabilities_path = 'x.json'\n";
const TYPED =
  "[[providers]]\nname = 'x'\ntype = 'typed'\ncapabilities_path = 'c'\nruntime_profile_path = 'r'\ntyped_protocol = 'grpc'\n";
const S3 = "[runpack_storage]\ntype = 'object_store'\nprovider = 's3'\nbucket = 'b'\n";
const RULE = "[policy]\nengine = 'static'\n[[policy.static.rules]]\n";
const builtin = (name: string): string => `[[providers]]\nname = '${name}'\ntype = 'builtin'\n`;
const items = (count: number, item: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(", ")}]`;

/** The cases of a table: a TOML text, and its problems as lines. */
function readCases(text: string): { toml: string; lines: readonly string[] }[] {
  const blocks = text.split(/\n\n+/).map((block) => block.trimEnd().split("\n"));
  return blocks.filter((block) => !block.every((line) => line.startsWith("#"))).map((block) => ({
    toml: block.filter((line) => !line.startsWith("=> ")).join("\n"),
    lines: block.filter((line) => line.startsWith("=> ")).map((line) => line.slice(3)),
  }));
}

Deno.test("checkSettings() rejects each document of the table with the listed problems", async (test) => {
  const cases = readCases(await Deno.readTextFile(new URL("../../tests/vectors/config/refusals.txt", import.meta.url)));
  assert.ok(cases.length >= 100, `the table has only ${cases.length} cases`);
  for (const { toml, lines } of cases) {
    await test.step(toml.slice(0, 100), async () => {
      assert.ok(lines.length > 0, "a case of the table says nothing");
      assert.deepEqual((await check(toml)).lines, lines);
    });
  }
});

/** The path of a list or string, a function that creates one of a length, and its maximum length. */
const LENGTHS:
  readonly (readonly [path: string, toml: (length: number) => string, most: number, noun: "item" | "character"])[] = [
    [
      "server.auth.bearer_tokens",
      (n) => `${BEARER}server.auth.bearer_tokens = ${items(n, (i) => `'t${i}'`)}`,
      64,
      "item",
    ],
    [
      "server.auth.bearer_tokens[0]",
      (n) => `${BEARER}server.auth.bearer_tokens = ['${"t".repeat(n)}']`,
      256,
      "character",
    ],
    ["server.auth.mtls_subjects", (n) => `server.auth.mtls_subjects = ${items(n, (i) => `'s${i}'`)}`, 64, "item"],
    ["server.auth.mtls_subjects[0]", (n) => `server.auth.mtls_subjects = ['${"s".repeat(n)}']`, 512, "character"],
    [
      "server.auth.principals",
      (n) => `server.auth.principals = ${items(n, (i) => `{ subject = 's${i}' }`)}`,
      64,
      "item",
    ],
    [
      "server.auth.principals[0].roles",
      (n) => `server.auth.principals = [{ subject = 's', roles = ${items(n, () => "{ name = 'r' }")} }]`,
      128,
      "item",
    ],
    ["server.auth.allowed_tools", (n) => `server.auth.allowed_tools = ${items(n, () => "'precheck'")}`, 128, "item"],
    ["server.tools.allowlist", (n) => `server.tools.allowlist = ${items(n, () => "'precheck'")}`, 128, "item"],
    ["server.tools.denylist", (n) => `server.tools.denylist = ${items(n, () => "'precheck'")}`, 128, "item"],
    [
      "schema_registry.acl.rules",
      (n) => `schema_registry.acl.rules = ${items(n, () => "{ effect = 'allow' }")}`,
      256,
      "item",
    ],
    ["server.state_keys", (n) => `server.state_keys = ${items(n, () => "'d'")}`, 4, "item"],
    ["docs.extra_paths", (n) => `docs.extra_paths = ${items(n, () => "'d'")}`, 64, "item"],
    [
      "run_state_store.path",
      (n) => `run_state_store = { type = 'sqlite', path = '${"a/".repeat(2049).slice(0, n)}' }`,
      4096,
      "character",
    ],
  ];

Deno.test("checkSettings() limits the length of each list and string", async (test) => {
  for (const [path, toml, most, noun] of LENGTHS) {
    await test.step(path, async () => {
      assert.deepEqual((await check(toml(most - 1))).lines, []);
      assert.deepEqual((await check(toml(most))).lines, []);
      assert.deepEqual((await check(toml(most + 1))).lines, [
        `${path}: must have at most ${most} ${noun}s, got ${most + 1}`,
      ]);
    });
  }
});

Deno.test("checkSettings() limits a path component to 255 characters", async () => {
  const toml = (length: number): string => `docs.extra_paths = ['a/${"b".repeat(length)}']`;
  assert.deepEqual((await check(toml(255))).lines, []);
  assert.deepEqual((await check(toml(256))).lines, [
    "docs.extra_paths[0]: must not have a component of more than 255 characters, got a string of 258 characters",
  ]);
});

Deno.test("checkSettings() accepts settings that satisfy the rules", async () => {
  const good = [
    "",
    `${HTTP}server.tls = { cert_path = 'c', key_path = 'k' }`,
    `${BEARER}server.auth.bearer_tokens = ['t']`,
    "server.transport = 'sse'\nserver.bind = '[::1]:0'",
    `${OPEN_MTLS}server.tls_termination = 'upstream'`,
    `${OPEN_MTLS}server.tls = { cert_path = 'c', key_path = 'k', client_ca_path = 'a' }`,
    `${HTTP}${MTLS}server.tls = { cert_path = 'c', key_path = 'k', client_ca_path = 'a', require_client_cert = false }`,
    `${HTTP}server.tls_termination = 'upstream'`,
    "server.feedback.scenario_next = { max = 'evidence', default = 'evidence' }",
    "namespace = { allow_default = true, default_tenants = [1] }",
    LEDGER,
    `${RULE}effect = 'error'\nerror_message = 'm'\ntargets = [{ target_kind = 'external', target = 't' }, { target_kind = 'agent' }]`,
    "run_state_store = { type = 'sqlite', path = 'gate.db' }\nschema_registry = { type = 'sqlite', path = 'gate.db' }",
    "run_state_store = { type = 'postgres', url = 'env:A', connections = 8 }\nschema_registry = { type = 'postgres', url = 'env:A' }",
    `${S3}prefix = 'a/b/'\nendpoint = 'http://s3.example'\nallow_http = true`,
    "validation = { strict = false, allow_permissive = true }",
    "trust.default_policy = { require_signature = { keys = ['a.pub'] } }",
    `${MCP}trust = 'audit'`,
    `${MCP}config = { any = [1, 'x', true] }`,
    `${TYPED}config = { allow_private_networks = true }`,
    `${builtin("rest")}config.auth = { api_key_header = 'x-key', api_key_value = 'env:KEY', basic_username = 'u' }`,
  ];
  for (const toml of good) assert.deepEqual((await check(toml)).lines, [], toml);
});

const NOT_A_KEY = "must not be a header that gate or the protocol decides";
const NOT_A_VALUE = "must be ASCII text without control characters and outer spaces";

/** A member of the settings of `rest`, its value, and what is wrong with it; null where nothing is. */
const HEADER_TEXTS:
  readonly (readonly [member: "auth.api_key_header" | "user_agent", value: string, fault: string | null])[] = [
    ["auth.api_key_header", "x-key", null],
    ["auth.api_key_header", "Authorization", null],
    ["auth.api_key_header", "Cookie", null],
    ["auth.api_key_header", "Host", NOT_A_KEY],
    ["auth.api_key_header", "content-length", NOT_A_KEY],
    ["auth.api_key_header", "Transfer-Encoding", NOT_A_KEY],
    ["auth.api_key_header", "CONNECTION", NOT_A_KEY],
    ["auth.api_key_header", "X-Forwarded-Key", NOT_A_KEY],
    ["auth.api_key_header", "x key", "must be a header name"],
    ["user_agent", "probe/1 (a test)", null],
    ["user_agent", "", null],
    ["user_agent", "\u65e5", NOT_A_VALUE],
    ["user_agent", "a\u0007b", NOT_A_VALUE],
    ["user_agent", " a", NOT_A_VALUE],
  ];

Deno.test("checkSettings() refuses header texts of rest that cannot be sent, or would frame the request", async () => {
  for (const [member, value, fault] of HEADER_TEXTS) {
    const key = member === "user_agent" ? "" : "config.auth.api_key_value = 'k'\n";
    const toml = `${builtin("rest")}${key}config.${member} = ${JSON.stringify(value)}`;
    const { lines } = await check(toml);
    if (fault === null) assert.deepEqual(lines, [], toml);
    else assert.match(lines.join(), new RegExp(`^providers\\[0\\]\\.config\\.${member}: ${fault}`), toml);
  }
});

Deno.test("checkSettings() keeps __proto__ as an ordinary name", async () => {
  const { settings } = await check(
    `${builtin("env")}config.overrides = { __proto__ = 'x' }\n${MCP}config = { __proto__ = { a = 1 } }`,
  );
  const [env, external] = settings?.providers ?? [];
  assert.deepEqual(env?.name === "env" && env.type === "builtin" && Object.entries(env.config.overrides ?? {}), [[
    "__proto__",
    "x",
  ]]);
  assert.equal(JSON.stringify(external?.config), '{"__proto__":{"a":1}}');
});

Deno.test("dropForeignValues() keeps 64 nested tables and arrays, and no more", async () => {
  for (const depth of [63, 64, 65, 100_000]) {
    const { lines } = await check(`${Array(depth).fill("a").join(".")} = 1`);
    assert.equal(lines[0], "a: unknown member");
    const path = Array(64).fill("a").join(".");
    const deeper = `${path}: must not be a table or an array: 64 enclose it already`;
    assert.deepEqual(lines.slice(1), depth <= 64 ? [] : [deeper], `${depth}`);
  }
});
