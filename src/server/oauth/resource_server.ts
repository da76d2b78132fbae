/**
 * The OAuth 2.1 resource server of `gate serve`: authentication by access tokens of issuers, after stored bearer tokens,
 * and the metadata by which a client finds the issuers (RFC 9728).
 */

import { scopesOf } from "../../config/oauth_principals.ts";
import { readBearer } from "../auth/bearer_token.ts";
import type { Authentication, Authenticator, AuthRequest } from "../auth/types.ts";
import { type HttpReply, jsonReply } from "../http/reply.ts";
import { createTokenVerifier, type TokenVerifierOptions } from "./access_token.ts";

/** The resource server. */
export interface ResourceServer {
  /**
   * Authenticates a request. It never rejects.
   *
   * @param stored Accepts stored bearer tokens, which count first
   */
  readonly authenticate: (request: AuthRequest, stored: Authenticator) => Promise<Authentication>;
  /** The path of the metadata, which needs no credential, and its answer. */
  readonly metadata: readonly [path: string, page: () => HttpReply];
}

/** Makes the resource server; the audience of the first issuer is its identifier. */
export function createResourceServer(options: TokenVerifierOptions): ResourceServer {
  const { issuers, principals } = options;
  const verify = createTokenVerifier(options);
  const resource = issuers[0]?.audience ?? "";
  // A client asks the first issuer for these, and an issuer may refuse a scope that it does not know.
  const scopes = scopesOf(principals, issuers[0]?.issuer ?? "");
  const location = metadataUrl(resource);
  const challenge = (attributes: readonly string[]): string => `Bearer ${attributes.join(", ")}`;
  const about = [
    `resource_metadata="${location.href}"`,
    ...scopes.length === 0 ? [] : [`scope="${scopes.join(" ")}"`],
  ];
  // A request without a token learns no error code (RFC 6750, 3.1).
  const first = challenge(['realm="gate"', ...about]);
  const again = challenge(['realm="gate"', 'error="invalid_token"', ...about]);
  const body = JSON.stringify({
    resource,
    authorization_servers: issuers.map(({ issuer }) => issuer),
    bearer_methods_supported: ["header"],
    ...scopes.length === 0 ? {} : { scopes_supported: scopes },
  });
  return {
    metadata: [location.pathname, () => jsonReply(200, body)],
    authenticate: async (request, stored) => {
      const bearer = readBearer(request.headers);
      if (!bearer.ok && bearer.detail === "authorization_too_long") {
        return { ok: false, status: 431, kind: "request_too_large", detail: bearer.detail };
      }
      if (!bearer.ok) return unauthenticated(bearer.detail, first);
      const known = stored(request);
      if (known.ok) return known;
      const reading = await verify(bearer.token);
      if ("principal" in reading) return { ok: true, principal: reading.principal };
      const { refused } = reading;
      if (refused !== "keys_unavailable") return unauthenticated(refused, again);
      return { ok: false, status: 503, kind: "unavailable", detail: refused };
    },
  };
}

function unauthenticated(detail: string, challenge: string): Authentication {
  return { ok: false, status: 401, kind: "unauthenticated", detail, challenge };
}

/** Where the metadata of a resource is (RFC 9728, 3.1). */
function metadataUrl(resource: string): URL {
  const { origin, pathname } = new URL(resource);
  return new URL(`${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}`);
}
