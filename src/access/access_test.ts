import assert from "node:assert/strict";
import type { RegistryAclConfig, RegistryAclRuleConfig } from "../config/types.ts";
import { checkNamespace } from "./namespace.ts";
import { principalOf, tenantsOf } from "./principal.ts";
import { GENERIC_REFUSAL } from "./refusal.ts";
import { checkRegistry } from "./registry_acl.ts";
import { checkRole, matchingRoles, policyClassOf, ROLE_NAMES, rolesInForce, type ToolGroup } from "./roles.ts";
import type { Principal, RoleBinding } from "./types.ts";

function role(name: string, namespace: number | null = null, tenant: number | null = null): RoleBinding {
  return { name, namespace_id: namespace, tenant_id: tenant };
}

function caller(
  authMethod: Principal["authMethod"],
  roles: readonly RoleBinding[] = [],
  policyClass: string | null = null,
): Principal {
  const subject = authMethod === "local" ? "stdio" : "token:00";
  return { subject, authMethod, policyClass, roles, tenants: tenantsOf(authMethod, roles) };
}

const LOCAL = caller("local");
const REMOTE = caller("bearer_token");

const TENANTS: readonly (readonly [name: string, principal: Principal, tenants: readonly number[] | null])[] = [
  ["local, no roles", LOCAL, [1]],
  ["remote, no roles", REMOTE, []],
  ["local, roles of two tenants", caller("local", [role("A", 2, 7), role("B", 2, 3), role("C", 3, 7)]), [3, 7]],
  ["remote, one role of every tenant", caller("mtls", [role("A", 2, 7), role("B")]), null],
];

for (const [name, principal, tenants] of TENANTS) {
  Deno.test(`tenantsOf() ${name}`, () => assert.deepEqual(principal.tenants, tenants));
}

const CLOSED = { allow_default: false, default_tenants: [] };
const OPEN = { allow_default: true, default_tenants: [1, 5] };

const NAMESPACES: readonly (readonly [
  name: string,
  config: { readonly allow_default: boolean; readonly default_tenants: readonly number[] },
  principal: Principal,
  namespaceId: number,
  reason: string,
])[] = [
  ["another namespace, closed default", CLOSED, LOCAL, 2, "namespace_open"],
  ["another namespace, remote", CLOSED, REMOTE, 2, "namespace_open"],
  ["closed default, local", CLOSED, LOCAL, 1, "default_namespace_closed"],
  ["closed default, every tenant", CLOSED, caller("mtls", [role("TenantAdmin")]), 1, "default_namespace_closed"],
  ["open default, local is tenant 1", OPEN, LOCAL, 1, "default_namespace_tenant_listed"],
  ["open default, remote without tenant", OPEN, REMOTE, 1, "default_namespace_tenant"],
  ["open default, listed tenant", OPEN, caller("mtls", [role("X", 1, 5)]), 1, "default_namespace_tenant_listed"],
  ["open default, other tenant", OPEN, caller("local", [role("X", 1, 6)]), 1, "default_namespace_tenant"],
  ["open default, every tenant", OPEN, caller("mtls", [role("X")]), 1, "default_namespace_tenant_listed"],
  [
    "open default, no tenant listed",
    { allow_default: true, default_tenants: [] },
    caller("mtls", [role("X")]),
    1,
    "default_namespace_tenant",
  ],
];

for (const [name, config, principal, namespaceId, reason] of NAMESPACES) {
  Deno.test(`checkNamespace() ${name}: ${reason}`, () => {
    const decision = checkNamespace(config, principal, namespaceId);
    assert.equal(decision.reason, reason);
    assert.equal(decision.allowed, reason.endsWith("listed") || reason === "namespace_open");
  });
}

const GROUPS: readonly ToolGroup[] = ["Authoring", "Run", "Read", "Audit"];
const GROUP_TOOL: Readonly<Record<ToolGroup, string>> = {
  Authoring: "scenario_define",
  Run: "scenario_submit",
  Read: "scenario_status",
  Audit: "runpack_export",
};

/**
 * Role, class, then its permissions: groups by their initials (`a`uthoring, `r`un, rea`d`, a`u`dit),
 * `s`chemas_register, `v`erify, and `e`vidence that waits where the role does not drive runs.
 */
const MATRIX: readonly (readonly [role: string, policyClass: string | null, may: string])[] = [
  ["TenantAdmin", null, "ardusv"],
  ["NamespaceOwner", "prod", "ardusv"],
  ["NamespaceAdmin", "scratch", "ardusv"],
  ["NamespaceWriter", "prod", "rdv"],
  ["NamespaceReader", "prod", "dv"],
  ["SchemaManager", "project", "ds"],
  ["SchemaManager", "SCRATCH", "ds"],
  ["SchemaManager", "prod", ""],
  ["SchemaManager", null, ""],
  ["SchemaManager", "staging", ""],
  ["AgentSandbox", "scratch", "rd"],
  ["AgentSandbox", "project", ""],
  ["AgentSandbox", "Prod", ""],
  ["AgentSandbox", null, ""],
  ["Approver", "prod", "de"],
  ["Approver", null, "de"],
  ["NamespaceDeleteAdmin", "prod", "d"],
  ["namespacereader", "scratch", ""],
  ["Superuser", "scratch", ""],
];

Deno.test("checkRole() is tested for every built-in role", () => {
  assert.deepEqual(ROLE_NAMES.filter((name) => !MATRIX.some(([role]) => role === name)), []);
});

for (const [name, policyClass, may] of MATRIX) {
  Deno.test(`checkRole() role ${name} in class ${policyClass}: "${may}"`, () => {
    const principal = caller("bearer_token", [role(name, 4)], policyClass);
    const allowed = (group: ToolGroup, tool: string, namespaceId: number): boolean =>
      checkRole(true, principal, { group, tool, namespaceId })?.allowed === true;
    const letters = ["a", "r", "d", "u"].filter((_, index) => {
      const group = GROUPS[index] as ToolGroup;
      return allowed(group, GROUP_TOOL[group], 4);
    });
    if (allowed("Authoring", "schemas_register", 4)) letters.push("s");
    if (allowed("Audit", "runpack_verify", 4)) letters.push("v");
    const submission = { group: "Run", tool: "scenario_submit", namespaceId: 4, evidence: true } as const;
    if (checkRole(true, principal, submission)?.allowed === true && !letters.includes("r")) letters.push("e");
    assert.equal(letters.join(""), may);
    for (const group of GROUPS) assert.equal(allowed(group, GROUP_TOOL[group], 5), false, "another namespace");
    const anywhere = checkRole(true, principal, { group: "Read", tool: "gate_docs_search", namespaceId: null });
    assert.equal(anywhere?.allowed, may !== "", "a tool without a namespace");
    for (const group of GROUPS) {
      const unread = checkRole(true, principal, { group, tool: GROUP_TOOL[group], namespaceId: "unread" });
      assert.equal(unread?.allowed, allowed(group, GROUP_TOOL[group], 4), "a namespace that cannot be read");
    }
  });
}

Deno.test("checkRole() without configured principals lets every caller do everything", () => {
  assert.equal(checkRole(false, REMOTE, { group: "Authoring", tool: "scenario_define", namespaceId: 2 }), null);
});

Deno.test("rolesInForce() restricts callers with access tokens always, and others where principals are configured", () => {
  const entry = { subject: "stdio", policy_class: null, roles: [] };
  const rows = (["local", "bearer_token", "mtls", "oauth"] as const).map((authMethod) => {
    const principal = { ...LOCAL, authMethod };
    return [null, { principals: [] }, { principals: [entry] }].map((auth) => rolesInForce(auth, principal));
  });
  assert.deepEqual(rows, [...Array(3).fill([false, false, true]), [true, true, true]]);
});

Deno.test("checkRole() with configured principals denies a caller without roles", () => {
  const status = { group: "Read", tool: "scenario_status", namespaceId: 2 } as const;
  assert.deepEqual(checkRole(true, REMOTE, status), {
    allowed: false,
    reason: "no_role_grants",
    message: "Cannot use scenario_status in namespace 2: none of the caller's roles grants it",
  });
  const search = { group: "Read", tool: "gate_docs_search", namespaceId: null } as const;
  assert.match(JSON.stringify(checkRole(true, LOCAL, search)), /no role of .* in server\.auth\.principals grants it/);
});

Deno.test("matchingRoles() names only the roles that grant the use", () => {
  const principal = caller("mtls", [role("NamespaceReader"), role("NamespaceWriter", 2), role("NamespaceOwner", 3)]);
  const use = { group: "Run", tool: "scenario_submit", namespaceId: 2 } as const;
  assert.deepEqual(matchingRoles(principal, use).map(({ name }) => name), ["NamespaceWriter"]);
});

Deno.test("policyClassOf() maps an unknown label to prod", () => {
  assert.deepEqual([null, "", "prod", "Project", "scratch", "qa"].map(policyClassOf), [
    "prod",
    "prod",
    "prod",
    "project",
    "scratch",
    "prod",
  ]);
});

Deno.test("principalOf() reads roles and class from the configuration, by exact subject", () => {
  const config = [{ subject: "CN=a,O=b", policy_class: "project", roles: [role("SchemaManager", 2, 9)] }];
  assert.deepEqual(principalOf(config, "CN=a,O=b", "mtls"), {
    subject: "CN=a,O=b",
    authMethod: "mtls",
    policyClass: "project",
    roles: [role("SchemaManager", 2, 9)],
    tenants: [9],
  });
  assert.deepEqual(principalOf(config, "CN=a,O=B", "mtls").roles, []);
});

const BUILTIN: RegistryAclConfig = {
  mode: "builtin",
  allow_local_only: false,
  default: "deny",
  require_signing: false,
  rules: [],
};
const LOCAL_ONLY: RegistryAclConfig = { ...BUILTIN, allow_local_only: true };

function withRules(
  defaultEffect: "allow" | "deny",
  rules: readonly Partial<RegistryAclRuleConfig>[],
): RegistryAclConfig {
  const empty = { actions: [], namespaces: [], tenants: [], policy_classes: [], roles: [], subjects: [] };
  const full = rules.map((rule) => ({ effect: "allow" as const, ...empty, ...rule }));
  return { ...LOCAL_ONLY, mode: "custom", default: defaultEffect, rules: full };
}

/** Decisions on register, list and get in namespace 2, and on get in namespace 3. */
const REGISTRY: readonly (readonly [name: string, acl: RegistryAclConfig, principal: Principal, reasons: string])[] = [
  ["local, not opened", BUILTIN, LOCAL, "builtin_deny_write builtin_deny_read builtin_deny_read builtin_deny_read"],
  [
    "local, allow_local_only",
    LOCAL_ONLY,
    LOCAL,
    "builtin_allow_local_only builtin_allow_local_only builtin_allow_local_only builtin_allow_local_only",
  ],
  [
    "remote, allow_local_only",
    LOCAL_ONLY,
    REMOTE,
    "builtin_deny_write builtin_deny_read builtin_deny_read builtin_deny_read",
  ],
  ...["TenantAdmin", "NamespaceOwner", "NamespaceAdmin"].map((name) =>
    [
      `${name} of namespace 2`,
      BUILTIN,
      caller("mtls", [role(name, 2)]),
      "builtin_allow_write builtin_allow_read builtin_allow_read builtin_deny_read",
    ] as const
  ),
  ...["NamespaceWriter", "NamespaceReader"].map((name) =>
    [
      `${name} everywhere`,
      BUILTIN,
      caller("mtls", [role(name)]),
      "builtin_deny_write builtin_allow_read builtin_allow_read builtin_allow_read",
    ] as const
  ),
  [
    "SchemaManager, scratch",
    BUILTIN,
    caller("mtls", [role("SchemaManager", 2)], "scratch"),
    "builtin_allow_write builtin_allow_read builtin_allow_read builtin_deny_read",
  ],
  [
    "SchemaManager, unknown class counts as prod",
    BUILTIN,
    caller("mtls", [role("SchemaManager", 2)], "dev"),
    "builtin_deny_write builtin_allow_read builtin_allow_read builtin_deny_read",
  ],
  [
    "AgentSandbox of namespace 2, scratch: gets what precheck needs",
    BUILTIN,
    caller("mtls", [role("AgentSandbox", 2)], "scratch"),
    "builtin_deny_write builtin_deny_read builtin_allow_read builtin_deny_read",
  ],
  ...["project", "dev", null].map((policyClass) =>
    [
      `AgentSandbox, class ${policyClass}`,
      BUILTIN,
      caller("mtls", [role("AgentSandbox")], policyClass),
      "builtin_deny_write builtin_deny_read builtin_deny_read builtin_deny_read",
    ] as const
  ),
  ["custom, no rule, deny", withRules("deny", []), LOCAL, "default_deny default_deny default_deny default_deny"],
  ["custom, no rule, allow", withRules("allow", []), LOCAL, "default_allow default_allow default_allow default_allow"],
  [
    "custom, first match wins",
    withRules("allow", [{ effect: "deny", actions: ["register"] }, { actions: ["register", "get"] }]),
    LOCAL,
    "custom_deny default_allow custom_allow custom_allow",
  ],
  [
    "custom, namespace",
    withRules("deny", [{ namespaces: [3] }]),
    LOCAL,
    "default_deny default_deny default_deny custom_allow",
  ],
  [
    "custom, scoped role",
    withRules("deny", [{ roles: ["Curator"] }]),
    caller("mtls", [role("Curator", 2)]),
    "custom_allow custom_allow custom_allow default_deny",
  ],
  [
    "custom, class compared exactly",
    withRules("deny", [{ policy_classes: ["project"] }]),
    caller("mtls", [], "Project"),
    "default_deny default_deny default_deny default_deny",
  ],
  ...([
    ["prod", "custom_deny"],
    [null, "custom_deny"],
    ["Prod", "custom_deny"],
    ["dev", "custom_deny"],
    ["project", "default_allow"],
    ["Scratch", "default_allow"],
  ] as const).map(([policyClass, reason]) =>
    [
      `custom, class ${policyClass} where a rule denies prod`,
      withRules("allow", [{ effect: "deny", policy_classes: ["prod"] }]),
      caller("mtls", [], policyClass),
      Array(4).fill(reason).join(" "),
    ] as const
  ),
  [
    "custom, a class that a rule names is no other class",
    withRules("allow", [{ effect: "deny", policy_classes: ["prod"] }, { policy_classes: ["staging"] }]),
    caller("mtls", [], "staging"),
    "custom_allow custom_allow custom_allow custom_allow",
  ],
  ...[null, "Prod", "dev"].map((policyClass) =>
    [
      `custom, class ${policyClass} where a rule allows prod`,
      withRules("deny", [{ policy_classes: ["prod"] }]),
      caller("mtls", [], policyClass),
      "default_deny default_deny default_deny default_deny",
    ] as const
  ),
  [
    "custom, subject and tenant together",
    withRules("deny", [{ subjects: ["stdio"], tenants: [1] }]),
    LOCAL,
    "custom_allow custom_allow custom_allow custom_allow",
  ],
  [
    "custom, a tenant without callers",
    withRules("deny", [{ tenants: [1] }]),
    REMOTE,
    "default_deny default_deny default_deny default_deny",
  ],
];

for (const [name, acl, principal, reasons] of REGISTRY) {
  Deno.test(`checkRegistry() ${name}`, () => {
    const decisions = [
      checkRegistry(acl, principal, "register", 2),
      checkRegistry(acl, principal, "list", 2),
      checkRegistry(acl, principal, "get", 2),
      checkRegistry(acl, principal, "get", 3),
    ];
    assert.equal(decisions.map((decision) => decision.reason).join(" "), reasons);
    for (const decision of decisions) assert.equal(decision.allowed, decision.reason.includes("_allow"));
  });
}

const TEXTS: readonly (readonly [name: string, message: string, names: string])[] = [
  ["namespace, local", text(checkNamespace(CLOSED, LOCAL, 1)), "namespace.allow_default"],
  ["namespace tenant, local", text(checkNamespace({ ...OPEN, default_tenants: [5] }, LOCAL, 1)), "default_tenants"],
  ["registry, local", text(checkRegistry(BUILTIN, LOCAL, "get", 2)), "schema_registry.acl.allow_local_only"],
  [
    "registry rule, local",
    text(checkRegistry(withRules("allow", [{ effect: "deny" }]), LOCAL, "get", 2)),
    "schema_registry.acl.rules[0]",
  ],
  ["namespace, remote", text(checkNamespace(CLOSED, REMOTE, 1)), GENERIC_REFUSAL],
  ["registry, remote", text(checkRegistry(BUILTIN, REMOTE, "get", 2)), GENERIC_REFUSAL],
];

function text(decision: { readonly allowed: boolean; readonly message?: string }): string {
  assert.equal(decision.allowed, false);
  return decision.message ?? "";
}

for (const [name, message, names] of TEXTS) {
  Deno.test(`denialFor() ${name} contains "${names}"`, () => assert.ok(message.includes(names), message));
}
