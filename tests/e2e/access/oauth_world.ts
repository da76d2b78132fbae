/**
 * An issuer of access tokens and a `gate serve` that accepts them, for tests.
 *
 * @module
 */

import { KEY_SET, type Members, tokens } from "@/server/oauth/token_fixture.ts";
import { type ServerProcess, startServer } from "../client.ts";
import { gateArgs } from "../gate_command.ts";
import type { OwnCertificate } from "../own_certificates.ts";
import { callText, type HttpServer, listening, send } from "../http_fixture.ts";

/** A server of this process, with the requests that it got. */
export interface Captured extends AsyncDisposable {
  readonly url: string;
  /** Path, header fields and body of each request. */
  readonly asked: string[];
}

/** A certificate with its key, in PEM. */
type OwnTls = Pick<OwnCertificate, "cert" | "key">;

/** Answers requests on the loopback. */
export function captured(answer: (path: string, url: string) => Response, tls: OwnTls | null = null): Captured {
  const asked: string[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, ...tls };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(options, async (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(`${pathname}${search} ${JSON.stringify([...request.headers])} ${await request.text()}`);
    return answer(pathname, url);
  });
  const url: string = `${tls === null ? "http" : "https"}://127.0.0.1:${server.addr.port}`;
  return { url, asked, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** What an issuer says; the tests change it. */
export interface IssuerState {
  keys: readonly unknown[];
  /** The name in its metadata; null for its own. */
  name: string | null;
}

/** An issuer with metadata and keys. */
export function startIssuer(tls: OwnTls | null = null): Captured & { readonly state: IssuerState } {
  const state: IssuerState = { keys: KEY_SET, name: null };
  const server = captured((path, url) => {
    if (path === "/keys") return Response.json({ keys: state.keys });
    if (path !== "/.well-known/oauth-authorization-server") return new Response(null, { status: 404 });
    return Response.json({ issuer: state.name ?? url, jwks_uri: `${url}/keys` });
  }, tls);
  return { ...server, state };
}

/** The resource that the tokens of these tests are for. */
export const AUDIENCE = "https://gate.example.com/mcp";

/** The claims of a token that counts now. */
export function claimsOf(issuer: string): Members {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: AUDIENCE, sub: "ada", client_id: "agent", iat: now, exp: now + 600, jti: "1" };
}

/** Makes the function that signs tokens of an issuer. */
export function tokensOf(issuer: string): ReturnType<typeof tokens> {
  return tokens(claimsOf(issuer));
}

/** A started server, and the fields of a request with a token. */
export interface OAuthGate extends AsyncDisposable {
  readonly server: HttpServer;
  /** Calls a tool; the status, the answer's text and its challenge. */
  readonly call: (authorization: string | null, tool: string, input: unknown) => Promise<Called>;
}

/** What a call came to. */
export interface Called {
  readonly status: number;
  readonly text: string;
  readonly challenge: string | null;
}

/** The principals of the tests: one may do everything, one of a scope may read, and the roles of one never count. */
export function principalsOf(issuer: string): string {
  return `[[principal]]
name = "ada"
issuer = "${issuer}"
subject = "ada"
roles = [{ name = "TenantAdmin" }]

[[principal]]
name = "readers"
issuer = "${issuer}"
scope = "gate.read"
roles = [{ name = "NamespaceReader", namespace_id = 2 }]

[[principal]]
name = "mistyped"
issuer = "${issuer}"
subject = "dan"
roles = [{ name = "NamespaceReadr" }, { name = "AgentSandbox" }]
`;
}

/** The flags for one issuer with the principals of `principals.toml`. */
export function flagsOf(issuer: string, audience: string = AUDIENCE): readonly string[] {
  const own = ["--oauth-issuer", issuer, "--oauth-audience", audience, "--oauth-principals", "principals.toml"];
  return [...own, "--oauth-private"];
}

/** Starts `gate serve` in a folder with a configuration, under some permissions in place of all that a server may have. */
export function serve(
  folder: string,
  flags: readonly string[],
  grants: readonly string[] = ["-P=serve"],
): ServerProcess {
  const args = gateArgs("serve", "--config", "gate.toml", ...flags).flatMap((one) => one === "-P=serve" ? grants : one);
  return startServer({ args, cwd: folder, env: { GATE_CONFIG: "" } });
}

/** Starts a server that accepts the tokens of an issuer; `settings` follow those of its section `server`. */
export async function startOAuth(
  folder: string,
  issuer: string,
  settings = "",
  flags: readonly string[] = [],
): Promise<OAuthGate> {
  await Deno.writeTextFile(`${folder}/principals.toml`, principalsOf(issuer));
  await Deno.writeTextFile(`${folder}/gate.toml`, `[server]\ntransport = "http"\nbind = "127.0.0.1:0"\n${settings}`);
  const server = await listening(serve(folder, [...flagsOf(issuer), ...flags]));
  return {
    server,
    call: async (authorization, tool, input) => {
      const headers = authorization === null ? {} : { authorization };
      const answer = await send(server.url, callText(1, tool, input), { headers });
      const challenge = answer.headers["www-authenticate"];
      return { status: answer.status, text: answer.text, challenge: typeof challenge === "string" ? challenge : null };
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
