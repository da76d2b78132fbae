import assert from "node:assert/strict";
import { AUTH_DEFAULTS, DEFAULT_SETTINGS } from "../../config/defaults.ts";
import type { AuthConfig, PrincipalConfig, ServerConfig } from "../../config/types.ts";
import type { GateConfig } from "../../config/types.ts";
import { checkAccess } from "./access.ts";
import { sha256 } from "../run/fold_state.ts";

const BASE: GateConfig = { ...DEFAULT_SETTINGS, config_path: null, base_dir: "/srv" };
const TOKEN = "a-token-of-this-test";
const ID = `token:${sha256(TOKEN)}`;

function messagesOf(auth: Partial<AuthConfig>, change: Partial<ServerConfig> = {}): readonly string[] {
  const server = { ...BASE.server, ...change, auth: { ...AUTH_DEFAULTS, ...auth } };
  const findings = checkAccess({ ...BASE, server });
  assert.ok(findings.every(({ status }) => status === "note"));
  assert.ok(!JSON.stringify(findings).includes(TOKEN), "no token is disclosed");
  return findings.map(({ check, message }) => `${check}: ${message}`);
}

function principal(subject: string, change: Partial<PrincipalConfig> = {}): PrincipalConfig {
  return { subject, policy_class: null, roles: [], ...change };
}

const HTTP = { transport: "http", bind: "127.0.0.1:8080" } as const;
const P = "callers: server.auth.principals";

/** The admitted callers, the principals, and the messages. */
const CALLERS: readonly (readonly [
  what: string,
  auth: Partial<AuthConfig>,
  change: Partial<ServerConfig>,
  ...messages: string[],
])[] = [
  ["no principals", { mode: "bearer_token", bearer_tokens: [TOKEN] }, HTTP],
  ["the process that started gate", { principals: [principal("stdio")] }, {}],
  ["a local caller", { principals: [principal("loopback")] }, HTTP],
  ["a token", { mode: "bearer_token", bearer_tokens: [TOKEN], principals: [principal(ID)] }, HTTP],
  ["a certificate", { mode: "mtls", mtls_subjects: ["CN=a"], principals: [principal("CN=a")] }, HTTP],
  [
    "a local caller over standard input",
    { principals: [principal("loopback")] },
    {},
    `${P}[0].subject: "loopback" matches no caller: it is not among the callers of server.transport "stdio"`,
    'callers: the callers of server.transport "stdio": every call is refused: server.auth.principals has no subject "stdio"',
  ],
  [
    "another token",
    { mode: "bearer_token", bearer_tokens: [TOKEN], principals: [principal("token:00")] },
    HTTP,
    `${P}[0].subject: "token:00" matches no caller: it is not among server.auth.bearer_tokens`,
    `callers: server.auth.bearer_tokens[0]: every call is refused: server.auth.principals has no subject "${ID}"`,
  ],
  [
    "one of two certificates, and a third",
    { mode: "mtls", mtls_subjects: ["CN=a", "CN=b"], principals: [principal("CN=a"), principal("CN=c")] },
    HTTP,
    `${P}[1].subject: "CN=c" matches no caller: it is not among server.auth.mtls_subjects`,
    'callers: server.auth.mtls_subjects[1]: every call is refused: server.auth.principals has no subject "CN=b"',
  ],
];

for (const [what, auth, change, ...messages] of CALLERS) {
  Deno.test(`checkAccess() of principals, ${what}: ${messages.length} notes`, () =>
    assert.deepEqual(messagesOf(auth, change), messages));
}

/** Subjects, and the form that gate writes; null if the subject cannot be parsed. */
const SUBJECTS: readonly (readonly [subject: string, written: string | null])[] = [
  ...[
    "CN=a,OU=Build,O=Example",
    "CN=a+UID=7,O=Example\\, Inc.",
    "CN=\\ a\\ ,O=",
    "CN=\\#1,1.2.3=#0c0161",
    "CN=J\u00f6rg\\0A\\\\\\ ",
  ].map((subject) => [subject, subject] as const),
  ["CN=bob,street=Main 1,organizationIdentifier=VATDE-123", "CN=bob,STREET=Main 1,organizationIdentifier=VATDE-123"],
  ["CN=bob,1.2.3=#0C034A2B", "CN=bob,1.2.3=#0c034a2b"],
  ["OU=#,O=#1", "OU=\\#,O=\\#1"],
  ["cn=a", "CN=a"],
  ["CN=\\61", "CN=a"],
  ["CN=\\0a", "CN=\\0A"],
  ["CN=J\\C3\\B6rg", "CN=J\u00f6rg"],
  ["CN=J\\C3rg", null],
  ["/O=Example/CN=a", null],
  ["O = Example, CN = a", null],
  ["O=Example, CN=a", null],
  ["CN=a,", null],
  ["CN=a,,O=b", null],
  ["CN=a\\", null],
  ["CN=a ,O=b", null],
  ["CN= a", null],
  ["CN=a;O=b", null],
  ["1.2.3=a", null],
  ["businessCategory=#0c0161", null],
  ["a", null],
];

for (const [subject, written] of SUBJECTS) {
  const outcome = written === subject ? "nothing" : written ?? "no certificate has it";
  Deno.test(`checkAccess() of the subject ${JSON.stringify(subject)}: ${outcome}`, () => {
    const auth = { mode: "mtls", mtls_subjects: [subject] } as const;
    const start = `callers: server.auth.mtls_subjects[0]: no certificate has the subject ${JSON.stringify(subject)}: `;
    const hint = written === null
      ? "openssl x509 -noout -subject -nameopt RFC2253,-esc_msb prints the expected form"
      : `expected ${JSON.stringify(written)}`;
    assert.deepEqual(messagesOf(auth, HTTP), written === subject ? [] : [start + hint]);
    assert.deepEqual(messagesOf(auth, { ...HTTP, tls_termination: "upstream" }), []);
  });
}

Deno.test("checkAccess() reports unknown policy classes, and roles that count only in other classes", () => {
  const roles = (...names: string[]): PrincipalConfig["roles"] =>
    names.map((name) => ({ name, tenant_id: null, namespace_id: null }));
  const of = (change: Partial<PrincipalConfig>): readonly string[] =>
    messagesOf({ principals: [principal("stdio", change)] });
  const where = "roles: server.auth.principals[0]";
  assert.deepEqual(of({ policy_class: "Scratch", roles: roles("AgentSandbox", "SchemaManager") }), []);
  assert.deepEqual(of({ policy_class: "scrach", roles: roles("AgentSandbox", "NamespaceReader") }), [
    `${where}.policy_class: "scrach" counts as prod; built in are prod, project, scratch`,
    `${where}.roles[0].name: role "AgentSandbox" grants nothing in policy class prod, only in scratch`,
  ]);
  assert.deepEqual(of({ roles: roles("SchemaManager") }), [
    `${where}.roles[0].name: role "SchemaManager" grants nothing in policy class prod, only in project and scratch`,
  ]);
  const rule = {
    effect: "allow",
    actions: [],
    namespaces: [],
    tenants: [],
    policy_classes: ["staging"],
    roles: ["SchemaManager"],
    subjects: [],
  } as const;
  const acl = { ...BASE.schema_registry.acl, mode: "custom", rules: [rule] } as const;
  const principals = [principal("stdio", { policy_class: "staging", roles: roles("SchemaManager") })];
  const server = { ...BASE.server, auth: { ...AUTH_DEFAULTS, principals } };
  assert.deepEqual(checkAccess({ ...BASE, server, schema_registry: { ...BASE.schema_registry, acl } }), []);
});
