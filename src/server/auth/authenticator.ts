/**
 * The authenticator that a configuration asks for.
 *
 * @module
 */

import type { AuthConfig, ServerConfig } from "../../config/types.ts";
import { createBearerToken } from "./bearer_token.ts";
import { createLocalOnly } from "./local_only.ts";
import { createMtls } from "./mtls.ts";
import type { Authenticator } from "./types.ts";

/** Where the subject of a client certificate comes from. */
export interface SubjectSource {
  /** `server.tls_termination`: only before gate does anybody else's word on a subject count. */
  readonly termination: ServerConfig["tls_termination"];
  /** Whether an IP address is that of a `--trusted-proxy`. */
  readonly isTrustedProxy: (address: string) => boolean;
}

/** What authentication goes by. */
export interface AuthenticatorOptions {
  readonly auth: AuthConfig | null;
  readonly subjects: SubjectSource;
}

/** Makes the authenticator of the HTTP transports; without `server.auth` only local callers are let in. */
export function createAuthenticator({ auth, subjects }: AuthenticatorOptions): Authenticator {
  const principals = auth?.principals ?? [];
  switch (auth?.mode ?? "local_only") {
    case "local_only":
      return createLocalOnly(principals);
    case "bearer_token":
      return createBearerToken(auth?.bearer_tokens ?? [], principals);
    case "mtls":
      return createMtls({
        subjects: auth?.mtls_subjects ?? [],
        principals,
        isTrustedProxy: subjects.termination === "upstream" ? subjects.isTrustedProxy : null,
      });
  }
}
