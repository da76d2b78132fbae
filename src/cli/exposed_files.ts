/**
 * Files with secrets that others on the machine may read.
 *
 * @module
 */

import { referencedVariable } from "../config/request_headers.ts";
import type { GateConfig, ProviderConfig } from "../config/types.ts";

/** What is to be said of each file of a configuration that holds secrets and that everybody may read; nothing on Windows. */
export function exposedFiles(config: GateConfig): readonly string[] {
  const files = [
    ...config.config_path !== null && holdsSecrets(config) ? [{ path: config.config_path, what: "secrets" }] : [],
    ...config.server.tls === null ? [] : [{ path: config.server.tls.key_path, what: "a private key" }],
  ];
  return files.filter(({ path }) => isReadByAll(path))
    .map(({ path, what }) =>
      `${path} holds ${what}, and everybody on this machine may read it: chmod o= keeps them out`
    );
}

/** Whether a secret stands in the file itself. */
function holdsSecrets({ server, namespace, providers }: GateConfig): boolean {
  return (server.auth?.bearer_tokens.length ?? 0) > 0 || (namespace.authority.ledger?.auth_token ?? null) !== null ||
    providers.some(hasCredentials);
}

function hasCredentials(entry: ProviderConfig): boolean {
  if (entry.type !== "builtin") return (entry.auth?.bearer_token ?? null) !== null;
  if (entry.name !== "rest" || entry.config.auth === null) return false;
  const { api_key_value, basic_password, bearer_token } = entry.config.auth;
  return [api_key_value, basic_password, bearer_token].some((value) =>
    value !== null && referencedVariable(value) === null
  );
}

function isReadByAll(path: string): boolean {
  try {
    const { mode } = Deno.statSync(path);
    return mode !== null && (mode & 0o004) !== 0;
  } catch {
    // What cannot be looked at is told by those who need it.
    return false;
  }
}
