import assert from "node:assert/strict";
import { parse } from "smol-toml";
import { checkAvailability, UNAVAILABLE } from "./unsupported_settings.ts";
import { formatProblem, problemCollector } from "./problems.ts";

function featureLines(toml: string, unavailable = UNAVAILABLE): readonly string[] {
  const { report, problems } = problemCollector();
  checkAvailability(parse(toml), report, unavailable);
  return problems().map(formatProblem);
}

const TABLE = [
  { path: "docs", why: "documentation search" },
  { path: "providers", why: "evidence providers" },
  { path: "server.auth.mode", why: "the HTTP transports" },
  { path: "server.tls", why: "the HTTP transports" },
];

Deno.test("checkAvailability() rejects a setting that differs from its default", () => {
  const cases: [toml: string, ...lines: string[]][] = [
    [""],
    ["providers = []"],
    ["docs = {}"],
    ["docs = { enabled = true, max_docs = 32 }"],
    ["docs.extra_paths = []"],
    ["server.auth.mode = 'local_only'"],
    ["server.auth.allowed_tools = ['precheck']"],
    [
      "docs = { enabled = false, max_docs = 32, max_sections = 5 }",
      "docs.enabled: is not available yet: documentation search",
      "docs.max_sections: is not available yet: documentation search",
    ],
    ["docs.extra_paths = ['d']", "docs.extra_paths: is not available yet: documentation search"],
    ["[[providers]]\nname = 'time'", "providers: is not available yet: evidence providers"],
    ["server.auth.mode = 'mtls'", "server.auth.mode: is not available yet: the HTTP transports"],
    ["server.tls.cert_path = 'c'", "server.tls: is not available yet: the HTTP transports"],
  ];
  for (const [toml, ...lines] of cases) assert.deepEqual(featureLines(toml, TABLE), lines, toml);
});

Deno.test("UNAVAILABLE names each setting once, and no setting inside another", () => {
  const paths = UNAVAILABLE.map((feature) => feature.path);
  for (const path of paths) {
    assert.deepEqual(paths.filter((other) => path === other || path.startsWith(`${other}.`)), [path]);
  }
});

Deno.test("UNAVAILABLE contains no setting that stdio uses", () => {
  const toml = `
server.transport = "stdio"
server.max_body_bytes = 2048
server.limits = { max_inflight = 2, rate_limit = { max_requests = 5 } }
server.tools = { mode = "passthrough", allowlist = ["precheck"], denylist = ["precheck"] }
server.auth.allowed_tools = ["scenario_define"]
namespace = { allow_default = true, default_tenants = [1] }
policy = { engine = "static", static = { rules = [{ effect = "deny", target_kinds = ["agent"] }] } }
run_state_store = { type = "sqlite", path = "gate.db", sync_mode = "normal", max_versions = 9 }
schema_registry = { type = "sqlite", path = "gate.db", max_entries = 9, acl = { allow_local_only = true } }
anchors.providers = [{ provider_id = "json", anchor_type = "file_path_rooted", required_fields = ["path"] }]
docs = { max_docs = 99, extra_paths = ["guides"], enable_resources = false }
dev = { permissive = true, permissive_ttl_days = 1, permissive_exempt_providers = [], permissive_warn = false }
evidence = { allow_raw_values = true, require_provider_opt_in = false }
provider_discovery = { denylist = ["env"], max_response_bytes = 9 }
providers = [{ name = "time", type = "builtin" }, { name = "a", type = "mcp", command = ["a"], capabilities_path = "c" }]
trust = { min_lane = "asserted", default_policy = { require_signature = { keys = ["a.pub"] } } }
validation = { strict = false, allow_permissive = true, enable_deep_equals = true, enable_lexicographic = true }
`;
  assert.deepEqual(featureLines(toml), []);
});

Deno.test("checkAvailability() rejects each provider of type typed", () => {
  const toml = "providers = [{ name = 'time', type = 'builtin' }, { name = 'a', type = 'typed' }]";
  assert.deepEqual(featureLines(toml), ["providers[1].type: is not available yet: providers of type typed"]);
});
