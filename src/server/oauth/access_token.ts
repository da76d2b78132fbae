/** Verifies the access tokens of issuers (RFC 9068), and maps each to a principal. Nothing of a token is kept. */

import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type JWTVerifyGetKey } from "jose";
import { principalOf } from "../../access/principal.ts";
import type { Principal } from "../../access/types.ts";
import { ACCESS_TOKEN_TYPE, type OAuthPrincipal } from "../../config/oauth_principals.ts";
import { createIssuerKeys, type IssuerKeysOptions, KeysUnavailable } from "./issuer_keys.ts";

/** An issuer, and what its tokens have to name as their audience. */
export interface OAuthIssuer {
  readonly issuer: string;
  readonly audience: string;
}

/** The options of {@link createTokenVerifier}. */
export interface TokenVerifierOptions extends Omit<IssuerKeysOptions, "issuer"> {
  readonly issuers: readonly OAuthIssuer[];
  readonly principals: readonly OAuthPrincipal[];
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The caller of a token, or one word on why it is refused. */
export type TokenReading = { readonly principal: Principal } | { readonly refused: string };

const ALGORITHMS = ["ES256", "EdDSA", "RS256"];
/** Seconds by which the clocks of an issuer and of this machine may differ. */
const LEEWAY = 60;
/** Claims that an access token has (RFC 9068, 2.2), beside issuer and audience. */
const CLAIMS = ["exp", "iat", "jti", "sub", "client_id"];

/** The reasons by the code of jose, or by the claim. */
const REASONS: Readonly<Record<string, string>> = {
  aud: "audience_differs",
  nbf: "token_not_yet_valid",
  ERR_JWT_EXPIRED: "token_expired",
  ERR_JWKS_INVALID: "key_unusable",
  ERR_JWKS_NO_MATCHING_KEY: "key_unknown",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS: "key_ambiguous",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "signature_invalid",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "claim_invalid",
};

/** The rules of one issuer. */
interface IssuerRules extends OAuthIssuer {
  readonly findKey: JWTVerifyGetKey;
  readonly entries: readonly (OAuthPrincipal & { readonly type: string; readonly caller: Principal })[];
}

/** The caller of a token that no entry is for. */
const UNMAPPED = principalOf([], "oauth", "oauth");

/**
 * Makes the function that verifies tokens. It never rejects.
 *
 * @returns Also `keys_unavailable`, after which the same token may be accepted
 */
export function createTokenVerifier(options: TokenVerifierOptions): (token: string) => Promise<TokenReading> {
  const rules = new Map(options.issuers.map((one): [string, IssuerRules] => [one.issuer, {
    ...one,
    findKey: createIssuerKeys({ ...options, issuer: one.issuer }),
    entries: options.principals.filter(({ issuer }) => issuer === one.issuer).map((entry) => ({
      ...entry,
      type: typeOf(entry.typ ?? ACCESS_TOKEN_TYPE),
      caller: callerOf(entry),
    })),
  }]));
  return async (token) => {
    try {
      return await readToken(token, rules, options.now());
    } catch (error) {
      return { refused: reasonOf(error) };
    }
  };
}

async function readToken(
  token: string,
  issuers: ReadonlyMap<string, IssuerRules>,
  now: number,
): Promise<TokenReading> {
  // Before the signature is verified these only choose the rules, and keep strangers from a fetch of keys.
  const claimed = claimedBy(token);
  if (claimed === null) return { refused: "token_malformed" };
  const { alg = "", typ, iss = "" } = claimed;
  if (!ALGORITHMS.includes(alg)) return { refused: "algorithm_refused" };
  const rules = issuers.get(iss);
  if (rules === undefined) return { refused: "issuer_unknown" };
  const type = typeof typ === "string" ? typeOf(typ) : "";
  const isAccessToken = type === ACCESS_TOKEN_TYPE;
  if (!isAccessToken && !rules.entries.some((entry) => entry.type === type)) return { refused: "type_refused" };
  const { payload } = await jwtVerify(token, rules.findKey, {
    algorithms: ALGORITHMS,
    issuer: rules.issuer,
    audience: rules.audience,
    clockTolerance: LEEWAY,
    currentDate: new Date(now),
    requiredClaims: isAccessToken ? CLAIMS : ["exp"],
  });
  // The proof of possession that such a token needs is not checked here.
  if (payload["cnf"] !== undefined) return { refused: "token_is_bound" };
  const entry = rules.entries.find((one) => one.type === type && isFor(one, payload));
  return { principal: entry?.caller ?? UNMAPPED };
}

/** What a token says of itself, unverified; null where it is no token. */
function claimedBy(token: string): { alg?: string | undefined; typ?: unknown; iss?: string | undefined } | null {
  try {
    return { ...decodeProtectedHeader(token), iss: decodeJwt(token).iss };
  } catch {
    return null;
  }
}

/** A media type without `application/` (RFC 7515, 4.1.9). */
function typeOf(typ: string): string {
  return typ.toLowerCase().replace(/^application\//, "");
}

function callerOf({ name, roles }: OAuthPrincipal): Principal {
  const subject = `oauth:${name}`;
  return principalOf([{ subject, policy_class: null, roles }], subject, "oauth");
}

/** Whether an entry is for the token with these claims. */
function isFor({ subject, client_id, scope, claim }: OAuthPrincipal, payload: JWTPayload): boolean {
  if (subject !== undefined) return payload.sub === subject;
  if (client_id !== undefined) return payload["client_id"] === client_id;
  if (scope !== undefined) {
    // Some issuers write a list, whose items may again hold several scopes.
    return [payload["scope"]].flat().some((item) => typeof item === "string" && item.split(" ").includes(scope));
  }
  if (claim === undefined || !Object.hasOwn(payload, claim.name)) return false;
  return [payload[claim.name]].flat().includes(claim.value);
}

function reasonOf(error: unknown): string {
  if (error instanceof KeysUnavailable) return "keys_unavailable";
  // A short key of RSA is an error of another class.
  if (!(error instanceof errors.JOSEError)) return "key_unusable";
  const claim = error instanceof errors.JWTClaimValidationFailed ? REASONS[error.claim] : undefined;
  return claim ?? REASONS[error.code] ?? "token_malformed";
}
