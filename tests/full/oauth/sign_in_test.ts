/**
 * The official client signs in by itself: it finds oidc-provider through gate, registers there, and calls gate with the
 * access token that it gets. A person signs in at the pages of the provider.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { generateKeyPairSync } from "node:crypto";
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { createProvider } from "../../packages/oidc_provider.ts";
import { inFolder } from "../../e2e/gate_command.ts";
import { listening } from "../../e2e/http_fixture.ts";
import { flagsOf, serve } from "../../e2e/access/oauth_world.ts";

type Alg = "ES256" | "RS256" | "EdDSA";

const REDIRECT = "http://127.0.0.1:9/callback";

/** A provider on the loopback that signs access tokens for any resource. */
async function startProvider(alg: Alg): Promise<{ readonly url: string } & AsyncDisposable> {
  let handle: ReturnType<ReturnType<typeof createProvider>["callback"]> = () => {};
  const server = createServer((request, response) => handle(request, response));
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  const { port } = server.address() as { readonly port: number };
  const url = `http://127.0.0.1:${port}`;
  const pair = {
    ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
    EdDSA: () => generateKeyPairSync("ed25519"),
  }[alg]();
  handle = createProvider(url, {
    jwks: { keys: [{ ...pair.privateKey.export({ format: "jwk" }), alg, use: "sig", kid: "first" }] },
    clientDefaults: { id_token_signed_response_alg: alg },
    enabledJWA: { idTokenSigningAlgValues: [alg] },
    cookies: { keys: ["a-key-of-this-test"] },
    scopes: ["openid", "offline_access", "gate.read"],
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, resource: string) => ({
          scope: "gate.read",
          audience: resource,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg } },
        }),
      },
    },
  }).callback();
  return {
    url,
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
}

/** A browser with cookies, in which a person signs in and consents; the parameters with which it returns to the client. */
async function signIn(start: URL, login: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, form?: Record<string, string>): Promise<Response> => {
    const answer = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) },
    });
    for (const field of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(field) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  let url = start.href;
  for (let step = 0; step < 12; step++) {
    const answer = await visit(url);
    const page = await answer.text();
    const location = answer.headers.get("location");
    if (location?.startsWith(REDIRECT)) return new URL(location).searchParams;
    if (location !== null) url = new URL(location, url).href;
    else {
      const [, prompt] = /name="prompt" value="([a-z]+)"/.exec(page) ?? [];
      assert.ok(prompt !== undefined, `${answer.status} ${page}`);
      const posted = await visit(url, prompt === "login" ? { prompt, login, password: "x" } : { prompt });
      await posted.body?.cancel();
      url = new URL(posted.headers.get("location") ?? "", url).href;
    }
  }
  throw new Error("Cannot sign in: the provider asks on");
}

/** What the client keeps, and the address to which it sends its user. */
function keeping(): OAuthClientProvider & { readonly sentTo: () => URL; readonly token: () => string } {
  let client: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
  let kept: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
  let verifier = "";
  let sentTo: URL | undefined;
  return {
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: "a client of this test",
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      // The provider grants nothing to a request without a scope, and not every gate of this test names one.
      scope: "gate.read",
    },
    clientInformation: () => client,
    saveClientInformation: (given) => void (client = given),
    tokens: () => kept,
    saveTokens: (given) => void (kept = given),
    redirectToAuthorization: (url) => void (sentTo = url),
    saveCodeVerifier: (given) => void (verifier = given),
    codeVerifier: () => verifier,
    sentTo: () => sentTo ?? assert.fail("the client sent its user nowhere"),
    token: () => kept?.access_token ?? "",
  };
}

/** Signs a person in with a new client; the client is connected. */
async function connected(url: URL, login: string): Promise<{ readonly client: Client; readonly token: string }> {
  const authProvider = keeping();
  const transport = (): StreamableHTTPClientTransport => new StreamableHTTPClientTransport(url, { authProvider });
  const first = transport();
  await assert.rejects(new Client({ name: "suite", version: "1" }).connect(first), UnauthorizedError);
  await first.finishAuth(await signIn(authProvider.sentTo(), login));
  const client = new Client({ name: "suite", version: "1" });
  await client.connect(transport());
  return { client, token: authProvider.token() };
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

const REFUSED = /"code":"role_refused".*none of the caller's roles grants it/;

/** The algorithm of the provider, what the second entry of the mapping is for, and what a person without one gets. */
const SIGN_INS: readonly (readonly [alg: Alg, second: string, eve: RegExp, subject: string])[] = [
  ["ES256", 'scope = "gate.read"', /"items":\[\]/, "oauth:others"],
  ["RS256", 'client_id = "another"', REFUSED, "oauth"],
  ["EdDSA", 'claim = { name = "groups", value = "staff" }', REFUSED, "oauth"],
];

for (const [alg, second, eve, subject] of SIGN_INS) {
  Deno.test(`the official client signs in at oidc-provider with ${alg}; without an entry but ${second}: ${eve.source}`, () =>
    inFolder(async (folder) => {
      await using provider = await startProvider(alg);
      const port = freePort();
      const url = new URL(`http://127.0.0.1:${port}/mcp`);
      const entry = (name: string, selector: string, role: string): string =>
        `[[principal]]\nname = "${name}"\nissuer = "${provider.url}"\n${selector}\nroles = [{ name = "${role}", namespace_id = 2 }]\n`;
      await Deno.writeTextFile(
        `${folder}/principals.toml`,
        `${entry("ada", 'subject = "ada"', "NamespaceOwner")}${entry("others", second, "NamespaceReader")}`,
      );
      await Deno.writeTextFile(
        `${folder}/gate.toml`,
        `[server]\ntransport = "http"\nbind = "127.0.0.1:${port}"\n[server.audit]\npath = "audit.jsonl"\n`,
      );
      const secrets: string[] = [];
      {
        await using server = await listening(serve(folder, flagsOf(provider.url, url.href)));
        const call = async (login: string): Promise<string> => {
          const { client, token } = await connected(url, login);
          secrets.push(...token.split("."));
          const answer = await client.callTool({ name: "scenarios_list", arguments: { namespace_id: 2 } });
          await client.close();
          return JSON.stringify(answer.structuredContent);
        };
        assert.match(await call("ada"), /"items":\[\]/);
        assert.match(await call("eve"), eve);
        server.process.signal("SIGTERM");
        assert.equal(await server.process.ended(), 0);
        const written = `${await Deno.readTextFile(`${folder}/audit.jsonl`)}${server.process.errors()}`;
        assert.equal(secrets.length, 6);
        for (const secret of secrets) assert.ok(!written.includes(secret));
        for (const one of ["oauth:ada", subject]) assert.ok(written.includes(`"subject":"${one}"`), one);
      }
    }));
}
