import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { AuthConfig, PrincipalConfig } from "../../config/types.ts";
import { createAuthenticator } from "./authenticator.ts";
import { AUTHORIZATION_BYTES, BEARER_CHALLENGE } from "./bearer_token.ts";
import { createMtls } from "./mtls.ts";
import type { Authentication, AuthRequest, RequestTls } from "./types.ts";

function fingerprint(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

const NONE: AuthConfig = {
  mode: "local_only",
  bearer_tokens: [],
  mtls_subjects: [],
  allowed_tools: [],
  principals: [],
};

/** A request with some header fields. */
function request(
  fields: Readonly<Record<string, string>>,
  change: Partial<AuthRequest> = {},
): AuthRequest {
  return {
    peerAddress: "127.0.0.1",
    connection: {},
    headers: {
      get: (name) => fields[name] ?? null,
      startsWith: (prefix) => Object.keys(fields).some((name) => name.startsWith(prefix)),
    },
    tls: null,
    ...change,
  };
}

/** Outcome in a word or two: who it is, or status and why. */
function said(authentication: Authentication): string {
  return authentication.ok ? authentication.principal.subject : `${authentication.status} ${authentication.detail}`;
}

const SUBJECTS = { termination: "server", isTrustedProxy: () => false } as const;

const LOCAL_ONLY: readonly (readonly [address: string, fields: Record<string, string>, outcome: string])[] = [
  ["127.0.0.1", {}, "loopback"],
  ["127.9.9.9", {}, "loopback"],
  ["::1", {}, "loopback"],
  ["::ffff:127.0.0.1", {}, "loopback"],
  ["10.0.0.1", {}, "401 peer_not_loopback"],
  ["::ffff:10.0.0.1", {}, "401 peer_not_loopback"],
  ["127.0.0.1.example", {}, "401 peer_not_loopback"],
  ["", {}, "401 peer_not_loopback"],
  ["127.0.0.1", { forwarded: "for=10.0.0.1" }, "401 request_was_forwarded"],
  ["127.0.0.1", { via: "1.1 proxy" }, "401 request_was_forwarded"],
  ["127.0.0.1", { "x-forwarded-for": "127.0.0.1" }, "401 request_was_forwarded"],
  ["127.0.0.1", { "x-forwarded-anything": "" }, "401 request_was_forwarded"],
  ["10.0.0.1", { "x-real-ip": "127.0.0.1", "x-gate-client-subject": "loopback" }, "401 peer_not_loopback"],
];

for (const auth of [null, NONE]) {
  for (const [peerAddress, fields, outcome] of LOCAL_ONLY) {
    const given = `${auth === null ? "no server.auth" : "local_only"} from "${peerAddress}" ${JSON.stringify(fields)}`;
    Deno.test(`createAuthenticator() ${given}: ${outcome}`, () => {
      const authenticate = createAuthenticator({ auth, subjects: SUBJECTS });
      assert.equal(said(authenticate(request(fields, { peerAddress }))), outcome);
    });
  }
}

const TOKEN = "dg-hardened-demo-token";
const WIDE = "sch\u00fcssel";
const ID = `token:${fingerprint(TOKEN)}`;

/** The bytes of UTF-8 as an HTTP library gives a field: a character a byte. */
function asField(text: string): string {
  return String.fromCharCode(...new TextEncoder().encode(text));
}

const BEARER: readonly (readonly [authorization: string | null, outcome: string])[] = [
  [`Bearer ${TOKEN}`, ID],
  [`bearer ${TOKEN}`, ID],
  [`BEARER   ${TOKEN}`, ID],
  ["Bearer other-token", `token:${fingerprint("other-token")}`],
  [`Bearer ${asField(WIDE)}`, `token:${fingerprint(WIDE)}`],
  [null, "401 token_missing"],
  ["", "401 authorization_malformed"],
  ["Bearer", "401 authorization_malformed"],
  ["Bearer ", "401 authorization_malformed"],
  [TOKEN, "401 authorization_malformed"],
  [`Basic ${TOKEN}`, "401 authorization_malformed"],
  [`Bearer ${TOKEN} `, "401 authorization_malformed"],
  [` Bearer ${TOKEN}`, "401 authorization_malformed"],
  [`Bearer ${TOKEN}, Bearer ${TOKEN}`, "401 authorization_malformed"],
  [`Bearer ${TOKEN}x`, "401 token_unknown"],
  [`Bearer ${TOKEN.slice(0, -1)}`, "401 token_unknown"],
  [`Bearer ${TOKEN.toUpperCase()}`, "401 token_unknown"],
  [`Bearer ${fingerprint(TOKEN)}`, "401 token_unknown"],
  [`Bearer ${ID}`, "401 token_unknown"],
  [`Bearer ${WIDE}`, "401 token_unknown"],
  [`Bearer ${"x".repeat(AUTHORIZATION_BYTES - 7)}`, "401 token_unknown"],
  [`Bearer ${"x".repeat(AUTHORIZATION_BYTES - 6)}`, "401 authorization_too_long"],
];

for (const [authorization, outcome] of BEARER) {
  Deno.test(`createBearerToken() ${JSON.stringify(authorization?.slice(0, 60) ?? null)}: ${outcome}`, () => {
    const auth: AuthConfig = { ...NONE, mode: "bearer_token", bearer_tokens: ["other-token", TOKEN, WIDE] };
    const authenticate = createAuthenticator({ auth, subjects: SUBJECTS });
    const fields = authorization === null ? {} : { authorization };
    // Where a token is asked for, the address counts for nothing.
    const answer = authenticate(request(fields, { peerAddress: "192.0.2.1" }));
    assert.equal(said(answer), outcome);
    if (!answer.ok) assert.equal(answer.challenge, BEARER_CHALLENGE);
    if (!answer.ok) assert.ok(!JSON.stringify(answer).includes(TOKEN), "a refusal repeats nothing of the token");
  });
}

/** An item of the configuration, what a request presents, and the outcome. The variable holds the token. */
const ITEMS: readonly (readonly [item: string, presented: string, outcome: string])[] = [
  [TOKEN, TOKEN, ID],
  [`sha256:${fingerprint(TOKEN)}`, TOKEN, ID],
  [`sha256:${fingerprint(TOKEN)}`, `sha256:${fingerprint(TOKEN)}`, "401 token_unknown"],
  [`sha256:${fingerprint(TOKEN)}`, fingerprint(TOKEN), "401 token_unknown"],
  ["env:GATE_TOKEN_OF_TESTS", TOKEN, ID],
  ["env:GATE_TOKEN_OF_TESTS", "env:GATE_TOKEN_OF_TESTS", "401 token_unknown"],
];

for (const [item, presented, outcome] of ITEMS) {
  Deno.test(`createBearerToken() of ${item.slice(0, 24)} for ${presented.slice(0, 24)}: ${outcome}`, () => {
    Deno.env.set("GATE_TOKEN_OF_TESTS", TOKEN);
    const auth: AuthConfig = { ...NONE, mode: "bearer_token", bearer_tokens: [item] };
    const authenticate = createAuthenticator({ auth, subjects: SUBJECTS });
    Deno.env.delete("GATE_TOKEN_OF_TESTS");
    assert.equal(said(authenticate(request({ authorization: `Bearer ${presented}` }))), outcome);
  });
}

const REPEATED: readonly (readonly [first: string, second: string | null, outcome: string])[] = [
  [`Bearer ${TOKEN}`, `Bearer ${TOKEN}`, ID],
  [`Bearer ${TOKEN}`, "Bearer other-token", `token:${fingerprint("other-token")}`],
  [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, ID],
  [`Bearer ${TOKEN}`, `Bearer ${TOKEN}x`, "401 token_unknown"],
  [`Bearer ${TOKEN}`, `Bearer ${TOKEN.slice(0, -1)}`, "401 token_unknown"],
  [`Bearer ${TOKEN}`, `Bearer ${TOKEN.slice(0, -1)}N`, "401 token_unknown"],
  [`Bearer ${TOKEN}`, `Bearer x${TOKEN.slice(1)}`, "401 token_unknown"],
  [`Bearer ${TOKEN}`, "", "401 authorization_malformed"],
  [`Bearer ${TOKEN}`, null, "401 token_missing"],
  ["Bearer guess", "Bearer guess", "401 token_unknown"],
  ["Bearer guess", `Bearer ${TOKEN}`, ID],
];

for (const [first, second, outcome] of REPEATED) {
  Deno.test(`createBearerToken() ${JSON.stringify(second)} after ${JSON.stringify(first)} on a connection: ${outcome}`, () => {
    const auth: AuthConfig = { ...NONE, mode: "bearer_token", bearer_tokens: ["other-token", TOKEN] };
    const authenticate = createAuthenticator({ auth, subjects: SUBJECTS });
    const connection = {};
    authenticate(request({ authorization: first }, { connection }));
    authenticate(request({ authorization: first }));
    assert.equal(
      said(authenticate(request(second === null ? {} : { authorization: second }, { connection }))),
      outcome,
    );
  });
}

Deno.test("createBearerToken() is what a reference implementation calls the token", () => {
  assert.match(ID, /^token:73a7ceab[0-9a-f]+42a1$/);
  assert.equal(BEARER_CHALLENGE, 'Bearer realm="gate"');
});

const SUBJECT = "CN=client,O=Example Corp";
function certificate(subject: string): RequestTls {
  return { peer: { subject, fingerprint: "0".repeat(64) } };
}

const HEADER = "x-gate-client-subject";

/** The trusted proxy is 10.0.0.5. */
const MTLS: readonly (readonly [
  what: string,
  upstream: boolean,
  request: AuthRequest,
  outcome: string,
])[] = [
  ["certificate", false, request({}, { tls: certificate(SUBJECT) }), SUBJECT],
  ["certificate of another subject", false, request({}, { tls: certificate("CN=x") }), "403 subject_not_listed"],
  ["other order", false, request({}, { tls: certificate("O=Example Corp,CN=client") }), "403 subject_not_listed"],
  ["other case", false, request({}, { tls: certificate("cn=client,O=Example Corp") }), "403 subject_not_listed"],
  ["prefix", false, request({}, { tls: certificate("CN=client") }), "403 subject_not_listed"],
  ["no certificate", false, request({}, { tls: { peer: null } }), "401 certificate_missing"],
  ["no TLS", false, request({}), "401 certificate_missing"],
  [
    "a header beside a certificate says nothing",
    true,
    request({ [HEADER]: SUBJECT }, { peerAddress: "10.0.0.5", tls: certificate("CN=x") }),
    "403 subject_not_listed",
  ],
  [
    "a header where TLS ends here",
    false,
    request({ [HEADER]: SUBJECT }, { peerAddress: "10.0.0.5" }),
    "401 certificate_missing",
  ],
  [
    "a header over TLS that ends here, without a certificate",
    true,
    request({ [HEADER]: SUBJECT }, { peerAddress: "10.0.0.5", tls: { peer: null } }),
    "401 certificate_missing",
  ],
  ["the proxy's header", true, request({ [HEADER]: SUBJECT }, { peerAddress: "10.0.0.5" }), SUBJECT],
  [
    "the header of anybody else",
    true,
    request({ [HEADER]: SUBJECT }, { peerAddress: "10.0.0.6" }),
    "401 peer_not_trusted_proxy",
  ],
  [
    "the header of the loopback, which is not the proxy",
    true,
    request({ [HEADER]: SUBJECT }),
    "401 peer_not_trusted_proxy",
  ],
  ["the proxy without a header", true, request({}, { peerAddress: "10.0.0.5" }), "401 subject_missing"],
  ["an empty header", true, request({ [HEADER]: "" }, { peerAddress: "10.0.0.5" }), "401 subject_missing"],
  [
    "two headers",
    true,
    request({ [HEADER]: `${SUBJECT}, ${SUBJECT}` }, { peerAddress: "10.0.0.5" }),
    "403 subject_not_listed",
  ],
  [
    "a header beyond its bytes",
    true,
    request({ [HEADER]: "x".repeat(8193) }, { peerAddress: "10.0.0.5" }),
    "401 subject_too_long",
  ],
  [
    "a subject in UTF-8",
    true,
    request({ [HEADER]: asField("CN=Jos\u00e9") }, { peerAddress: "10.0.0.5" }),
    "CN=Jos\u00e9",
  ],
  [
    "a subject in Latin-1",
    true,
    request({ [HEADER]: "CN=Jos\u00e9" }, { peerAddress: "10.0.0.5" }),
    "401 subject_malformed",
  ],
  [
    "a subject that names another principal",
    true,
    request({ [HEADER]: "loopback" }, { peerAddress: "10.0.0.5" }),
    "403 subject_not_listed",
  ],
];

for (const [what, upstream, given, outcome] of MTLS) {
  Deno.test(`createMtls() ${what}, TLS ends ${upstream ? "before" : "here"}: ${outcome}`, () => {
    const authenticate = createMtls({
      subjects: [SUBJECT, "CN=Jos\u00e9"],
      principals: [],
      isTrustedProxy: upstream ? (address) => address === "10.0.0.5" : null,
    });
    const answer = authenticate(given);
    assert.equal(said(answer), outcome);
    const shown = given.tls?.peer?.subject ?? given.headers.get(HEADER);
    const named = outcome === "403 subject_not_listed" ? shown : undefined;
    if (!answer.ok) assert.equal(answer.subject, named, "only a verified subject is named");
  });
}

Deno.test("createAuthenticator() believes a proxy only where TLS ends before gate", () => {
  const auth: AuthConfig = { ...NONE, mode: "mtls", mtls_subjects: [SUBJECT] };
  const outcomes = (["server", "upstream"] as const).map((termination) => {
    const authenticate = createAuthenticator({ auth, subjects: { termination, isTrustedProxy: () => true } });
    return said(authenticate(request({ [HEADER]: SUBJECT })));
  });
  assert.deepEqual(outcomes, ["401 certificate_missing", SUBJECT]);
});

Deno.test("createAuthenticator() gives each subject its roles, class and tenants", () => {
  const principals: PrincipalConfig[] = [
    { subject: ID, policy_class: "scratch", roles: [{ name: "AgentSandbox", tenant_id: 4, namespace_id: 2 }] },
    { subject: "loopback", policy_class: null, roles: [] },
    { subject: SUBJECT, policy_class: null, roles: [{ name: "NamespaceReader", tenant_id: null, namespace_id: null }] },
  ];
  const bearer = createAuthenticator({
    auth: { ...NONE, mode: "bearer_token", bearer_tokens: [TOKEN], principals },
    subjects: SUBJECTS,
  })(request({ authorization: `Bearer ${TOKEN}` }));
  assert.deepEqual(bearer, {
    ok: true,
    principal: {
      subject: ID,
      authMethod: "bearer_token",
      policyClass: "scratch",
      roles: [{ name: "AgentSandbox", tenant_id: 4, namespace_id: 2 }],
      tenants: [4],
    },
  });
  const local = createAuthenticator({ auth: { ...NONE, principals }, subjects: SUBJECTS })(request({}));
  assert.deepEqual(local.ok && [local.principal.authMethod, local.principal.tenants], ["local", [1]]);
  const mtls = createAuthenticator({
    auth: { ...NONE, mode: "mtls", mtls_subjects: [SUBJECT], principals },
    subjects: SUBJECTS,
  })(request({}, { tls: certificate(SUBJECT) }));
  assert.deepEqual(mtls.ok && [mtls.principal.authMethod, mtls.principal.tenants], ["mtls", null]);
});
