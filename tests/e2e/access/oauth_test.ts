/** `gate serve` with issuers of access tokens: what it refuses, with which challenge, and that nothing of a token stays. */

import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { signedWithPublicKey, unsigned } from "@/server/oauth/token_fixture.ts";
import { spec } from "@/tools/tests/tools_fixture.ts";
import { gate, inFolder, logText } from "../gate_command.ts";
import type { Wire } from "../client.ts";
import { ownCertificate } from "../own_certificates.ts";
import { callText, listening, send } from "../http_fixture.ts";
import {
  AUDIENCE,
  captured,
  claimsOf,
  flagsOf,
  principalsOf,
  serve,
  startIssuer,
  startOAuth,
  tokensOf,
} from "./oauth_world.ts";

const METADATA = "https://gate.example.com/.well-known/oauth-protected-resource/mcp";
const FIRST = `Bearer realm="gate", resource_metadata="${METADATA}", scope="gate.read"`;
const AGAIN = FIRST.replace('"gate",', '"gate", error="invalid_token",');

const OTHER = generateKeyPairSync("ec", { namedCurve: "P-256" });

const PROVIDER = `
[server.audit]
path = "audit.jsonl"

[[providers]]
name = "http"
type = "builtin"
[providers.config]
allow_http = true
allow_private_networks = true
`;

/** A call that makes the provider `http` ask a server. */
function asking(url: string): unknown {
  return {
    query: { provider_id: "http", check_id: "status", params: { url } },
    context: { namespace_id: 2, trigger_time: { kind: "unix_millis", value: 1 } },
  };
}

type Sign = ReturnType<typeof tokensOf>;

/** What is presented, the status, the challenge, and the reason in the audit log. */
const REFUSED: readonly (readonly [
  what: string,
  authorization: (sign: Sign, issuer: string, now: number) => string | null,
  status: number,
  challenge: string | null,
  reason: string,
])[] = [
  ["no token", () => null, 401, FIRST, "token_missing"],
  ["a text", () => "Bearer secret-text", 401, AGAIN, "token_malformed"],
  [
    "HS256 with the public key",
    (_, iss) => `Bearer ${signedWithPublicKey(claimsOf(iss))}`,
    401,
    AGAIN,
    "algorithm_refused",
  ],
  ["alg none", (_, iss) => `Bearer ${unsigned(claimsOf(iss))}`, 401, AGAIN, "algorithm_refused"],
  ["an id token", (sign) => `Bearer ${sign({ header: { typ: "JWT" } })}`, 401, AGAIN, "type_refused"],
  [
    "another audience",
    (sign) => `Bearer ${sign({ claims: { aud: "https://x.example.com" } })}`,
    401,
    AGAIN,
    "audience_differs",
  ],
  [
    "another issuer",
    (sign) => `Bearer ${sign({ claims: { iss: "https://x.example.com" } })}`,
    401,
    AGAIN,
    "issuer_unknown",
  ],
  ["an expired token", (sign, _, now) => `Bearer ${sign({ claims: { exp: now - 120 } })}`, 401, AGAIN, "token_expired"],
  [
    "an early token",
    (sign, _, now) => `Bearer ${sign({ claims: { nbf: now + 600 } })}`,
    401,
    AGAIN,
    "token_not_yet_valid",
  ],
  ["a bound token", (sign) => `Bearer ${sign({ claims: { cnf: { jkt: "x" } } })}`, 401, AGAIN, "token_is_bound"],
  ["another key", (sign) => `Bearer ${sign({ key: OTHER.privateKey })}`, 401, AGAIN, "signature_invalid"],
  [
    "a rotated key",
    (sign) => `Bearer ${sign({ header: { kid: "old" }, key: OTHER.privateKey })}`,
    401,
    AGAIN,
    "key_unknown",
  ],
  [
    "a token over the limit",
    (sign) => `Bearer ${sign({ claims: { note: "x".repeat(8192) } })}`,
    431,
    null,
    "authorization_too_long",
  ],
];

Deno.test("gate serve refuses each token that does not count, and nothing of one is forwarded or written", () =>
  inFolder(async (folder) => {
    await using issuer = startIssuer();
    await using service = captured(() => new Response(null, { status: 204 }));
    const sign = tokensOf(issuer.url);
    const presented: string[] = [];
    {
      await using started = await startOAuth(folder, issuer.url, PROVIDER);
      for (const [what, authorization, status, challenge] of REFUSED) {
        const field = authorization(sign, issuer.url, Math.floor(Date.now() / 1000));
        if (field !== null) presented.push(...field.replace("Bearer ", "").split("."));
        const called = await started.call(field, "evidence_query", asking(service.url));
        assert.deepEqual([called.status, called.challenge], [status, challenge], what);
        assert.ok(!/ada|readers/.test(called.text), "a refusal names no principal");
      }
      assert.deepEqual(service.asked, []);
      const good = sign();
      const readers = sign({ claims: { sub: "bob", scope: "openid gate.read" } });
      const unmapped = sign({ claims: { sub: "eve" } });
      for (const one of [good, readers, unmapped]) presented.push(...one.split("."));
      const call = (token: string, tool: string, input: unknown): Promise<{ status: number; text: string }> =>
        started.call(`Bearer ${token}`, tool, input);
      const asked = await call(good, "evidence_query", asking(service.url));
      assert.equal(asked.status, 200);
      assert.match(asked.text, /"lane":"verified"/);
      assert.match((await call(readers, "scenarios_list", { namespace_id: 2 })).text, /"items":\[\]/);
      for (const [token, tool] of [[readers, "evidence_query"], [unmapped, "evidence_query"]] as const) {
        const { status, text } = await call(token, tool, asking(service.url));
        assert.equal(status, 200);
        assert.match(text, /"code":"role_refused".*none of the caller's roles grants it/);
      }
      assert.match((await call(unmapped, "providers_list", {})).text, /"code":"role_refused"/);
      const metrics = (token: string): Promise<{ status: number }> =>
        send(started.server.url, null, { path: "/metrics", headers: { authorization: `Bearer ${token}` } });
      const mistyped = sign({ claims: { sub: "dan" } });
      const statuses = await Promise.all(
        [good, readers, mistyped, unmapped].map(async (one) => (await metrics(one)).status),
      );
      assert.deepEqual(statuses, [200, 200, 403, 403]);
      assert.equal(service.asked.length, 1);
      started.server.process.signal("SIGTERM");
      assert.equal(await started.server.process.ended(), 0);
      const written = [await Deno.readTextFile(`${folder}/audit.jsonl`), started.server.process.errors()].join("\n");
      const seen = [written, ...service.asked, ...issuer.asked].join("\n");
      for (const secret of presented.filter((one) => one !== "")) assert.ok(!seen.includes(secret), secret);
      for (const [what, , , , reason] of REFUSED) {
        assert.ok(written.includes(`"reason":"${reason}"`), `${what}: ${reason}`);
      }
      for (const subject of ["oauth:ada", "oauth:readers", "oauth"]) {
        assert.ok(written.includes(`"subject":"${subject}"`));
      }
    }
  }));

Deno.test("gate serve asks an issuer once in a flood of unknown keys, and a known key counts meanwhile", () =>
  inFolder(async (folder) => {
    await using issuer = startIssuer();
    const sign = tokensOf(issuer.url);
    await using started = await startOAuth(folder, issuer.url);
    const flood = Array.from({ length: 64 }, (_, index) => `Bearer ${sign({ header: { kid: `key ${index}` } })}`);
    const statuses = await Promise.all(
      flood.map(async (one) => (await started.call(one, "scenarios_list", { namespace_id: 2 })).status),
    );
    assert.deepEqual([...new Set(statuses)], [401]);
    assert.equal((await started.call(`Bearer ${sign()}`, "scenarios_list", { namespace_id: 2 })).status, 200);
    assert.deepEqual(issuer.asked.map((one) => one.split(" ")[0]), [
      "/.well-known/oauth-authorization-server",
      "/keys",
    ]);
  }));

Deno.test("gate serve answers 503 while the keys of an issuer are not to be had, and accepts stored tokens", async (test) => {
  await test.step("an issuer that lies about its own name", () =>
    inFolder(async (folder) => {
      await using issuer = startIssuer();
      issuer.state.name = "http://127.0.0.1:1";
      await using started = await startOAuth(
        folder,
        issuer.url,
        'auth = { mode = "bearer_token", bearer_tokens = ["a-stored-token-of-this-test"] }',
      );
      const token = tokensOf(issuer.url)();
      const called = await started.call(`Bearer ${token}`, "scenarios_list", { namespace_id: 2 });
      assert.deepEqual([called.status, called.challenge], [503, null]);
      assert.match(called.text, /"message":"Cannot check the token: the keys of its issuer are not available"/);
      const stored = await started.call("Bearer a-stored-token-of-this-test", "scenarios_list", { namespace_id: 2 });
      assert.equal(stored.status, 200);
      await started.server.process.logged(
        "Cannot get the keys of an issuer of access tokens: its metadata names another",
      );
      const log = started.server.process.errors();
      assert.ok(!token.split(".").some((one) => log.includes(one)));
    }));
  await test.step("an issuer that is down", () =>
    inFolder(async (folder) => {
      const issuer = startIssuer();
      await issuer[Symbol.asyncDispose]();
      await using started = await startOAuth(folder, issuer.url);
      const called = await started.call(`Bearer ${tokensOf(issuer.url)()}`, "scenarios_list", { namespace_id: 2 });
      assert.equal(called.status, 503);
      await started.server.process.logged("the connection failed");
    }));
});

Deno.test("gate serve gives its metadata to anybody, and asks a local caller for a token", () =>
  inFolder(async (folder) => {
    await using issuer = startIssuer();
    await using started = await startOAuth(folder, issuer.url, "", ["--allowed-origin", "https://app.example.com"]);
    const { url } = started.server;
    const answer = await send(url, null, { path: new URL(METADATA).pathname });
    assert.equal(answer.headers["content-type"], "application/json");
    assert.deepEqual(JSON.parse(answer.text), {
      resource: AUDIENCE,
      authorization_servers: [issuer.url],
      bearer_methods_supported: ["header"],
      scopes_supported: ["gate.read"],
    });
    const post = await send(url, "{}", { path: new URL(METADATA).pathname, method: "POST" });
    assert.equal(post.status, 405);
    const preflight = await send(url, null, {
      path: new URL(METADATA).pathname,
      method: "OPTIONS",
      headers: { origin: "https://app.example.com", "access-control-request-headers": "mcp-protocol-version" },
    });
    const { headers } = preflight;
    assert.deepEqual(
      [preflight.status, headers["access-control-allow-origin"], headers["access-control-allow-methods"]],
      [204, "https://app.example.com", "GET, HEAD"],
    );
    assert.match(String(headers["access-control-allow-headers"]), /mcp-protocol-version/);
    const other = await send(url, null, { path: new URL(METADATA).pathname, method: "OPTIONS" });
    assert.equal(other.status, 405, "no preflight of a listed origin");
    for (const path of ["/mcp", "/rpc"]) assert.equal((await send(url, "{}", { path })).status, 401);
    assert.equal((await send(url, null, { path: "/metrics" })).status, 401);
    assert.equal((await send(url, null, { path: "/readyz" })).status, 200);
    const log = logText(started.server.process.errors());
    assert.ok(log.includes("transport http; auth oauth;"), log);
    assert.ok(!log.includes("every admitted caller may use every tool"), log);
    const where = "principals.toml: principal[2].roles";
    assert.ok(log.includes(`${where}[0].name: role "NamespaceReadr" grants nothing; built in are TenantAdmin,`), log);
    const ineffective = `${where}[1].name: role "AgentSandbox" grants nothing in policy class prod, only in scratch`;
    assert.ok(log.includes(ineffective), log);
    assert.ok(!log.includes("principal[0]") && !log.includes("principal[1]"), log);
  }));

Deno.test("gate serve trusts the authorities of --oauth-ca for issuers, and records name the principal of a token", () =>
  inFolder(async (folder) => {
    const authority = await ownCertificate({ name: "authority", isAuthority: true });
    await Deno.writeTextFile(`${folder}/ca.pem`, authority.cert);
    const { cert, key } = await ownCertificate({ name: "issuer", ip: [127, 0, 0, 1] }, authority);
    await using issuer = startIssuer({ cert, key });
    const authorization = `Bearer ${tokensOf(issuer.url)()}`;
    {
      await using started = await startOAuth(folder, issuer.url);
      assert.equal((await started.call(authorization, "scenarios_list", { namespace_id: 2 })).status, 503);
      await started.server.process.logged("no secure connection");
    }
    await using started = await startOAuth(folder, issuer.url, "", ["--oauth-ca", "ca.pem"]);
    const call = async (tool: string, input: unknown): Promise<Wire> => {
      const { text } = await started.call(authorization, tool, input);
      return (JSON.parse(text) as { result: { structuredContent: Wire } }).result.structuredContent;
    };
    const { scenario_law_identity } = await call("scenario_define", { spec: spec() });
    const { outcome } = await call("scenario_start", {
      namespace_id: 2,
      scenario_id: "release",
      scenario_law_identity,
      creation_request_id: "1".repeat(32),
      correlation: { kind: "unset" },
      genesis: { kind: "empty" },
    }) as { outcome: { result: { run_key: Wire } } };
    const history = await call("scenario_history", { ...outcome.result.run_key, scenario_id: "release" });
    assert.match(
      JSON.stringify(history),
      /"auth_method":"bearer_token","policy_class":null,"principal":"oauth:ada","roles_matched":\["TenantAdmin"\]/,
    );
  }));

const ISSUER = "https://issuer.example.com";

/** Settings and flags that do not go together, with what is said. */
const FAULTS: readonly (readonly [server: string, flags: readonly string[], says: string])[] = [
  ['transport = "stdio"', flagsOf(ISSUER), 'Cannot accept access tokens: server.transport is "stdio", expected "http"'],
  ['transport = "sse"\nbind = "127.0.0.1:0"', flagsOf(ISSUER), 'server.transport is "sse", expected "http"'],
  [
    'auth = { mode = "local_only" }',
    flagsOf(ISSUER),
    'server.auth.mode is "local_only", expected "bearer_token" or no',
  ],
  ["", ["--oauth-audience", AUDIENCE], "Cannot accept access tokens: --oauth-issuer is missing"],
  ["", ["--oauth-private"], "Cannot accept access tokens: --oauth-issuer is missing"],
  ["", flagsOf(ISSUER).slice(0, 4), "Cannot accept access tokens: --oauth-principals is missing"],
  [
    "",
    [...flagsOf(ISSUER), "--oauth-issuer", `${ISSUER}/b`],
    "2 issuers and 1 audience: expected one --oauth-audience for",
  ],
  ["", [...flagsOf(ISSUER), ...flagsOf(ISSUER).slice(0, 4)], `"${ISSUER}" is given twice`],
  ["", flagsOf("http://issuer.example.com"), 'Cannot use --oauth-issuer "http://issuer.example.com": expected https'],
  ["", flagsOf("https://a:b@issuer.example.com"), "Cannot use --oauth-issuer: a credential in it would be sent"],
  ["", flagsOf(`${ISSUER}?a`), `Cannot use --oauth-issuer "${ISSUER}?a": expected no query and no fragment`],
  ["", flagsOf("https://ISSUER.example.com"), "expected it as it is compared: https://issuer.example.com/"],
  ["", flagsOf(ISSUER, "gate"), 'Cannot use --oauth-audience "gate": it is not a URL'],
  ["", flagsOf(`${ISSUER}/b`), "principal[0].issuer: must be an issuer of --oauth-issuer, with the same characters"],
  ["", [...flagsOf(ISSUER), "--oauth-ca", "absent.pem"], 'Cannot use --oauth-ca "absent.pem": No such file'],
  ["", [...flagsOf(ISSUER), "--oauth-ca", "gate.toml"], "Cannot use --oauth-ca: file holds no certificate in PEM"],
  [
    "",
    flagsOf(ISSUER).map((one) => one === "principals.toml" ? "x.toml" : one),
    'Cannot use --oauth-principals "x.toml": it does not exist',
  ],
];

for (const [server, flags, says] of FAULTS) {
  Deno.test(`gate serve ${flags.join(" ").slice(0, 120)} refuses: ${says}`, () =>
    inFolder(async (folder) => {
      const own = server.startsWith("transport") ? server : `transport = "http"\nbind = "127.0.0.1:0"\n${server}`;
      await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\n${own}\n`);
      await Deno.writeTextFile(`${folder}/principals.toml`, principalsOf(ISSUER));
      await using started = serve(folder, flags);
      assert.equal(await started.ended(), 2);
      assert.ok(logText(started.errors()).includes(says), started.errors());
    }));
}

Deno.test("gate permissions grants the files and the issuers of the flags, and a server under them accepts a token", () =>
  inFolder(async (folder) => {
    await using issuer = startIssuer();
    await Deno.writeTextFile(`${folder}/gate.toml`, '[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n');
    await Deno.writeTextFile(`${folder}/principals.toml`, principalsOf(issuer.url));
    const grantsOf = async (...flags: readonly string[]): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await gate(folder, "permissions", "--config", "gate.toml", "--flags", ...flags);
      assert.equal(code, 0, stderr);
      return stdout.trimEnd().split("\n");
    };
    const grants = await grantsOf(...flagsOf(issuer.url));
    const isRead = (flag: string): boolean => flag.startsWith("--allow-read") && flag.includes("/principals.toml");
    assert.deepEqual([grants.some(isRead), (await grantsOf()).some(isRead)], [true, false]);
    assert.ok((await grantsOf(...flagsOf(ISSUER))).includes("--allow-net"));
    await using server = await listening(serve(folder, flagsOf(issuer.url), grants));
    const headers = { authorization: `Bearer ${tokensOf(issuer.url)()}` };
    const answer = await send(server.url, callText(1, "scenarios_list", { namespace_id: 2 }), { headers });
    assert.match(answer.text, /"items":\[\]/);
    for (const missing of ["/principals.toml", "127.0.0.1"]) {
      const fewer = grants.map((flag) =>
        flag.startsWith("--allow-net") && missing === "127.0.0.1"
          ? "--allow-net=127.0.0.1:1"
          : flag.split(",").filter((one) => !one.endsWith(missing)).join(",")
      );
      await using refused = serve(folder, flagsOf(issuer.url), fewer);
      assert.equal(await refused.ended(), 2);
      assert.match(refused.errors(), /this process was started without --allow-(read|net)=/);
    }
  }));
