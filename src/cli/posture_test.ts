import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../config/defaults.ts";
import type { GateConfig, RoleConfig } from "../config/types.ts";
import { entryOf } from "../../tests/e2e/providers_fixtures.ts";
import { dataDirOf } from "./data_dir.ts";
import { exposedFiles } from "./exposed_files.ts";
import { securityPosture, strangeRoles } from "./posture.ts";

const BASE: GateConfig = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/srv" };

function withStore(path: string, sync_mode: "full" | "normal"): GateConfig {
  return { ...BASE, run_state_store: { ...BASE.run_state_store, type: "sqlite", path, sync_mode } };
}

Deno.test("securityPosture() summarises, then warns of what is relaxed", () => {
  const lines = (config: GateConfig): readonly string[] =>
    securityPosture(config).map(({ level, message }) => `${level}: ${message}`);
  assert.deepEqual(lines(BASE), [
    "info: built-in defaults; transport stdio; auth local_only; namespace 1 refused; runs in memory; schemas in memory",
    "info: server.auth.principals is empty: every caller that is let in may use every tool",
    'warn: run_state_store.type is "memory": every run is forgotten at exit',
  ]);
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
    "info: server.auth.principals is empty: every caller that is let in may use every tool",
    "info: schema_registry.acl.allow_local_only: local callers may register schemas",
    'warn: run_state_store.sync_mode is "normal": a power failure may lose the last commits',
    "warn: validation.strict is false: precheck does not hold conditions against the data shape",
    "warn: server.audit.enabled is false: nothing is audited",
  ]);
});

Deno.test("securityPosture() says where runpacks go, and which roles are of no use", () => {
  const storage = { type: "object_store", provider: "s3", bucket: "packs", prefix: null, region: null } as const;
  const said = (endpoint: string | null): readonly string[] =>
    securityPosture({
      ...BASE,
      runpack_storage: { ...storage, endpoint, force_path_style: false, allow_http: true },
    }).map(({ level, message }) => `${level}: ${message}`).filter((line) => line.includes("runpack_storage"));
  assert.deepEqual(said(null), [
    "info: runpack_storage: published runpacks are mirrored to bucket packs at the endpoint of its region",
  ]);
  assert.deepEqual(said("http://10.0.0.1:9000"), [
    "info: runpack_storage: published runpacks are mirrored to bucket packs at http://10.0.0.1:9000",
    "warn: runpack_storage.endpoint is http://: runpacks and credentials of a session cross the network in the clear",
  ]);
  const role = (name: string): RoleConfig => ({ name, tenant_id: null, namespace_id: null });
  const roles = [role("NamespaceReader"), role("NamespaceWritter"), role("tracer"), role("registrar")];
  const auth = { ...AUTH_DEFAULTS, principals: [{ subject: "stdio", policy_class: null, roles }] };
  const { feedback } = BASE.server;
  const rule = { effect: "allow", actions: [], namespaces: [], tenants: [], policy_classes: [], subjects: [] } as const;
  const { acl } = BASE.schema_registry;
  assert.deepEqual(
    strangeRoles({
      ...BASE,
      server: {
        ...BASE.server,
        auth,
        feedback: { scenario_next: { ...feedback.scenario_next, trace_roles: ["tracer"] } },
      },
      schema_registry: {
        ...BASE.schema_registry,
        acl: { ...acl, mode: "custom", rules: [{ ...rule, roles: ["registrar"] }] },
      },
    }),
    [
      'server.auth.principals[0].roles[1].name: role "NamespaceWritter" grants nothing; built in are TenantAdmin, ' +
      "NamespaceOwner, NamespaceAdmin, NamespaceWriter, NamespaceReader, SchemaManager, AgentSandbox, NamespaceDeleteAdmin",
    ],
  );
});

Deno.test("exposedFiles() names what everybody may read of that which holds secrets", async (test) => {
  const folder = await Deno.makeTempDir();
  const config_path = `${folder}/gate.toml`;
  const key_path = `${folder}/server.key`;
  await Deno.writeTextFile(config_path, "");
  await Deno.writeTextFile(key_path, "");
  const said = async (config: Partial<GateConfig>, mode: number): Promise<readonly string[]> => {
    for (const path of [config_path, key_path]) await Deno.chmod(path, mode);
    return exposedFiles({ ...BASE, config_path, ...config }).map((message) =>
      message.slice(folder.length + 1).split(",")[0] ?? ""
    );
  };
  const tls = { cert_path: "c", key_path, client_ca_path: null, require_client_cert: true };
  const ledger = { base_url: "https://a", auth_token: "t", connect_timeout_ms: 500, request_timeout_ms: 2000 };
  const rest = (bearer_token: string): GateConfig["providers"] => [
    entryOf({ name: "rest", config: { auth: { bearer_token } } }),
  ];
  const SECRETS = "gate.toml holds secrets";
  const rows: readonly (readonly [what: string, config: Partial<GateConfig>, ...said: string[]])[] = [
    ["nothing secret", {}],
    ["tokens", { server: { ...BASE.server, auth: { ...AUTH_DEFAULTS, bearer_tokens: ["t"] } } }, SECRETS],
    ["a ledger's token", { namespace: { ...BASE.namespace, authority: { mode: "ledger_http", ledger } } }, SECRETS],
    ["a provider's token", { providers: rest("t") }, SECRETS],
    ["a reference", { providers: rest("env:T") }],
    ["a key", { server: { ...BASE.server, tls } }, "server.key holds a private key"],
  ];
  for (const [what, config, ...lines] of rows) {
    await test.step(what, async () => {
      assert.deepEqual(await said(config, 0o644), lines);
      assert.deepEqual(await said(config, 0o640), []);
    });
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("dataDirOf() takes --data-dir, else the folder of the run store, else .gate beside the configuration", () => {
  assert.equal(dataDirOf(BASE, undefined), "/srv/.gate");
  assert.equal(dataDirOf(withStore("/data/gate.db", "full"), undefined), "/data");
  assert.equal(dataDirOf(withStore("/data/gate.db", "full"), "/named"), "/named");
});
