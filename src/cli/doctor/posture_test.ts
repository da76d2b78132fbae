import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { RegistryAclRuleConfig } from "../../config/types.ts";
import type { ToolName } from "../../config/tool_names.ts";
import type { GateConfig, RoleConfig, TypedProviderConfig } from "../../config/types.ts";
import { entryOf } from "../../../tests/e2e/providers/fixtures.ts";
import { dataDirOf } from "../terminal/data_dir.ts";
import { exposedFiles } from "./exposed_files.ts";
import { securityPosture, settingWarnings, unknownRoles } from "./posture.ts";

const BASE: GateConfig = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/srv" };

const RULE: RegistryAclRuleConfig = {
  effect: "allow",
  actions: [],
  namespaces: [],
  tenants: [],
  policy_classes: [],
  roles: [],
  subjects: [],
};

function withStore(path: string, sync_mode: "full" | "normal"): GateConfig {
  return { ...BASE, run_state_store: { ...BASE.run_state_store, type: "sqlite", path, sync_mode } };
}

function typedEntry(allow_insecure_http: boolean): TypedProviderConfig {
  return {
    name: "builds",
    type: "typed",
    typed_protocol: "openapi_http",
    capabilities_path: "/c.json",
    runtime_profile_path: "/p.json",
    allow_insecure_http,
    url: null,
    command: [],
    auth: null,
    allow_raw: false,
    trust: null,
    config: { allow_private_networks: false },
    timeouts: { connect_timeout_ms: 2000, request_timeout_ms: 10_000 },
  };
}

Deno.test("securityPosture() summarises, then warns of relaxed settings", () => {
  const lines = (config: GateConfig): readonly string[] =>
    securityPosture(config).map(({ level, message }) => `${level}: ${message}`);
  assert.deepEqual(lines(BASE), [
    "info: built-in defaults; transport stdio; auth local_only; namespace 1 refused; runs in memory; schemas in memory",
    "info: server.auth.principals is empty: every admitted caller may use every tool",
    'warn: run_state_store.type is "memory": every run is lost at exit',
  ]);
  const issuers = (tokens: readonly string[]): readonly string[] => {
    const auth = { ...AUTH_DEFAULTS, mode: "bearer_token", bearer_tokens: tokens, oauth: true } as const;
    return lines({ ...BASE, server: { ...BASE.server, transport: "http", auth } }).filter((line) => /auth/.test(line));
  };
  assert.match(issuers([]).join("; "), /^info: built-in defaults; transport http; auth oauth; [^]*in memory$/);
  const digest = `sha256:${"0".repeat(64)}`;
  assert.match(
    issuers([digest]).join("; "),
    /auth bearer_token, then oauth; .*every caller with a stored token may use/,
  );
  const relaxed: GateConfig = {
    ...withStore("/data/gate.db", "normal"),
    config_path: "/srv/gate.toml",
    namespace: { ...BASE.namespace, allow_default: true, default_tenants: [1, 7] },
    schema_registry: { ...BASE.schema_registry, acl: { ...BASE.schema_registry.acl, allow_local_only: true } },
    validation: { ...BASE.validation, strict: false, allow_permissive: true },
    server: { ...BASE.server, audit: { ...BASE.server.audit, enabled: false } },
  };
  assert.deepEqual(lines(relaxed), [
    "info: configuration /srv/gate.toml; transport stdio; auth local_only; namespace 1 open to tenants 1, 7; " +
    "runs in /data/gate.db; schemas in memory",
    "info: server.auth.principals is empty: every admitted caller may use every tool",
    "info: schema_registry.acl.allow_local_only: local callers may register schemas",
    'warn: run_state_store.sync_mode is "normal": a power failure may lose the last commits',
    "warn: validation.strict is false: precheck does not check conditions against the data shape",
    "warn: server.audit.enabled is false: nothing is audited",
  ]);
});

Deno.test("securityPosture() reports the storage of runpacks, and unknownRoles() roles without effect", () => {
  const storage = { type: "object_store", provider: "s3", bucket: "packs", prefix: null, region: null } as const;
  const messages = (endpoint: string | null): readonly string[] =>
    securityPosture({
      ...BASE,
      runpack_storage: { ...storage, endpoint, force_path_style: false, allow_http: true },
    }).map(({ level, message }) => `${level}: ${message}`).filter((line) => line.includes("runpack_storage"));
  assert.deepEqual(messages(null), [
    "info: runpack_storage: published runpacks are mirrored to bucket packs at the endpoint of its region",
  ]);
  assert.deepEqual(messages("http://10.0.0.1:9000"), [
    "info: runpack_storage: published runpacks are mirrored to bucket packs at http://10.0.0.1:9000",
    "warn: runpack_storage.endpoint is http://: runpacks and session credentials are sent in clear text",
  ]);
  const role = (name: string): RoleConfig => ({ name, tenant_id: null, namespace_id: null });
  const roles = [role("NamespaceReader"), role("NamespaceWritter"), role("tracer"), role("registrar")];
  const auth = { ...AUTH_DEFAULTS, principals: [{ subject: "stdio", policy_class: null, roles }] };
  const { feedback } = BASE.server;
  const { acl } = BASE.schema_registry;
  assert.deepEqual(
    unknownRoles({
      ...BASE,
      server: {
        ...BASE.server,
        auth,
        feedback: { scenario_next: { ...feedback.scenario_next, trace_roles: ["tracer"] } },
      },
      schema_registry: {
        ...BASE.schema_registry,
        acl: { ...acl, mode: "custom", rules: [{ ...RULE, roles: ["registrar"] }] },
      },
    }),
    [
      'server.auth.principals[0].roles[1].name: role "NamespaceWritter" grants nothing; built in are TenantAdmin, ' +
      "NamespaceOwner, NamespaceAdmin, NamespaceWriter, NamespaceReader, SchemaManager, AgentSandbox, Approver, NamespaceDeleteAdmin",
    ],
  );
});

Deno.test("securityPosture() warns of exposed credentials of typed providers", () => {
  const warnings = (change: Partial<GateConfig>): readonly string[] =>
    settingWarnings({ ...BASE, ...change }).filter((message) => /clear text|variables/.test(message));
  assert.deepEqual(warnings({ providers: [typedEntry(false)] }), []);
  assert.deepEqual(warnings({ providers: [typedEntry(true)] }), [
    "providers[0].allow_insecure_http: checks and credentials may be sent in clear text",
  ]);
  assert.deepEqual(warnings({ dev: { ...BASE.dev, allow_dev_env_credentials: true } }), [
    "dev.allow_dev_env_credentials is true: profiles of typed providers may send environment variables as credentials",
  ]);
});

Deno.test("settingWarnings() warns of sessions of one server where a database has several", () => {
  const rows = [["sse", "postgres", 1], ["sse", "sqlite", 0], ["http", "postgres", 0], [
    "stdio",
    "postgres",
    0,
  ]] as const;
  for (const [transport, type, warnings] of rows) {
    const config = {
      ...BASE,
      server: { ...BASE.server, transport },
      run_state_store: { ...BASE.run_state_store, type },
    };
    const found = settingWarnings(config).filter((message) => message.includes("a session belongs to one server"));
    assert.equal(found.length, warnings, `${transport}, ${type}`);
  }
});

Deno.test("securityPosture() warns of settings that are likely mistakes", async (test) => {
  const { acl } = BASE.schema_registry;
  const server = (change: Partial<GateConfig["server"]>): Partial<GateConfig> => ({
    server: { ...BASE.server, ...change },
  });
  const tokens = (...bearer_tokens: string[]): Partial<GateConfig> =>
    server({ auth: { ...AUTH_DEFAULTS, mode: "bearer_token", bearer_tokens } });
  const tools = (names: readonly ToolName[], allowed: readonly ToolName[] = []): Partial<GateConfig> =>
    server({
      tools: { mode: "filter", allowlist: names, denylist: ["precheck"] },
      auth: { ...AUTH_DEFAULTS, allowed_tools: allowed },
    });
  const lists = (change: Partial<typeof acl>): Partial<GateConfig> => ({
    schema_registry: { ...BASE.schema_registry, acl: { ...acl, ...change } },
  });
  const values = (allow_raw_values: boolean, require_provider_opt_in: boolean): Partial<GateConfig> => ({
    evidence: { allow_raw_values, require_provider_opt_in },
  });
  const FIRST = "server.auth.bearer_tokens[0]";
  const LITERAL = `${FIRST} is a token itself, so each reader of the file has it: expected sha256:HEX or env:NAME`;
  const SHORT = `${FIRST} is short: 128 random bits need at least 22 characters`;
  const NONE = "server.tools and server.auth.allowed_tools allow no tool: nothing can be called";
  const INEFFECTIVE = "has no effect while schema_registry.acl.mode is";
  const rows: readonly (readonly [what: string, config: Partial<GateConfig>, ...messages: string[]])[] = [
    ["a token of 22 characters", tokens("a".repeat(22)), LITERAL],
    ["a token of 21 characters", tokens("a".repeat(21)), LITERAL, SHORT],
    ["the digest of a token, and a variable", tokens(`sha256:${"a".repeat(64)}`, "env:T")],
    [
      "a token twice",
      tokens("env:B", "env:A", "env:B"),
      "server.auth.bearer_tokens[2] is the same as server.auth.bearer_tokens[0]",
    ],
    ["values of providers that opt in", values(true, true)],
    ["no values", values(false, false)],
    [
      "values of every provider",
      values(true, false),
      "evidence.require_provider_opt_in is false: raw values of every provider are disclosed",
    ],
    ["a tool that is there", tools(["scenario_define"])],
    ["a tool of typed providers", tools(["typed_providers_import"])],
    ["a tool that is denied", tools(["precheck"]), NONE],
    ["lists without a tool in common", tools(["scenario_define"], ["scenario_start"]), NONE],
    ["a search", tools(["gate_docs_search"])],
    [
      "a search without documents",
      { ...tools(["gate_docs_search"]), docs: { ...BASE.docs, enable_search: false } },
      NONE,
    ],
    ["rules in force", lists({ mode: "custom", rules: [RULE], default: "allow" })],
    ["rules without effect", lists({ rules: [RULE] }), `schema_registry.acl.rules ${INEFFECTIVE} "builtin"`],
    ["a default without effect", lists({ default: "allow" }), `schema_registry.acl.default ${INEFFECTIVE} "builtin"`],
    [
      "local callers without effect",
      lists({ mode: "custom", allow_local_only: true }),
      `schema_registry.acl.allow_local_only ${INEFFECTIVE} "custom"`,
    ],
  ];
  const memory = 'run_state_store.type is "memory": every run is lost at exit';
  for (const [what, config, ...messages] of rows) {
    await test.step(what, () => {
      const lines = securityPosture({ ...BASE, ...config });
      assert.deepEqual(lines.filter(({ level }) => level === "warn").map(({ message }) => message), [
        ...messages,
        memory,
      ]);
      assert.ok(!/a{21}|b{32}/.test(JSON.stringify(lines)), "no token is disclosed");
    });
  }
});

Deno.test("exposedFiles() lists the files with secrets that every user can read", async (test) => {
  const folder = await Deno.makeTempDir();
  const config_path = `${folder}/gate.toml`;
  const key_path = `${folder}/server.key`;
  await Deno.writeTextFile(config_path, "");
  await Deno.writeTextFile(key_path, "");
  const here = await Deno.realPath(folder);
  // The folder of tests may be private to its user.
  const modeOf = (path: string): number | null => path.startsWith(here) ? Deno.statSync(path).mode : 0o755;
  const messages = async (config: Partial<GateConfig>, mode: number, ofFolder = 0o755): Promise<readonly string[]> => {
    for (const path of [config_path, key_path]) await Deno.chmod(path, mode);
    await Deno.chmod(folder, ofFolder);
    return exposedFiles({ ...BASE, config_path, ...config }, modeOf).map((message) =>
      message.slice(folder.length + 1).split(",")[0] ?? ""
    );
  };
  const tls = { cert_path: "c", key_path, client_ca_path: null, require_client_cert: true };
  const ledger = { base_url: "https://a", auth_token: "t", connect_timeout_ms: 500, request_timeout_ms: 2000 };
  const rest = (bearer_token: string): GateConfig["providers"] => [
    entryOf({ name: "rest", config: { auth: { bearer_token } } }),
  ];
  const SECRETS = "gate.toml holds secrets";
  const rows: readonly (readonly [what: string, config: Partial<GateConfig>, ...messages: string[]])[] = [
    ["nothing secret", {}],
    ["tokens", { server: { ...BASE.server, auth: { ...AUTH_DEFAULTS, bearer_tokens: ["t"] } } }, SECRETS],
    ["a ledger's token", { namespace: { ...BASE.namespace, authority: { mode: "ledger_http", ledger } } }, SECRETS],
    ["a provider's token", { providers: rest("t") }, SECRETS],
    ["a reference", { providers: rest("env:T") }],
    ["a key", { server: { ...BASE.server, tls } }, "server.key holds a private key"],
  ];
  for (const [what, config, ...lines] of rows) {
    await test.step(what, async () => {
      assert.deepEqual(await messages(config, 0o644), lines);
      assert.deepEqual(await messages(config, 0o640), []);
      assert.deepEqual(await messages(config, 0o644, 0o750), [], "no other user can reach the file");
    });
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("dataDirOf() returns --data-dir, else the folder of the run store, else .gate beside the configuration", () => {
  assert.equal(dataDirOf(BASE, undefined), "/srv/.gate");
  assert.equal(dataDirOf(withStore("/data/gate.db", "full"), undefined), "/data");
  assert.equal(dataDirOf(withStore("/data/gate.db", "full"), "/named"), "/named");
});
