import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { formatProblem, problemCollector } from "./problems.ts";
import { dropForeignValues } from "./raw.ts";
import { checkSettings } from "./schema.ts";
import type { GateSettings } from "./types.ts";

/** The settings that a text gives, or the lines that say what is wrong with it. */
function check(toml: string): { settings: GateSettings | null; lines: readonly string[] } {
  const { report, problems } = problemCollector();
  const tree = dropForeignValues(parse(toml, { integersAsBigInt: "asNeeded" }), report);
  const settings = checkSettings(tree, report);
  return { settings, lines: problems().map(formatProblem) };
}

const HTTP = "server.transport = 'http'\nserver.bind = '127.0.0.1:8080'\n";
const BEARER = `${HTTP}server.auth.mode = 'bearer_token'\n`;
const LEDGER = "[namespace.authority]\nmode = 'ledger_http'\nledger.base_url = 'https://names.example'\n";
const MCP = "[[providers]]\nname = 'x'\ntype = 'mcp'\nurl = 'https://x.example'\ncapabilities_path = 'x.json'\n";
const TYPED =
  "[[providers]]\nname = 'x'\ntype = 'typed'\ncapabilities_path = 'c'\nruntime_profile_path = 'r'\ntyped_protocol = 'grpc'\n";
const S3 = "[runpack_storage]\ntype = 'object_store'\nprovider = 's3'\nbucket = 'b'\n";
const RULE = "[policy]\nengine = 'static'\n[[policy.static.rules]]\n";
const builtin = (name: string): string => `[[providers]]\nname = '${name}'\ntype = 'builtin'\n`;
const items = (count: number, item: (index: number) => string): string =>
  `[${Array.from({ length: count }, (_, index) => item(index)).join(", ")}]`;

/** A text, and the lines that say what is wrong with it. */
// deno-fmt-ignore
const BAD: readonly (readonly [toml: string, ...lines: string[]])[] = [
  // Unknown members name their path, at every depth.
  ["serber = 1", 'serber: unknown member, did you mean "server"?'],
  ["zzz = 1", "zzz: unknown member"],
  ["__proto__ = 1", "__proto__: unknown member"],
  ["[server.limits]\nmax_in_flight = 1", 'server.limits.max_in_flight: unknown member, did you mean "max_inflight"?'],
  ["server.\"a.b\" = 1", 'server."a.b": unknown member'],
  ["[policy.static]\nsome = 1\n[policy]\nengine = 'static'", "policy.static.some: unknown member"],
  [`${MCP}[providers.timeouts]\nread_ms = 1`, "providers[0].timeouts.read_ms: unknown member"],
  [`${builtin("time")}config.allow_logica = true`, 'providers[0].config.allow_logica: unknown member, did you mean "allow_logical"?'],
  [`${builtin("rest")}config.auth.token = 'x'`, "providers[0].config.auth.token: unknown member"],
  // Kinds.
  ["server = 5", "server: must be a table, got 5"],
  ["providers = 'x'", "providers: must be an array, got a string of 1 character"],
  ["server.limits.max_inflight = '8'", "server.limits.max_inflight: must be an integer, got a string of 1 character"],
  ["server.limits.max_inflight = 1.5", "server.limits.max_inflight: must be an integer, got 1.5"],
  ["docs.enabled = 'yes'", "docs.enabled: must be a boolean, got a string of 3 characters"],
  ["server.transport = 'htp'", 'server.transport: must be one of "stdio", "http", "sse", got "htp"'],
  ["server.transport = ['http']", 'server.transport: must be one of "stdio", "http", "sse", got an array of 1 item'],
  ["validation.profile = 'loose'", 'validation.profile: must be "strict_core_v1", got "loose"'],
  ["server.tools.denylist = ['scenario_defin']", 'server.tools.denylist[0]: must be a known name, got "scenario_defin", did you mean "scenario_define"?'],
  ["server.auth.allowed_tools = ['rm']", 'server.auth.allowed_tools[0]: must be a known name, got "rm"'],
  ["trust.default_policy = 'strict'", 'trust.default_policy: must be "audit" or { require_signature = { keys = [...] } }, got a string of 6 characters'],
  ["trust.default_policy = { require_signature = { keys = [] } }", "trust.default_policy.require_signature.keys: must have at least 1 item, got 0"],
  ["trust.default_policy = { require_signature = { keys = [''] } }", "trust.default_policy.require_signature.keys[0]: must not be empty"],
  // Values that JSON cannot carry.
  ["server = 1979-05-27", "server: must not be a TOML date or time, write it as a string"],
  ["server.max_body_bytes = 07:32:00", "server.max_body_bytes: must not be a TOML date or time, write it as a string"],
  ["server.max_body_bytes = 9007199254740992", "server.max_body_bytes: must be within -9007199254740991 and 9007199254740991, got 9007199254740992"],
  ["server.max_body_bytes = inf", "server.max_body_bytes: must be a finite number, got Infinity"],
  [`${TYPED}config = { at = [1, 1979-05-27T07:32:00Z] }`, "providers[0].config.at[1]: must not be a TOML date or time, write it as a string"],
  [`${TYPED}config = { n = nan, big = 9223372036854775807 }`, "providers[0].config.big: must be within -9007199254740991 and 9007199254740991, got 9223372036854775807", "providers[0].config.n: must be a finite number, got NaN"],
  // server
  ["server.transport = 'http'", 'server.bind: is required when server.transport is "http"'],
  ["server.transport = 'sse'", 'server.bind: is required when server.transport is "sse"'],
  ["server.transport = 'http'\nserver.bind = 'localhost:80'", 'server.bind: must be an IP address and a port such as "127.0.0.1:8080", got "localhost:80"'],
  ["server.transport = 'http'\nserver.bind = '127.0.0.1:65536'", 'server.bind: must be an IP address and a port such as "127.0.0.1:8080", got "127.0.0.1:65536"'],
  ["server.transport = 'http'\nserver.bind = '0.0.0.0:80'", 'server.bind: must be a loopback address when server.auth.mode is "local_only", got "0.0.0.0:80"'],
  ["server.transport = 'sse'\nserver.bind = '[::]:80'", 'server.bind: must be a loopback address when server.auth.mode is "local_only", got "[::]:80"'],
  ["server.auth = { mode = 'bearer_token', bearer_tokens = ['t'] }", 'server.auth.mode: must be "local_only" when server.transport is "stdio", got "bearer_token"'],
  ["server.tls = { cert_path = 'c', key_path = 'k' }", 'server.tls: must not be set when server.transport is "stdio"'],
  [`${HTTP}server.tls = {}`, "server.tls.cert_path: is required", "server.tls.key_path: is required"],
  [BEARER, 'server.auth.bearer_tokens: must have at least 1 item when server.auth.mode is "bearer_token"'],
  [`${HTTP}server.auth.mode = 'mtls'`, 'server.auth.mtls_subjects: must have at least 1 item when server.auth.mode is "mtls"'],
  [`${BEARER}server.auth.bearer_tokens = ['hunter 2', '']`, "server.auth.bearer_tokens[0]: must not hold white space or control characters, got a string of 8 characters", "server.auth.bearer_tokens[1]: must not be empty"],
  ["server.auth.principals = [{ subject = 'a' }, { subject = 'a' }]", "server.auth.principals[1].subject: must be unique, but principals[0] has the same"],
  ["server.auth.principals = [{ subject = ' ', roles = [{}] }]", "server.auth.principals[0].roles[0].name: is required", "server.auth.principals[0].subject: must not be blank, got a string of 1 character"],
  ["server.feedback.scenario_next = { default = 'evidence' }", 'server.feedback.scenario_next.default: must not exceed max ("trace"), got "evidence"'],
  ["server.feedback.scenario_next = { max = 'summary' }", 'server.feedback.scenario_next.local_only_default: must not exceed max ("summary"), got "trace"'],
  // namespace
  ["namespace.allow_default = true", "namespace.default_tenants: must have at least 1 item when namespace.allow_default is true"],
  ["namespace.authority.mode = 'ledger_http'", 'namespace.authority.ledger: is required when namespace.authority.mode is "ledger_http"'],
  ["namespace.authority.ledger.base_url = 'https://a.example'", 'namespace.authority.ledger: must not be set when namespace.authority.mode is "none"'],
  [`dev.permissive = true\n${LEDGER}`, 'dev.permissive: must be false when namespace.authority.mode is "ledger_http"'],
  [`server.mode = 'dev_permissive'\n${LEDGER}`, 'server.mode: must be "strict" when namespace.authority.mode is "ledger_http"'],
  ["[namespace.authority]\nmode = 'ledger_http'\nledger.base_url = 'ftp://a.example'", "namespace.authority.ledger.base_url: must be an http:// or https:// URL with a host, got a string of 15 characters"],
  [`${LEDGER}ledger.auth_token = 'a b'`, "namespace.authority.ledger.auth_token: must not hold white space or control characters, got a string of 3 characters"],
  // policy
  ["policy.engine = 'static'", 'policy.static: is required when policy.engine is "static"'],
  ["policy.static = {}", 'policy.static: must not be set when policy.engine is "permit_all"'],
  ["policy = { engine = 'deny_all', static = {} }", 'policy.static: must not be set when policy.engine is "deny_all"'],
  ["policy = { engine = 'static', static = { default = 'error' } }", 'policy.static.default: must be one of "permit", "deny", got "error"'],
  [`${RULE}packet_ids = ['p']`, "policy.static.rules[0].effect: is required"],
  [`${RULE}effect = 'error'\npacket_ids = ['p']`, 'policy.static.rules[0].error_message: is required when effect is "error"'],
  [`${RULE}effect = 'error'\nerror_message = ''\npacket_ids = ['p']`, "policy.static.rules[0].error_message: must not be empty"],
  [`${RULE}effect = 'deny'\nerror_message = 'm'\npacket_ids = ['p']`, 'policy.static.rules[0].error_message: must not be set when effect is "deny"'],
  [`${RULE}effect = 'deny'\npacket_ids = []`, "policy.static.rules[0]: must have at least one selector: content_types, packet_ids, scenario_ids, schema_ids, stage_ids, require_labels, forbid_labels, require_policy_tags, forbid_policy_tags, target_kinds, targets"],
  [`${RULE}effect = 'deny'\ntargets = [{ target_kind = 'external' }]`, 'policy.static.rules[0].targets[0]: must have system or target when target_kind is "external"'],
  [`${RULE}effect = 'deny'\ntargets = [{ target_kind = 'external', system = 's', target_id = 'i' }]`, 'policy.static.rules[0].targets[0].target_id: must not be set when target_kind is "external"'],
  [`${RULE}effect = 'deny'\ntargets = [{ target_kind = 'agent', system = 's' }]`, 'policy.static.rules[0].targets[0].system: must not be set when target_kind is "agent"'],
  // stores
  ["run_state_store.type = 'sqlite'", 'run_state_store.path: is required when run_state_store.type is "sqlite"'],
  ["schema_registry.path = 'x'", 'schema_registry.path: must not be set when schema_registry.type is "memory"'],
  ["run_state_store = { type = 'sqlite', path = ' ' }", "run_state_store.path: must not be blank, got a string of 1 character"],
  ["run_state_store = { type = 'sqlite', path = \"a\\u0000\" }", "run_state_store.path: must not hold a zero character, got a string of 2 characters"],
  ["run_state_store.journal_mode = 'off'", 'run_state_store.journal_mode: must be one of "wal", "delete", got "off"'],
  ["schema_registry.acl.rules = [{ actions = ['drop'] }]", 'schema_registry.acl.rules[0].actions[0]: must be one of "register", "list", "get", got "drop"', "schema_registry.acl.rules[0].effect: is required"],
  ["runpack_storage = {}", "runpack_storage.bucket: is required", "runpack_storage.provider: is required", "runpack_storage.type: is required"],
  [`${S3}endpoint = 'http://s3.example'`, "runpack_storage.allow_http: must be true when endpoint begins with http://"],
  [`${S3}prefix = '/a'`, 'runpack_storage.prefix: must be relative, of segments of 1 to 255 characters other than "." and "..", got "/a"'],
  [`${S3}prefix = 'a/../b'`, 'runpack_storage.prefix: must be relative, of segments of 1 to 255 characters other than "." and "..", got "a/../b"'],
  // anchors, discovery, validation
  ["anchors.providers = [{ provider_id = 'p', anchor_type = 't', required_fields = [] }]", "anchors.providers[0].required_fields: must have at least 1 item, got 0"],
  ["anchors.providers = [{ provider_id = 'p', anchor_type = 't', required_fields = ['f'] }, { provider_id = 'p', anchor_type = 't', required_fields = ['f'] }]", "anchors.providers[1].provider_id: must be unique, but providers[0] has the same"],
  ["provider_discovery.allowlist = [' ']", "provider_discovery.allowlist[0]: must not be blank, got a string of 1 character"],
  ["validation.strict = false", "validation.allow_permissive: must be true when validation.strict is false"],
  // providers
  ["[[providers]]", "providers[0].name: is required", "providers[0].type: is required"],
  [`${builtin("time")}${builtin("time")}`, "providers[1].name: must be unique, but providers[0] has the same"],
  [builtin("clock"), 'providers[0].name: must be one of "time", "env", "json", "http", "rest" when type is "builtin", got "clock"'],
  [builtin(" time"), "providers[0].name: must not begin or end with white space, got a string of 5 characters"],
  [`${builtin("time")}url = 'https://x.example'\ncommand = ['x']\nauth = {}\ncapabilities_path = 'c'`, 'providers[0].auth: must not be set when type is "builtin"', 'providers[0].capabilities_path: must not be set when type is "builtin"', 'providers[0].command: must not be set when type is "builtin"', 'providers[0].url: must not be set when type is "builtin"'],
  [`${builtin("time")}allow_insecure_http = true\nruntime_profile_path = 'c'\ntyped_protocol = 'grpc'`, 'providers[0].allow_insecure_http: must not be set when type is "builtin"', 'providers[0].runtime_profile_path: must not be set when type is "builtin"', 'providers[0].typed_protocol: must not be set when type is "builtin"'],
  ["[[providers]]\nname = 'json'\ntype = 'mcp'\nurl = 'https://x.example'\ncapabilities_path = 'c'", 'providers[0].name: must not be the built-in name "json" when type is "mcp"'],
  ["[[providers]]\nname = 'x'\ntype = 'mcp'", 'providers[0]: must have command or url when type is "mcp"', 'providers[0].capabilities_path: is required when type is "mcp"'],
  [`${MCP}config = {}`, 'providers[0].config: must not be set when type is "mcp"'],
  ["[[providers]]\nname = 'x'\ntype = 'typed'", 'providers[0].capabilities_path: is required when type is "typed"', 'providers[0].runtime_profile_path: is required when type is "typed"', 'providers[0].typed_protocol: is required when type is "typed"'],
  ["[[providers]]\nname = 'x'\ntype = 'mcp'\nurl = 'http://x.example'\ncapabilities_path = 'c'", "providers[0].allow_insecure_http: must be true when url begins with http://"],
  ["[[providers]]\nname = 'x'\ntype = 'mcp'\nurl = 'https://me:hunter2@x.example'\ncapabilities_path = 'c'", "providers[0].url: must not hold a user name or password, got a string of 28 characters"],
  ["[[providers]]\nname = 'x'\ntype = 'mcp'\nurl = 'https://x.example/a b'\ncapabilities_path = 'c'", "providers[0].url: must not hold white space or control characters, got a string of 21 characters"],
  ["[[providers]]\nname = 'x'\ntype = 'mcp'\ncommand = ['']\ncapabilities_path = 'c'", "providers[0].command[0]: must not be empty"],
  [`${MCP}auth.bearer_token = ''`, "providers[0].auth.bearer_token: must not be empty"],
  [`${MCP}timeouts = { connect_timeout_ms = 2000, request_timeout_ms = 1999 }`, "providers[0].timeouts.request_timeout_ms: must be >= connect_timeout_ms (2000), got 1999"],
  // built-in providers
  [builtin("json"), 'providers[0].config: is required for the provider "json"'],
  [`${builtin("json")}config = {}`, "providers[0].config.root: is required", "providers[0].config.root_id: is required"],
  [`${builtin("json")}config = { root = 'r', root_id = 'Root' }`, "providers[0].config.root_id: must be 1 to 64 of a-z, 0-9, _ and -, the first a letter or digit, got a string of 4 characters"],
  [`${builtin("env")}config.overrides = { A = 1, __proto__ = 2 }`, "providers[0].config.overrides.A: must be a string, got 1", "providers[0].config.overrides.__proto__: must be a string, got 2"],
  [`${builtin("env")}config = 5`, "providers[0].config: must be a table, got 5"],
  [`${builtin("http")}config.hash_algorithm = 'md5'`, 'providers[0].config.hash_algorithm: must be "sha256", got "md5"'],
  [`${builtin("rest")}config.default_headers = { "a b" = 'x', c = "x\\ny" }`, 'providers[0].config.default_headers."a b": must have a header name as its name', "providers[0].config.default_headers.c: must not hold control characters"],
  [`${builtin("rest")}config.default_headers = { Accept = 'x', accept = 'y' }`, "providers[0].config.default_headers.accept: must be given once, in one spelling"],
  [`${builtin("rest")}config.auth = { api_key_header = 'x-key' }`, "providers[0].config.auth.api_key_value: is required when api_key_header is set"],
  [`${builtin("rest")}config.auth = { api_key_value = 'k' }`, "providers[0].config.auth.api_key_header: is required when api_key_value is set"],
  [`${builtin("rest")}config.auth = { basic_password = 'p' }`, "providers[0].config.auth.basic_username: is required when basic_password is set"],
  [`${builtin("rest")}config.auth = { bearer_token = 't', basic_username = 'u' }`, "providers[0].config.auth.bearer_token: must not be set together with basic_username or basic_password"],
  // Everything at once, in path order, indices by number.
  [
    `other = 1\nserver.limits.max_inflight = 0\nserver.transport = 'http'\nnamespace.default_tenants = ${items(11, (i) => i % 8 === 2 ? "0" : "1")}\nvalidation.strict = false`,
    "namespace.default_tenants[2]: must be >= 1, got 0",
    "namespace.default_tenants[10]: must be >= 1, got 0",
    "other: unknown member",
    'server.bind: is required when server.transport is "http"',
    "server.limits.max_inflight: must be >= 1, got 0",
    "validation.allow_permissive: must be true when validation.strict is false",
  ],
];

for (const [toml, ...lines] of BAD) {
  Deno.test(`checkSettings() refuses ${JSON.stringify(toml.slice(0, 100))}`, () => {
    assert.deepEqual(check(toml).lines, lines);
  });
}

/** Where a number stands, the text that puts one there, and the least and the most that it may be. */
// deno-fmt-ignore
const BOUNDS: readonly (readonly [path: string, toml: (value: number) => string, least: number, most?: number])[] = [
  ...([
    ["server.max_body_bytes", 1],
    ["server.limits.max_inflight", 1],
    ["server.limits.rate_limit.max_requests", 1, 100000],
    ["server.limits.rate_limit.window_ms", 100, 60000],
    ["server.limits.rate_limit.max_entries", 1, 65536],
    ["docs.max_doc_bytes", 1, 1048576],
    ["docs.max_docs", 1, 256],
    ["docs.max_sections", 1, 10],
    ["docs.max_total_bytes", 1, 8388608],
    ["provider_discovery.max_response_bytes", 1],
    ["schema_registry.max_schema_bytes", 1, 10485760],
    ["schema_registry.max_entries", 1],
    ["run_state_store.max_versions", 1],
    ["dev.permissive_ttl_days", 1],
    ...["run_state_store", "schema_registry"].flatMap((store): [string, number][] => [
      [`${store}.busy_timeout_ms`, 0],
      [`${store}.batch_max_bytes`, 1],
      [`${store}.batch_max_ops`, 1],
      [`${store}.batch_max_wait_ms`, 1],
      [`${store}.read_pool_size`, 1],
      [`${store}.writer_queue_capacity`, 1],
    ]),
  ] as [string, number, number?][]).map(([path, least, most]) =>
    [path, (value: number) => `${path} = ${value}`, least, most] as [string, (value: number) => string, number, number?]
  ),
  ["namespace.default_tenants[0]", (value) => `namespace.default_tenants = [${value}]`, 1],
  ["namespace.authority.ledger.connect_timeout_ms", (value) => `${LEDGER}ledger.connect_timeout_ms = ${value}`, 100, 10000],
  ["namespace.authority.ledger.request_timeout_ms", (value) => `${LEDGER}ledger.request_timeout_ms = ${value}`, 500, 30000],
  ["providers[0].timeouts.connect_timeout_ms", (value) => `${MCP}timeouts = { connect_timeout_ms = ${value}, request_timeout_ms = 30000 }`, 100, 10000],
  ["providers[0].timeouts.request_timeout_ms", (value) => `${MCP}timeouts = { connect_timeout_ms = 100, request_timeout_ms = ${value} }`, 500, 30000],
  ["server.auth.principals[0].roles[0].tenant_id", (value) => `server.auth.principals = [{ subject = 's', roles = [{ name = 'n', tenant_id = ${value} }] }]`, 1],
  ["server.auth.principals[0].roles[0].namespace_id", (value) => `server.auth.principals = [{ subject = 's', roles = [{ name = 'n', namespace_id = ${value} }] }]`, 1],
  ["schema_registry.acl.rules[0].tenants[0]", (value) => `schema_registry.acl.rules = [{ effect = 'allow', tenants = [${value}] }]`, 1],
  ["schema_registry.acl.rules[0].namespaces[0]", (value) => `schema_registry.acl.rules = [{ effect = 'allow', namespaces = [${value}] }]`, 1],
  ["providers[0].config.max_key_bytes", (value) => `${builtin("env")}config.max_key_bytes = ${value}`, 0],
  ["providers[0].config.max_value_bytes", (value) => `${builtin("env")}config.max_value_bytes = ${value}`, 0],
  ["providers[0].config.max_bytes", (value) => `${builtin("json")}config = { root = 'r', root_id = 'r', max_bytes = ${value} }`, 0],
  ["providers[0].config.max_response_bytes", (value) => `${builtin("http")}config.max_response_bytes = ${value}`, 0],
  ["providers[0].config.timeout_ms", (value) => `${builtin("rest")}config.timeout_ms = ${value}`, 0],
];

Deno.test("checkSettings() holds each number at its bounds", async (test) => {
  for (const [path, toml, least, most] of BOUNDS) {
    await test.step(path, () => {
      assert.deepEqual(check(toml(least - 1)).lines, [`${path}: must be >= ${least}, got ${least - 1}`]);
      assert.deepEqual(check(toml(least)).lines, []);
      assert.deepEqual(check(toml(most ?? Number.MAX_SAFE_INTEGER)).lines, []);
      if (most !== undefined) {
        assert.deepEqual(check(toml(most + 1)).lines, [`${path}: must be <= ${most}, got ${most + 1}`]);
      }
    });
  }
});

/** Where a list or string stands, the text that makes one of a length, and the longest that it may be. */
// deno-fmt-ignore
const LENGTHS: readonly (readonly [path: string, toml: (length: number) => string, most: number, noun: "item" | "character"])[] = [
  ["server.auth.bearer_tokens", (n) => `${BEARER}server.auth.bearer_tokens = ${items(n, (i) => `'t${i}'`)}`, 64, "item"],
  ["server.auth.bearer_tokens[0]", (n) => `${BEARER}server.auth.bearer_tokens = ['${"t".repeat(n)}']`, 256, "character"],
  ["server.auth.mtls_subjects", (n) => `server.auth.mtls_subjects = ${items(n, (i) => `'s${i}'`)}`, 64, "item"],
  ["server.auth.mtls_subjects[0]", (n) => `server.auth.mtls_subjects = ['${"s".repeat(n)}']`, 512, "character"],
  ["server.auth.principals", (n) => `server.auth.principals = ${items(n, (i) => `{ subject = 's${i}' }`)}`, 64, "item"],
  ["server.auth.principals[0].roles", (n) => `server.auth.principals = [{ subject = 's', roles = ${items(n, () => "{ name = 'r' }")} }]`, 128, "item"],
  ["server.auth.allowed_tools", (n) => `server.auth.allowed_tools = ${items(n, () => "'precheck'")}`, 128, "item"],
  ["server.tools.allowlist", (n) => `server.tools.allowlist = ${items(n, () => "'precheck'")}`, 128, "item"],
  ["server.tools.denylist", (n) => `server.tools.denylist = ${items(n, () => "'precheck'")}`, 128, "item"],
  ["schema_registry.acl.rules", (n) => `schema_registry.acl.rules = ${items(n, () => "{ effect = 'allow' }")}`, 256, "item"],
  ["docs.extra_paths", (n) => `docs.extra_paths = ${items(n, () => "'d'")}`, 64, "item"],
  ["run_state_store.path", (n) => `run_state_store = { type = 'sqlite', path = '${"a/".repeat(2049).slice(0, n)}' }`, 4096, "character"],
];

Deno.test("checkSettings() holds each list and string at its length", async (test) => {
  for (const [path, toml, most, noun] of LENGTHS) {
    await test.step(path, () => {
      assert.deepEqual(check(toml(most - 1)).lines, []);
      assert.deepEqual(check(toml(most)).lines, []);
      assert.deepEqual(check(toml(most + 1)).lines, [`${path}: must have at most ${most} ${noun}s, got ${most + 1}`]);
    });
  }
});

Deno.test("checkSettings() holds a path component at 255 characters", () => {
  const toml = (length: number): string => `docs.extra_paths = ['a/${"b".repeat(length)}']`;
  assert.deepEqual(check(toml(255)).lines, []);
  assert.deepEqual(check(toml(256)).lines, [
    "docs.extra_paths[0]: must not have a component of more than 255 characters, got a string of 258 characters",
  ]);
});

Deno.test("checkSettings() accepts what the rules ask for", () => {
  const good = [
    "",
    `${HTTP}server.tls = { cert_path = 'c', key_path = 'k' }`,
    `${BEARER}server.auth.bearer_tokens = ['t']`,
    "server.transport = 'sse'\nserver.bind = '[::1]:0'",
    "server.transport = 'http'\nserver.bind = '0.0.0.0:80'\nserver.auth = { mode = 'mtls', mtls_subjects = ['CN=a'] }",
    "server.feedback.scenario_next = { max = 'evidence', default = 'evidence' }",
    "namespace = { allow_default = true, default_tenants = [1] }",
    LEDGER,
    `${RULE}effect = 'error'\nerror_message = 'm'\ntargets = [{ target_kind = 'external', target = 't' }, { target_kind = 'agent' }]`,
    "run_state_store = { type = 'sqlite', path = 'gate.db' }\nschema_registry = { type = 'sqlite', path = 'gate.db' }",
    `${S3}prefix = 'a/b/'\nendpoint = 'http://s3.example'\nallow_http = true`,
    "validation = { strict = false, allow_permissive = true }",
    "trust.default_policy = { require_signature = { keys = ['a.pub'] } }",
    `${MCP}trust = 'audit'`,
    `${TYPED}config = { any = [1, 'x', true] }`,
    `${builtin("rest")}config.auth = { api_key_header = 'x-key', api_key_value = 'env:KEY', basic_username = 'u' }`,
  ];
  for (const toml of good) assert.deepEqual(check(toml).lines, [], toml);
});

Deno.test("checkSettings() keeps __proto__ as an ordinary name", () => {
  const { settings } = check(
    `${builtin("env")}config.overrides = { __proto__ = 'x' }\n${TYPED}config = { __proto__ = { a = 1 } }`,
  );
  const [env, typed] = settings?.providers ?? [];
  assert.deepEqual(env?.name === "env" && env.type === "builtin" && Object.entries(env.config.overrides ?? {}), [[
    "__proto__",
    "x",
  ]]);
  assert.equal(JSON.stringify(typed?.config), '{"__proto__":{"a":1}}');
});
