/** The flags of `gate serve` that name issuers of access tokens. */

import { AUTH_DEFAULTS } from "../../config/defaults.ts";
import { readFileAtMost } from "../../config/files.ts";
import { type OAuthPrincipal, parseOAuthPrincipals, PRINCIPALS_FILE_BYTES } from "../../config/oauth_principals.ts";
import { countOf } from "../../config/problems.ts";
import type { GateConfig } from "../../config/types.ts";
import type { NetworkSettings } from "../../server/serve.ts";
import { delay } from "../../server/process/log.ts";
import { ineffectivePrincipals } from "../doctor/access.ts";
import { unknownRoles } from "../doctor/posture.ts";
import { CliError } from "../terminal/cli_error.ts";
import { secureUrl } from "../terminal/secure_url.ts";
import type { OAuthFlags } from "./serve_flags.ts";

/** Most issuers. */
export const ISSUERS = 16;

/**
 * The issuers, each with its audience.
 *
 * @throws {CliError} `usage`
 */
export function oauthIssuersOf(
  { oauthIssuers, oauthAudiences }: OAuthFlags,
): readonly { readonly issuer: string; readonly audience: string }[] {
  if (oauthIssuers.length === 0) throw usage("--oauth-issuer is missing");
  if (oauthIssuers.length > ISSUERS) throw usage(`at most ${ISSUERS} issuers, got ${oauthIssuers.length}`);
  if (oauthIssuers.length !== oauthAudiences.length) {
    const counts = `${countOf(oauthIssuers.length, "issuer")} and ${countOf(oauthAudiences.length, "audience")}`;
    throw usage(`${counts}: expected one --oauth-audience for each --oauth-issuer, in the same order`);
  }
  return oauthIssuers.map((issuer, index) => {
    const audience = oauthAudiences[index] ?? "";
    checkUrl("--oauth-issuer", issuer);
    checkUrl("--oauth-audience", audience);
    if (oauthIssuers.indexOf(issuer) < index) throw usage(`"${issuer}" is given twice`);
    return { issuer, audience };
  });
}

/** Tokens and metadata repeat these URLs, so they stay as they are given. */
function checkUrl(flag: string, given: string): void {
  // An address with a credential in it is not shown.
  const shown = given.includes("@") ? "" : ` "${given}"`;
  const refuse = (why: string): CliError => new CliError("usage", `Cannot use ${flag}${shown}: ${why}`);
  const url = secureUrl(given, refuse, "a credential in it would be sent to clients");
  if (/[?#]/.test(given)) throw refuse("expected no query and no fragment");
  if (given !== url.href && `${given}/` !== url.href) throw refuse(`expected it as it is compared: ${url.href}`);
}

function usage(why: string): CliError {
  return new CliError("usage", `Cannot accept access tokens: ${why}`);
}

/**
 * The configuration of a server that accepts access tokens: every call needs a token, and stored ones count first.
 *
 * @throws {CliError} `usage` where the transport or the mode of authentication does not fit
 */
export function withOAuth(config: GateConfig): GateConfig {
  const { server } = config;
  if (server.transport !== "http") throw usage(`server.transport is "${server.transport}", expected "http"`);
  if (server.auth !== null && server.auth.mode !== "bearer_token") {
    throw usage(`server.auth.mode is "${server.auth.mode}", expected "bearer_token" or no server.auth`);
  }
  const auth = { ...AUTH_DEFAULTS, ...server.auth, mode: "bearer_token" as const, oauth: true as const };
  return { ...config, server: { ...server, auth } };
}

/**
 * What makes the resource server. The modules of it are loaded here.
 *
 * @throws {CliError} `usage`
 * @throws {ConfigError} With every problem of the file of principals
 */
export async function resourceServerOf(
  flags: OAuthFlags,
  config: GateConfig,
): Promise<NonNullable<NetworkSettings["oauth"]>> {
  const issuers = oauthIssuersOf(flags);
  const principals = await principalsOf(flags, issuers.map(({ issuer }) => issuer));
  const entries = principals.map(({ roles }) => ({ roles, policy_class: null }));
  const ineffective = [unknownRoles, ineffectivePrincipals].flatMap((find) => find(config, entries, ["principal"]));
  const authorities = await authoritiesOf(flags);
  const [{ createResourceServer }, { getDocument }] = await Promise.all([
    import("../../server/oauth/resource_server.ts"),
    import("../../evidence/builtin/get_document.ts"),
  ]);
  const access = { allowPrivateNetworks: flags.oauthPrivate, privateSetting: "--oauth-private" as const, authorities };
  return (log) => {
    for (const message of ineffective) log("warn", `${flags.oauthPrincipals}: ${message}`);
    return createResourceServer({
      issuers,
      principals,
      getDocument: (url) => getDocument(url, access),
      now: Date.now,
      elapsed: () => performance.now(),
      delay,
      log,
    });
  };
}

async function principalsOf(
  { oauthPrincipals: path }: OAuthFlags,
  issuers: readonly string[],
): Promise<readonly OAuthPrincipal[]> {
  if (path === undefined) throw usage("--oauth-principals is missing");
  const refuse = (why: string): CliError => new CliError("usage", `Cannot use --oauth-principals "${path}": ${why}`);
  const bytes = await readFileAtMost(path, PRINCIPALS_FILE_BYTES).catch((error: Error) => {
    throw refuse(error instanceof Deno.errors.NotFound ? "it does not exist" : error.message);
  });
  if (bytes.length > PRINCIPALS_FILE_BYTES) throw refuse(`it has more than ${PRINCIPALS_FILE_BYTES} bytes`);
  return parseOAuthPrincipals(bytes, path, issuers);
}

async function authoritiesOf({ oauthCa }: OAuthFlags): Promise<readonly string[] | null> {
  if (oauthCa === undefined) return null;
  const { readAuthorities } = await import("../../server/tls/material.ts");
  const { certificates } = await readAuthorities("--oauth-ca", oauthCa).catch((error: Error) => {
    throw new CliError("usage", error.message);
  });
  return certificates.map((one) => one.toString());
}
