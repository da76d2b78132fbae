/** Makes the authenticator of a configuration. */

import type { AuthConfig, ServerConfig } from "../../config/types.ts";
import { createBearerToken } from "./bearer_token.ts";
import { createLocalOnly } from "./local_only.ts";
import { createMtls } from "./mtls.ts";
import { createOneTimeLink, type OneTimeLink } from "./one_time_link.ts";
import type { Authenticator } from "./types.ts";

/** The source of the subject of a client certificate. */
export interface SubjectSource {
  /** `server.tls_termination`: a proxy may name the subject only with `upstream`. */
  readonly termination: ServerConfig["tls_termination"];
  /** Whether an IP address is one of `--trusted-proxy`. */
  readonly isTrustedProxy: (address: string) => boolean;
}

/** The options of the authenticator. */
export interface AuthenticatorOptions {
  readonly auth: AuthConfig | null;
  readonly subjects: SubjectSource;
  /** The link whose first browser is the only caller; absent without one. */
  readonly link?: OneTimeLink;
}

/** Makes the authenticator of the HTTP transports; without `server.auth` only local callers are admitted. */
export function createAuthenticator({ link, ...options }: AuthenticatorOptions): Authenticator {
  const admit = authenticatorOf(options);
  return link === undefined ? admit : createOneTimeLink(link, admit);
}

function authenticatorOf({ auth, subjects }: AuthenticatorOptions): Authenticator {
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
