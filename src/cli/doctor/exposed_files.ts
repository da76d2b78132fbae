import { dirname } from "node:path";
import { isLiteralToken } from "../../config/bearer_tokens.ts";
import { referencedVariable } from "../../config/request_headers.ts";
import type { GateConfig, ProviderConfig } from "../../config/types.ts";

/** Returns the mode of a file or folder; null on systems without modes, such as Windows. */
type ModeOf = (path: string) => number | null;

/**
 * Warns of each file with secrets of a configuration that every user can read; empty on Windows.
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
      `${path} holds ${what}, and every user of this machine can read it: chmod o= restricts access`
    );
}

/** Whether the configuration file itself contains a secret. */
function holdsSecrets({ server, namespace, providers }: GateConfig): boolean {
  return (server.auth?.bearer_tokens.some(isLiteralToken) ?? false) ||
    (namespace.authority.ledger?.auth_token ?? null) !== null ||
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

/** Whether every user can read a file: by its mode, and through every folder above it. */
function isReadByAll(path: string, modeOf: ModeOf): boolean {
  try {
    const file = Deno.realPathSync(path);
    const mode = modeOf(file);
    return mode !== null && (mode & 0o004) !== 0 && foldersAbove(file).every((folder) => isPassedByAll(folder, modeOf));
  } catch {
    // Other checks report files that do not exist or cannot be read.
    return false;
  }
}

/** Whether every user can pass a folder; true for a folder that this process cannot read. */
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
