import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import type { OAuthPrincipal } from "../../config/oauth_principals.ts";
import { AUTHORIZATION_BYTES, createBearerToken } from "../auth/bearer_token.ts";
import type { Authentication, AuthRequest } from "../auth/types.ts";
import { KEYS, PATIENCE } from "./issuer_keys.ts";
import { createResourceServer } from "./resource_server.ts";
import { given, jwk, KEY_SET, type Members, PAIRS, signedWithPublicKey, tokens, unsigned } from "./token_fixture.ts";

const ISSUER = "https://issuer.example.com/tenant";
const AUDIENCE = "https://gate.example.com/mcp";
/** Unix seconds of every test. */
const NOW = 1_800_000_000;

const SHORT_RSA = generateKeyPairSync("rsa", { modulusLength: 1024 });
const NEXT = generateKeyPairSync("ec", { namedCurve: "P-256" });

const CLAIMS: Members = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: "ada",
  client_id: "agent",
  scope: "gate.read gate.run",
  groups: ["people", "operators"],
  iat: NOW - 10,
  exp: NOW + 300,
  jti: "1",
};

const token = tokens(CLAIMS);

const ROLES = [{ name: "NamespaceWriter", tenant_id: 4, namespace_id: 2 }];

function entry(name: string, selector: Partial<OAuthPrincipal>): OAuthPrincipal {
  return { name, issuer: ISSUER, roles: ROLES, ...selector };
}

/** A resource server with an issuer in memory. */
function serverOf(
  { principals = [entry("ada", { subject: "ada" })], keys = KEY_SET, metadata = {}, first, hasSecond = true }: {
    principals?: readonly OAuthPrincipal[];
    keys?: readonly unknown[];
    metadata?: Members;
    /** The status and body of the metadata of an authorization server, in place of those that count. */
    first?: readonly [status: number, body: string];
    /** Whether the issuer has the metadata of an OpenID provider, where `first` does not count. */
    hasSecond?: boolean;
  } = {},
): {
  authenticate: (authorization: string | null, stored?: boolean) => Promise<Authentication>;
  state: { keys: readonly unknown[]; isDown: boolean; isSilent: boolean; passed: number };
  asked: string[];
  logged: string[];
  /** Ends the time that is waited for, by the milliseconds of it. */
  waits: [milliseconds: number, end: () => void][];
  page: () => string;
} {
  const state = { keys, isDown: false, isSilent: false, passed: 0 };
  const asked: string[] = [];
  const logged: string[] = [];
  const waits: [number, () => void][] = [];
  const own = (): Members => given({ issuer: ISSUER, jwks_uri: "https://issuer.example.com/keys", ...metadata });
  const documents: Record<string, () => unknown> = {
    "https://issuer.example.com/.well-known/oauth-authorization-server/tenant": own,
    ...first === undefined || !hasSecond
      ? {}
      : { "https://issuer.example.com/tenant/.well-known/openid-configuration": own },
    "https://issuer.example.com/keys": () => ({ keys: state.keys }),
  };
  const server = createResourceServer({
    issuers: [{ issuer: ISSUER, audience: AUDIENCE }],
    principals,
    now: () => NOW * 1000 + state.passed,
    elapsed: () => state.passed,
    delay: (milliseconds) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waits.push([milliseconds, resolve]);
      return { passed: promise, cancel: resolve, [Symbol.dispose]: resolve };
    },
    log: (...values) => logged.push(JSON.stringify(values)),
    getDocument: (url) => {
      asked.push(url);
      if (state.isSilent) return new Promise(() => {});
      if (state.isDown) return Promise.resolve({ fault: "connection_failed" });
      if (first !== undefined && url.includes("oauth-authorization-server")) {
        return Promise.resolve({ status: first[0], body: new TextEncoder().encode(first[1]) });
      }
      const document = documents[url];
      const body = new TextEncoder().encode(JSON.stringify(document?.() ?? {}));
      return Promise.resolve({ status: document === undefined ? 404 : 200, body });
    },
  });
  return {
    state,
    asked,
    logged,
    waits,
    page: () => `${server.metadata[0]} ${server.metadata[1]().body}`,
    authenticate: (authorization, hasStored = false) =>
      server.authenticate(request(authorization), createBearerToken(hasStored ? ["stored-token"] : [], [])),
  };
}

function request(authorization: string | null): AuthRequest {
  return {
    peerAddress: "127.0.0.1",
    connection: {},
    headers: { get: (name) => name === "authorization" ? authorization : null, startsWith: () => false },
    tls: null,
  };
}

/** The caller, or the status with the reason. */
function said(authentication: Authentication): string {
  return authentication.ok ? authentication.principal.subject : `${authentication.status} ${authentication.detail}`;
}

const METADATA = 'resource_metadata="https://gate.example.com/.well-known/oauth-protected-resource/mcp"';

const TOKENS: readonly (readonly [what: string, authorization: string | null, outcome: string])[] = [
  ["ES256", `Bearer ${token()}`, "oauth:ada"],
  ["EdDSA", `bearer ${token({ alg: "EdDSA" })}`, "oauth:ada"],
  ["RS256", `Bearer ${token({ alg: "RS256" })}`, "oauth:ada"],
  ["a type with application/", `Bearer ${token({ header: { typ: "application/AT+JWT" } })}`, "oauth:ada"],
  ["several audiences", `Bearer ${token({ claims: { aud: ["https://other.example.com", AUDIENCE] } })}`, "oauth:ada"],
  ["a token that ran out 59 seconds ago", `Bearer ${token({ claims: { exp: NOW - 59 } })}`, "oauth:ada"],
  ["a token that is valid in 60 seconds", `Bearer ${token({ claims: { nbf: NOW + 60 } })}`, "oauth:ada"],
  ["another subject", `Bearer ${token({ claims: { sub: "eve" } })}`, "oauth"],
  ["no token", null, "401 token_missing"],
  ["another scheme", `Basic ${token()}`, "401 authorization_malformed"],
  ["a text", "Bearer stored-token", "401 token_malformed"],
  ["HS256 with the public key", `Bearer ${signedWithPublicKey(CLAIMS)}`, "401 algorithm_refused"],
  ["alg none", `Bearer ${unsigned(CLAIMS)}`, "401 algorithm_refused"],
  ["an unknown critical member", `Bearer ${token({ header: { crit: ["x"], x: 1 } })}`, "401 token_malformed"],
  ["another signature", `Bearer ${token({ key: NEXT.privateKey })}`, "401 signature_invalid"],
  ["an unknown kid", `Bearer ${token({ header: { kid: "other" }, key: NEXT.privateKey })}`, "401 key_unknown"],
  ["another audience", `Bearer ${token({ claims: { aud: "https://other.example.com" } })}`, "401 audience_differs"],
  ["an audience with a slash", `Bearer ${token({ claims: { aud: `${AUDIENCE}/` } })}`, "401 audience_differs"],
  ["no audience", `Bearer ${token({ claims: { aud: null } })}`, "401 audience_differs"],
  ["another issuer", `Bearer ${token({ claims: { iss: "https://other.example.com" } })}`, "401 issuer_unknown"],
  ["no issuer", `Bearer ${token({ claims: { iss: null } })}`, "401 issuer_unknown"],
  ["a token that ran out 60 seconds ago", `Bearer ${token({ claims: { exp: NOW - 60 } })}`, "401 token_expired"],
  ["a token that never runs out", `Bearer ${token({ claims: { exp: null } })}`, "401 claim_invalid"],
  ["a time in words", `Bearer ${token({ claims: { exp: "tomorrow" } })}`, "401 claim_invalid"],
  ["a token that is valid in 61 seconds", `Bearer ${token({ claims: { nbf: NOW + 61 } })}`, "401 token_not_yet_valid"],
  ["no client_id", `Bearer ${token({ claims: { client_id: null } })}`, "401 claim_invalid"],
  ["an id token", `Bearer ${token({ header: { typ: "JWT" } })}`, "401 type_refused"],
  ["no type", `Bearer ${token({ header: { typ: null } })}`, "401 type_refused"],
  ["a bound token", `Bearer ${token({ claims: { cnf: { jkt: "x" } } })}`, "401 token_is_bound"],
  ["a field of the limit", `Bearer ${"x".repeat(AUTHORIZATION_BYTES - 7)}`, "401 token_malformed"],
  ["a field over the limit", `Bearer ${"x".repeat(AUTHORIZATION_BYTES - 6)}`, "431 authorization_too_long"],
];

for (const [what, authorization, outcome] of TOKENS) {
  Deno.test(`createResourceServer() on ${what}: ${outcome}`, async () => {
    const { authenticate, logged } = serverOf();
    const answer = await authenticate(authorization);
    assert.equal(said(answer), outcome);
    assert.deepEqual(logged, []);
    if (answer.ok) return;
    const isPresented = authorization?.startsWith("Bearer ") === true;
    const challenge = `Bearer realm="gate", ${isPresented ? 'error="invalid_token", ' : ""}${METADATA}`;
    assert.equal(answer.challenge, answer.status === 401 ? challenge : undefined);
    assert.ok(!JSON.stringify(answer).includes(token().slice(0, 30)), "a refusal repeats nothing of the token");
  });
}

Deno.test("createResourceServer() gives a caller the roles of its entry, and an unmapped one none", async () => {
  const { authenticate } = serverOf();
  assert.deepEqual(await authenticate(`Bearer ${token()}`), {
    ok: true,
    principal: { subject: "oauth:ada", authMethod: "oauth", policyClass: null, roles: ROLES, tenants: [4] },
  });
  assert.deepEqual(await authenticate(`Bearer ${token({ claims: { sub: "eve" } })}`), {
    ok: true,
    principal: { subject: "oauth", authMethod: "oauth", policyClass: null, roles: [], tenants: [] },
  });
});

const SELECTORS:
  readonly (readonly [selectors: readonly Partial<OAuthPrincipal>[], claims: Members, outcome: string])[] = [
    [[{ client_id: "agent" }], {}, "oauth:p0"],
    [[{ client_id: "agen" }], {}, "oauth"],
    [[{ scope: "gate.run" }], {}, "oauth:p0"],
    [[{ scope: "gate" }], {}, "oauth"],
    [[{ scope: "gate.run" }], { scope: ["gate.run"] }, "oauth:p0"],
    [[{ scope: "gate.run" }], { scope: ["x", "gate.run"] }, "oauth:p0"],
    [[{ scope: "gate.run" }], { scope: ["x y", "z gate.run"] }, "oauth:p0"],
    [[{ scope: "x,gate.run" }], { scope: ["x", "gate.run"] }, "oauth"],
    [[{ scope: "gate.run" }], { scope: [["gate.run"], { scope: "gate.run" }, 1] }, "oauth"],
    [[{ scope: "1" }], { scope: 1 }, "oauth"],
    [[{ scope: "blocked", roles: [] }, { subject: "ada" }], { scope: ["x", "blocked"] }, "oauth:p0"],
    [[{ scope: "gate.run" }], { scope: null }, "oauth"],
    [[{ claim: { name: "groups", value: "operators" } }], {}, "oauth:p0"],
    [[{ claim: { name: "groups", value: "operators" } }], { groups: "operators" }, "oauth:p0"],
    [[{ claim: { name: "groups", value: "operator" } }], {}, "oauth"],
    [[{ claim: { name: "constructor", value: "x" } }], {}, "oauth"],
    [[{ subject: "eve" }, { scope: "gate.run" }, { subject: "ada" }], {}, "oauth:p1"],
    [[{ subject: "ada", issuer: "https://other.example.com" }], {}, "oauth"],
    [[{ subject: "ada", typ: "JWT" }], {}, "oauth"],
  ];

for (const [selectors, claims, outcome] of SELECTORS) {
  const shown = `${JSON.stringify(selectors)} and ${JSON.stringify(claims)}`;
  Deno.test(`createResourceServer() maps a token by the first entry of ${shown}: ${outcome}`, async () => {
    const principals = selectors.map((selector, index) => entry(`p${index}`, selector));
    assert.equal(said(await serverOf({ principals }).authenticate(`Bearer ${token({ claims })}`)), outcome);
  });
}

Deno.test("createResourceServer() accepts another type of token for the entries that name it, and no other", async () => {
  const principals = [entry("job", { subject: "ada", typ: "JWT" }), entry("ada", { subject: "ada" })];
  const { authenticate } = serverOf({ principals });
  const ofType = async (typ: string, claims: Members = {}): Promise<string> =>
    said(await authenticate(`Bearer ${token({ header: { typ }, claims })}`));
  assert.equal(await ofType("jwt", { client_id: null, jti: null }), "oauth:job");
  assert.equal(await ofType("JWT", { sub: "eve" }), "oauth");
  assert.equal(await ofType("JWT", { exp: null }), "401 claim_invalid");
  assert.equal(await ofType("at+jwt"), "oauth:ada");
  assert.equal(await ofType("dpop+jwt"), "401 type_refused");
});

Deno.test("createResourceServer() accepts a stored token first, and asks no issuer then", async () => {
  const { authenticate, asked } = serverOf();
  assert.match(said(await authenticate("Bearer stored-token", true)), /^token:[0-9a-f]{64}$/);
  assert.deepEqual(asked, []);
  assert.equal(said(await authenticate(`Bearer ${token()}`, true)), "oauth:ada");
  assert.equal(said(await authenticate("Bearer other-token", true)), "401 token_malformed");
});

Deno.test("createResourceServer() fetches keys once for many tokens, and asks no issuer for a token that names none", async () => {
  const { authenticate, asked } = serverOf();
  for (const [, authorization, outcome] of TOKENS) {
    if (/algorithm|issuer|type_|missing|malformed|too_long/.test(outcome)) await authenticate(authorization);
  }
  assert.deepEqual(asked, []);
  await Promise.all(Array.from({ length: 20 }, () => authenticate(`Bearer ${token()}`)));
  assert.equal(asked.length, 2);
});

Deno.test("createResourceServer() fetches once a minute in a flood of unknown keys, the first fetch counted", async () => {
  const { authenticate, asked, state } = serverOf();
  const flood = async (): Promise<number> => {
    const tokens = Array.from({ length: 50 }, (_, index) => `Bearer ${token({ header: { kid: `x${index}` } })}`);
    const answers = await Promise.all(tokens.map((one) => authenticate(one)));
    assert.deepEqual([...new Set(answers.map(said))], ["401 key_unknown"]);
    return asked.length / 2;
  };
  const counts = [];
  for (const passed of [0, 1, 59_999, 60_000, 60_001, 119_999, 120_000]) {
    state.passed = passed;
    counts.push(await flood());
  }
  assert.deepEqual(counts, [1, 1, 1, 2, 2, 2, 3]);
});

Deno.test("createResourceServer() takes a new key within a minute, and the old one ends with the set that had it", async () => {
  const { authenticate, state } = serverOf();
  const old = `Bearer ${token()}`;
  const next = `Bearer ${token({ header: { kid: "next" }, key: NEXT.privateKey })}`;
  const both = async (): Promise<string[]> => [said(await authenticate(next)), said(await authenticate(old))];
  assert.equal(said(await authenticate(old)), "oauth:ada");
  state.keys = [jwk(NEXT.publicKey, "next")];
  assert.deepEqual(await both(), ["401 key_unknown", "oauth:ada"]);
  state.passed = 60_000;
  assert.deepEqual(await both(), ["oauth:ada", "401 key_unknown"]);
});

Deno.test("createResourceServer() answers by keys that it has while its issuer does not answer", async () => {
  const { authenticate, state } = serverOf();
  const good = `Bearer ${token({ claims: { exp: NOW + 90_000 } })}`;
  assert.equal(said(await authenticate(good)), "oauth:ada");
  state.isSilent = true;
  state.passed = 600_000;
  assert.equal(said(await authenticate(good)), "oauth:ada");
});

Deno.test("createResourceServer() asks for newer keys before it answers by those of an idle time", async () => {
  const good = `Bearer ${token({ claims: { exp: NOW + 90_000 } })}`;
  for (const [passed, outcome] of [[659_999, "oauth:ada"], [660_000, "401 key_unknown"]] as const) {
    const { authenticate, state } = serverOf();
    assert.equal(said(await authenticate(good)), "oauth:ada");
    state.keys = [jwk(NEXT.publicKey, "next")];
    state.passed = passed;
    assert.equal(said(await authenticate(good)), outcome, String(passed));
  }
});

Deno.test("createResourceServer() answers by the keys of an idle time once its issuer is silent for a second", async () => {
  const { authenticate, state, waits } = serverOf();
  const good = `Bearer ${token({ claims: { exp: NOW + 90_000 } })}`;
  assert.equal(said(await authenticate(good)), "oauth:ada");
  state.isSilent = true;
  state.passed = 660_000;
  waits.length = 0;
  const calls = [authenticate(good), authenticate(good)];
  assert.deepEqual(waits.map(([milliseconds]) => milliseconds), [PATIENCE], "both calls wait for one fetch");
  waits[0]?.[1]();
  assert.deepEqual((await Promise.all(calls)).map(said), ["oauth:ada", "oauth:ada"]);
  state.passed = 719_999;
  assert.equal(said(await authenticate(good)), "oauth:ada", "later calls wait no more");
});

Deno.test("createResourceServer() drops a removed key after ten minutes, and all keys after an hour without newer ones", async () => {
  const { authenticate, state, logged } = serverOf();
  const old = `Bearer ${token({ claims: { exp: NOW + 90_000 } })}`;
  const at = async (passed: number): Promise<string> => {
    state.passed = passed;
    return said(await authenticate(old));
  };
  assert.equal(await at(0), "oauth:ada");
  state.keys = [jwk(NEXT.publicKey, "next")];
  assert.equal(await at(599_999), "oauth:ada");
  assert.equal(await at(600_000), "oauth:ada", "the old set answers while the new one is fetched");
  assert.equal(await at(600_001), "401 key_unknown");
  state.keys = KEY_SET;
  assert.equal(await at(660_000), "oauth:ada");
  state.isDown = true;
  assert.equal(await at(660_000 + 3_599_999), "oauth:ada");
  assert.equal(await at(660_000 + 3_600_000), "503 keys_unavailable");
  state.isDown = false;
  assert.equal(await at(660_000 + 3_660_000), "oauth:ada");
  assert.ok(logged.length > 0 && logged.every((line) => line.includes("connection_failed") && !line.includes("ada")));
});

const FAULTS: readonly (readonly [what: string, change: Parameters<typeof serverOf>[0], reason: string])[] = [
  ["another name", { metadata: { issuer: "https://issuer.example.com" } }, "its metadata names another issuer"],
  ["no keys", { metadata: { jwks_uri: null } }, "its metadata names no jwks_uri of its own origin"],
  [
    "keys of another origin",
    { metadata: { jwks_uri: "https://other.example.com/keys" } },
    "its metadata names no jwks_uri of its own origin",
  ],
  [
    "keys that it does not have",
    { metadata: { jwks_uri: "https://issuer.example.com/k" } },
    "expected its key set, got status 404",
  ],
  ["too many keys", { keys: Array.from({ length: KEYS + 1 }, () => KEY_SET[0]) }, "its key set has no list"],
  ["keys that are no objects", { keys: ["x"] }, "its key set is malformed"],
];

for (const [what, change, reason] of FAULTS) {
  Deno.test(`createResourceServer() of an issuer with ${what}: 503`, async () => {
    const { authenticate, logged } = serverOf(change);
    assert.equal(said(await authenticate(`Bearer ${token()}`)), "503 keys_unavailable");
    assert.equal(logged.length, 1);
    assert.ok(logged[0]?.includes(reason), logged[0]);
  });
}

/** First answers, with the requests for metadata that follow each, or the fault. */
const FIRST_ANSWERS: readonly (readonly [status: number, body: string, metadata: Members, outcome: string])[] = [
  [404, "", {}, "oauth:ada"],
  [400, "{}", {}, "oauth:ada"],
  [500, "", {}, "oauth:ada"],
  [302, "", {}, "oauth:ada"],
  [200, "<html>", {}, "oauth:ada"],
  [200, "[]", {}, "oauth:ada"],
  [200, "{}", {}, "its metadata names another issuer"],
  [500, "", { issuer: "https://other.example.com" }, "its metadata names another issuer"],
  [500, "", { jwks_uri: "https://other.example.com/keys" }, "its metadata names no jwks_uri of its own origin"],
];

for (const [status, body, metadata, outcome] of FIRST_ANSWERS) {
  const shown = `${status} ${body} and ${JSON.stringify(metadata)}`;
  Deno.test(`createResourceServer() of an issuer whose metadata are ${shown}: ${outcome}`, async () => {
    const { authenticate, asked, logged, state } = serverOf({ first: [status, body], metadata });
    const answer = said(await authenticate(`Bearer ${token()}`));
    if (answer === "503 keys_unavailable") assert.ok(logged[0]?.includes(outcome), logged[0]);
    else assert.equal(answer, outcome);
    const { length } = asked;
    state.passed = 59_999;
    await authenticate(`Bearer ${token({ header: { kid: "other" } })}`);
    assert.equal(asked.length, length, "both requests are one fetch");
  });
}

Deno.test("createResourceServer() says what an issuer without metadata answers", async () => {
  const { authenticate, logged, asked } = serverOf({ first: [500, ""], metadata: {}, hasSecond: false });
  assert.equal(said(await authenticate(`Bearer ${token()}`)), "503 keys_unavailable");
  assert.ok(logged[0]?.includes("expected its metadata, got status 500, then status 404"), logged[0]);
  assert.equal(asked.length, 2);
});

const SETS: readonly (readonly [what: string, keys: readonly unknown[], authorization: string, outcome: string])[] = [
  ["one key without kid", [jwk(PAIRS.ES256.publicKey, null)], token({ header: { kid: null } }), "oauth:ada"],
  [
    "two keys, for a token without kid",
    [jwk(PAIRS.ES256.publicKey, "ES256"), jwk(NEXT.publicKey, "next")],
    token({ header: { kid: null } }),
    "401 key_ambiguous",
  ],
  [
    "an RSA key of 1024 bits",
    [jwk(SHORT_RSA.publicKey, "RS256")],
    token({ alg: "RS256", key: SHORT_RSA.privateKey }),
    "401 key_unusable",
  ],
  ["a key for encryption", [jwk(PAIRS.ES256.publicKey, "ES256", { use: "enc" })], token(), "401 key_unknown"],
  ["a key of another algorithm", [jwk(PAIRS.ES256.publicKey, "ES256", { alg: "ES384" })], token(), "401 key_unknown"],
  ["a private key", [jwk(PAIRS.ES256.privateKey, "ES256")], token(), "401 key_unusable"],
  [
    `${KEYS} keys`,
    [...Array.from({ length: KEYS - 1 }, () => jwk(NEXT.publicKey, "x")), KEY_SET[0]],
    token(),
    "oauth:ada",
  ],
];

for (const [what, keys, presented, outcome] of SETS) {
  Deno.test(`createResourceServer() of an issuer with ${what}: ${outcome}`, async () => {
    assert.equal(said(await serverOf({ keys }).authenticate(`Bearer ${presented}`)), outcome);
  });
}

Deno.test("createResourceServer() publishes its metadata, with the scopes of its entries once each", async () => {
  const principals = [
    entry("a", { scope: "gate.run" }),
    entry("b", { scope: "gate.run" }),
    entry("c", { subject: "x" }),
    entry("d", { scope: "gate.blocked", roles: [] }),
  ];
  const { page, authenticate } = serverOf({ principals });
  const members = `"authorization_servers":["${ISSUER}"],"bearer_methods_supported":["header"]`;
  assert.equal(
    page(),
    `/.well-known/oauth-protected-resource/mcp {"resource":"${AUDIENCE}",${members},"scopes_supported":["gate.run"]}`,
  );
  assert.ok(!serverOf().page().includes("scopes_supported"));
  assert.ok(!serverOf({ principals: principals.slice(3) }).page().includes("scopes_supported"));
  const refused = await authenticate(null);
  assert.equal(!refused.ok && refused.challenge, `Bearer realm="gate", ${METADATA}, scope="gate.run"`);
});
