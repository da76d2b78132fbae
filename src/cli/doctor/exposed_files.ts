/**
 * Files with secrets that others on the machine may read.
 *
 * @module
 */

import { dirname } from "node:path";
import { referencedVariable } from "../../config/request_headers.ts";
import type { GateConfig, ProviderConfig } from "../../config/types.ts";

/** The mode of a file or folder; null where there are none, as on Windows. */
type ModeOf = (path: string) => number | null;

/**
 * What is to be said of each file of a configuration that holds secrets and that everybody may read; nothing on Windows.
 *
 * @param modeOf For tests
 */
export function exposedFiles(config: GateConfig, modeOf: ModeOf = modeAt): readonly string[] {
  const files = [
    ...config.config_path !== null && holdsSecrets(config) ? [{ path: config.config_path, what: "secrets" }] : [],
    ...config.server.tls === null ? [] : [{ path: config.server.tls.key_path, what: "a private key" }],
  ];
  return files.filter(({ path }) => isReadByAll(path, modeOf))
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

/** Whether the mode of a file lets everybody read it, and no folder above it keeps them out. */
function isReadByAll(path: string, modeOf: ModeOf): boolean {
  try {
    const file = Deno.realPathSync(path);
    const mode = modeOf(file);
    return mode !== null && (mode & 0o004) !== 0 && foldersAbove(file).every((folder) => isPassedByAll(folder, modeOf));
  } catch {
    // What cannot be looked at is told by those who need it.
    return false;
  }
}

/** A folder that this process may not look at is none that is known to keep others out. */
function isPassedByAll(folder: string, modeOf: ModeOf): boolean {
  try {
    return ((modeOf(folder) ?? 0) & 0o001) !== 0;
  } catch {
    return true;
  }
}

function foldersAbove(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
}

function modeAt(path: string): number | null {
  return Deno.statSync(path).mode;
}
