/** The published JSON Schema and the loader agree on a table of documents, except for rules that JSON Schema cannot express. */

import { Ajv2020 } from "../../tests/packages/ajv.ts";
import assert from "node:assert/strict";
import { parse } from "smol-toml";
import type { JsonValue } from "../canonical/json.ts";
import { compileSchema } from "../evidence/json_schema/compile.ts";
import { CHOICES, linesOf, MCP, NUMBERS, put, type Tree } from "./documents_test.ts";
import { configJsonSchema } from "./json_schema.ts";
import { problemCollector } from "./problems.ts";
import { dropForeignValues, isTable } from "./toml_tree.ts";

/** Rules of the loader that JSON Schema cannot express, with the reason. */
const BEYOND: readonly (readonly [line: RegExp, why: string])[] = [
  [/: must be unique, but /, "items cannot be compared by one member"],
  [/: must be given once, in one spelling/, "names cannot be compared with each other without regard to case"],
  [/: must not be the header that config\.auth\.api_key_header names/, "a name cannot be compared with a value"],
  [/^schema_registry\.\w+: must be the same as run_state_store\./, "two texts cannot be compared"],
  [/: must be >= connect_timeout_ms /, "two numbers cannot be compared"],
  [/: must be an http:\/\/ or https:\/\/ URL with a host/, "the URL standard has more rules than a pattern"],
  [/: must be a host name alone/, "which international names have an ASCII form is a table of Unicode"],
  [/server\.bind: must be (?:an IP address|a loopback address)/, "an IPv6 address has too many spellings"],
  [/server\.tls(?:\.require_client_cert)?: (?:is required|must be true) when .*not a loopback address/, "as before"],
  [/component of more than/, "the loader counts UTF-16 units, JSON Schema code points"],
];

const HTTP: Tree = { server: { transport: "http", bind: "127.0.0.1:8080" } };
const OPEN: Tree = { server: { transport: "http", bind: "192.0.2.1:443" } };
const STORE: Tree = { run_state_store: { type: "sqlite" } };
const S3: Tree = { runpack_storage: { type: "object_store", provider: "s3", bucket: "b" } };
const RULE: Tree = { policy: { engine: "static", static: { rules: [{ effect: "deny", stage_ids: ["s"] }] } } };
const REST: Tree = { providers: [{ name: "rest", type: "builtin", config: {} }] };
const JSON_FILES: Tree = { providers: [{ name: "json", type: "builtin", config: { root: "r", root_id: "r" } }] };
const LEDGER: Tree = {
  namespace: { authority: { mode: "ledger_http", ledger: { base_url: "https://names.example" } } },
};
const KEYS = { require_signature: { keys: ["a.pub"] } };

const URLS = [
  "https://a.example",
  "http://a.example",
  "HTTPS://A.example:443/x?y#z",
  "ftp://a.example",
  "a.example",
  "",
  "https://",
  "https://a b",
  "https://a.example/x y",
  "https://u:p@a.example",
  "https://a.example\n",
  "https://a\\b",
  "https://a.example:99999",
  "https://[::1]:8443/mcp",
  "https://[::g]",
  "http:/a.example",
];
const TEXTS = [
  "a",
  " ",
  "a b",
  " a",
  "a ",
  "a\tb",
  "a\nb",
  "\u0000",
  "\u0085",
  "\u00a0",
  "é",
  "\u{1f600}",
  ":",
  "a:b",
  "env:",
  "env:A",
  "env:A=B",
  "token:",
  "Token:x",
  `token:${"0".repeat(64)}`,
  `token:${"A".repeat(64)}`,
  "..",
  ".",
  "a/../b",
  "a/b/",
  "/a",
  "a//b",
  "/",
  "a\\b",
  "*.example",
  "a.example:443",
  "[::1]",
  "x".repeat(255),
  "x".repeat(256),
  "x".repeat(257),
  "x".repeat(512),
  "x".repeat(513),
  `${"x/".repeat(2047)}xx`,
  `${"x/".repeat(2048)}x`,
  "\u{1f600}".repeat(130),
  "\u{1f600}".repeat(250),
  "authorization",
  "Authorization",
  "X-Forwarded-For",
  "x-key",
];
const BINDS = [
  "127.0.0.1:8080",
  "127.9.9.9:0",
  "0.0.0.0:80",
  "192.0.2.1:65535",
  "192.0.2.1:65536",
  "127.0.0.1",
  ":80",
  "localhost:80",
  "256.0.0.1:80",
  "01.0.0.1:80",
  "[::1]:80",
  "[::]:80",
  "[::ffff:127.0.0.1]:1",
  "[:::]:80",
  "::1:80",
  "127.0.0.1:080",
  "126.0.0.1:1",
  "128.0.0.1:1",
  "12.7.0.1:1",
  "1.2.3:1",
];
const VALUES: readonly JsonValue[] = [null, true, false, 0, 1, -1, 1.5, "a", "", [], ["a"], [1], {}, { a: 1 }, [{}]];

/** Rows of one member: a table that contains it, its path, and its values. */
const MEMBERS: readonly (readonly [base: Tree, path: string, values: readonly JsonValue[]])[] = [
  [MCP, "providers[0].url", URLS],
  [put(MCP, "providers[0].allow_insecure_http", true), "providers[0].url", URLS],
  [LEDGER, "namespace.authority.ledger.base_url", URLS],
  [S3, "runpack_storage.endpoint", URLS],
  [put(S3, "runpack_storage.allow_http", true), "runpack_storage.endpoint", URLS],
  ...[
    HTTP,
    put(put(HTTP, "server.auth.mode", "bearer_token"), "server.auth.bearer_tokens", ["t"]),
    put(
      put(put(HTTP, "server.auth", { mode: "mtls", mtls_subjects: ["CN=a"] }), "server.tls", {
        cert_path: "c",
        key_path: "k",
        client_ca_path: "a",
        require_client_cert: false,
      }),
      "server.tools.mode",
      "filter",
    ),
  ].map((base): [Tree, string, JsonValue[]] => [base, "server.bind", BINDS]),
  [{}, "server.bind", BINDS],
  ...[
    "server.auth.bearer_tokens[0]",
    "server.auth.mtls_subjects[0]",
    "server.auth.principals[0].subject",
    "server.audit.path",
    "server.state_keys[0]",
    "docs.extra_paths[0]",
    "provider_discovery.allowlist[0]",
    "trust.default_policy.require_signature.keys[0]",
    "dev.permissive_exempt_providers[0]",
  ].map((path): [Tree, string, JsonValue[]] => [{}, path, TEXTS]),
  [STORE, "run_state_store.path", TEXTS],
  [S3, "runpack_storage.bucket", TEXTS],
  [S3, "runpack_storage.prefix", TEXTS],
  [RULE, "policy.static.rules[0].stage_ids[0]", TEXTS],
  [put(LEDGER, "dev.permissive", false), "namespace.authority.ledger.auth_token", TEXTS],
  [MCP, "providers[0].name", TEXTS],
  [MCP, "providers[0].auth.bearer_token", TEXTS],
  [MCP, "providers[0].command[0]", [...TEXTS, ""]],
  [MCP, "providers[0].capabilities_path", TEXTS],
  [JSON_FILES, "providers[0].config.root", TEXTS],
  [JSON_FILES, "providers[0].config.root_id", TEXTS],
  [REST, "providers[0].config.allowed_hosts[0]", TEXTS],
  [REST, "providers[0].config.user_agent", TEXTS],
  [REST, "providers[0].config.auth.bearer_token", TEXTS],
  [REST, "providers[0].config.auth.basic_username", TEXTS],
  [put(REST, "providers[0].config.auth.api_key_value", "k"), "providers[0].config.auth.api_key_header", TEXTS],
  [
    put(REST, "providers[0].config.auth", { api_key_value: "k", bearer_token: "t" }),
    "providers[0].config.auth.api_key_header",
    TEXTS,
  ],
  ...TEXTS.map((
    name,
  ): [Tree, string, JsonValue[]] => [REST, "providers[0].config.default_headers", [{ [name]: "v" }, { v: name }]]),
];

/** Tables with rules over several members: each combination of their values is a row. */
const COMBINATIONS: readonly (readonly [base: Tree, members: Readonly<Record<string, readonly JsonValue[]>>])[] = [
  [{}, {
    "server.transport": ["stdio", "http", "sse"],
    "server.bind": [null, "127.0.0.1:1", "192.0.2.1:1"],
    "server.auth": [null, {}, { mode: "bearer_token" }, { mode: "bearer_token", bearer_tokens: ["t"] }, {
      mode: "mtls",
    }, { mode: "mtls", mtls_subjects: ["CN=a"] }],
    "server.tls": [null, { cert_path: "c", key_path: "k" }, { cert_path: "c", key_path: "k", client_ca_path: "a" }, {
      cert_path: "c",
      key_path: "k",
      client_ca_path: "a",
      require_client_cert: false,
    }],
    "server.tls_termination": ["server", "upstream"],
  }],
  [{}, {
    "namespace.authority.mode": ["none", "ledger_http"],
    "namespace.authority.ledger": [null, { base_url: "https://a.example" }],
    "dev.permissive": [false, true],
    "server.mode": ["strict", "dev_permissive"],
  }],
  [{}, { "namespace.allow_default": [false, true], "namespace.default_tenants": [[], [1]] }],
  [{}, { "policy.engine": ["permit_all", "deny_all", "static"], "policy.static": [null, {}, { rules: [] }] }],
  [RULE, {
    "policy.static.rules[0].effect": ["permit", "deny", "error"],
    "policy.static.rules[0].error_message": [null, "m", "", " "],
    "policy.static.rules[0].stage_ids": [[], ["s"]],
    "policy.static.rules[0].target_kinds": [[], ["agent"]],
  }],
  [RULE, {
    "policy.static.rules[0].targets[0].target_kind": ["agent", "session", "channel", "external"],
    "policy.static.rules[0].targets[0].target_id": [null, "t"],
    "policy.static.rules[0].targets[0].system": [null, "s"],
    "policy.static.rules[0].targets[0].target": [null, "t"],
  }],
  ...["run_state_store", "schema_registry"].map((store): [Tree, Record<string, JsonValue[]>] => [{}, {
    [`${store}.type`]: ["memory", "sqlite"],
    [`${store}.path`]: [null, "gate.db"],
  }]),
  [{}, { "validation.strict": [true, false], "validation.allow_permissive": [true, false] }],
  [{}, { "dev.allow_dev_env_credentials": [true, false] }],
  [{ providers: [{ name: "x" }] }, {
    "providers[0].type": ["mcp", "typed", "builtin"],
    "providers[0].url": [null, "https://a.example", "http://a.example"],
    "providers[0].command": [[], ["run"], [""]],
    "providers[0].capabilities_path": [null, "c"],
    "providers[0].allow_insecure_http": [false, true],
    "providers[0].config": [null, {}, 1],
  }],
  [{}, {
    "providers[0].name": ["time", "calendar", "env", "json", "http", "rest", "clock"],
    "providers[0].type": ["builtin", "mcp"],
    "providers[0].config": [null, {}, { allow_logical: true }, { root: "r", root_id: "r" }, { overrides: { A: "x" } }, {
      overrides: { A: 1 },
    }],
    "providers[0].trust": [null, "audit", KEYS, { require_signature: { keys: [] } }],
    "providers[0].auth": [null, {}],
  }],
  [REST, {
    "providers[0].config.auth.api_key_header": [
      null,
      "x-key",
      "Authorization",
      "Cookie",
      "Host",
      "via",
      "Sec-Key",
      "X-Forwarded-Key",
    ],
    "providers[0].config.auth.api_key_value": [null, "k"],
    "providers[0].config.auth.basic_username": [null, "u", "u:v", "env:U"],
    "providers[0].config.auth.basic_password": [null, "p"],
    "providers[0].config.auth.bearer_token": [null, "t"],
  }],
  [REST, {
    "providers[0].config.default_headers": [{ a: "b" }, { a: "b", A: "c" }, { "X-Key": "v" }],
    "providers[0].config.auth": [null, { api_key_header: "x-key", api_key_value: "k" }],
  }],
  [MCP, {
    "providers[0].timeouts.connect_timeout_ms": [100, 2000],
    "providers[0].timeouts.request_timeout_ms": [500, 2000],
  }],
  [{}, {
    "anchors.providers": [[], [1, 2].map(() => ({ provider_id: "p", anchor_type: "a", required_fields: ["f"] }))],
  }],
  [OPEN, { "server.auth": [{ mode: "bearer_token", bearer_tokens: ["t"] }], "server.tls": [null] }],
];

function combined(base: Tree, [first, ...rest]: readonly (readonly [string, readonly JsonValue[]])[]): Tree[] {
  if (first === undefined) return [base];
  return first[1].flatMap((value) => combined(put(base, first[0], value), rest));
}

/** Every member of the schema; an item of an array has the index 0. */
function pathsOf(schema: unknown, path: string): string[] {
  if (!isTable(schema)) return [];
  const inside = [schema["anyOf"], schema["oneOf"]].flat().flatMap((variant) => pathsOf(variant, path));
  const items = schema["items"] === undefined ? [] : [`${path}[0]`, ...pathsOf(schema["items"], `${path}[0]`)];
  const members = Object.entries(schema["properties"] ?? {}).flatMap(([name, member]) => {
    const at = path === "" ? name : `${path}.${name}`;
    return [at, ...pathsOf(member, at)];
  });
  return [...inside, ...items, ...members];
}

/** The documents of the refusal vectors, except those with values that JSON cannot represent. */
async function refusedDocuments(): Promise<Tree[]> {
  const text = await Deno.readTextFile(new URL("../../tests/vectors/config/refusals.txt", import.meta.url));
  return text.split(/\n\n+/).flatMap((block) => {
    const toml = block.split("\n").filter((line) => !/^(?:=> |#)/.test(line)).join("\n");
    const { report, problems } = problemCollector();
    const tree = dropForeignValues(parse(toml, { integersAsBigInt: "asNeeded" }), report) as Tree;
    return toml.trim() === "" || problems().length > 0 ? [] : [tree];
  });
}

async function documents(schema: unknown): Promise<Tree[]> {
  const rows = [
    ...NUMBERS.flatMap(([path, base, least, most]) =>
      [least - 1, least, ...most === undefined ? [] : [most, most + 1], ...VALUES].map((value) =>
        put(base, path, value)
      )
    ),
    ...CHOICES.flatMap(([path, values]) =>
      Object.entries(values).flatMap(([value, base]) =>
        [value, `${value}x`, null].map((one) => put(base, path, one)).concat(base, put({}, path, value))
      )
    ),
    ...new Set(pathsOf(schema, "")),
  ];
  const trees = rows.flatMap((row) => typeof row === "string" ? VALUES.map((value) => put({}, row, value)) : [row]);
  return [
    ...trees,
    ...MEMBERS.flatMap(([base, path, values]) => values.map((value) => put(base, path, value))),
    ...COMBINATIONS.flatMap(([base, members]) => combined(base, Object.entries(members))),
    ...await refusedDocuments(),
  ];
}

Deno.test("the published schema and the loader accept and reject the same documents, except for rules beyond JSON Schema", async () => {
  const schema = await configJsonSchema();
  const ajv = new Ajv2020({ strict: false }).compile(schema);
  const own = compileSchema(schema);
  if (!("validator" in own)) assert.fail(`gate's own validator takes the schema: ${own.refusal}`);
  const unused = new Set(BEYOND.map(([line]) => line));
  const wrong: string[] = [];
  const rows = new Map((await documents(schema)).map((tree) => [JSON.stringify(tree), tree]));
  for (const [text, tree] of rows) {
    const lines = await linesOf(tree);
    const verdicts = [ajv(tree), own.validator(JSON.parse(text)) === null];
    if (verdicts.every((verdict) => verdict === (lines.length === 0))) continue;
    const reasons = lines.map((line) => BEYOND.find(([beyond]) => beyond.test(line))?.[0]);
    const isBeyond = lines.length > 0 && verdicts.every((verdict) => verdict) &&
      reasons.every((reason) => reason !== undefined);
    if (isBeyond) reasons.forEach((reason) => reason !== undefined && unused.delete(reason));
    else {wrong.push(
        `${text.slice(0, 300)}: ajv ${verdicts[0]}, own ${verdicts[1]}, loader ${lines.join("; ") || "accepts"}`,
      );}
  }
  assert.deepEqual(wrong, [], `${wrong.length} of ${rows.size}`);
  assert.ok(rows.size > 2000, `${rows.size} documents`);
  assert.deepEqual([...unused], [], "each exception is one that a document needs");
});
