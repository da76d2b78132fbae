/** The members of a configuration that are paths, and their resolution. */

import { isAbsolute, resolve } from "node:path";
import type { SettingPath } from "./problems.ts";
import { isTable, membersAt } from "./toml_tree.ts";
import type { GateSettings, ProviderConfig, TrustPolicy } from "./types.ts";

/** The folder of the keys of people beside a configuration that names none. */
export const KEYS_FOLDER = "evidence-keys";

/** The members that hold a path, without those of keys; `*` stands for every index. */
const RESOLVED_MEMBERS: readonly SettingPath[] = [
  ["docs", "extra_paths", "*"],
  ["providers", "*", "capabilities_path"],
  ["providers", "*", "runtime_profile_path"],
  ["run_state_store", "path"],
  ["run_state_store", "tls_ca_path"],
  ["schema_registry", "path"],
  ["schema_registry", "tls_ca_path"],
  ["server", "audit", "path"],
  ["server", "state_keys", "*"],
  ["server", "tls", "cert_path"],
  ["server", "tls", "client_ca_path"],
  ["server", "tls", "key_path"],
  ["trust", "evidence_keys"],
];

/** The members that hold a path. */
const PATH_MEMBERS: readonly SettingPath[] = [
  ...RESOLVED_MEMBERS,
  ["providers", "*", "config", "root"],
  ["providers", "*", "trust", "require_signature", "keys", "*"],
  ["trust", "default_policy", "require_signature", "keys", "*"],
];

/** The absolute path; the folder of the configuration is the base of a relative path. */
export function resolvePath(baseDir: string, path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(baseDir, path);
}

/**
 * The settings with absolute paths. Signature keys stay as they are written, because the path as written is the key's
 * id. To open a key, resolve it with {@link resolvePath}.
 */
export function resolveSettings(settings: GateSettings, baseDir: string): GateSettings {
  const absolute = (path: string): string => resolvePath(baseDir, path);
  const resolved = RESOLVED_MEMBERS.reduce<unknown>(
    (tree, pattern) => withTextsAt(tree, pattern, absolute),
    settings,
  ) as GateSettings;
  return { ...resolved, providers: resolved.providers.map((provider) => resolveProvider(provider, absolute)) };
}

/** A copy of a tree with the texts at a pattern changed. */
function withTextsAt(node: unknown, [segment, ...rest]: SettingPath, change: (text: string) => string): unknown {
  if (segment === undefined) return typeof node === "string" ? change(node) : node;
  if (Array.isArray(node)) return node.map((item) => withTextsAt(item, rest, change));
  return isTable(node) ? { ...node, [segment]: withTextsAt(node[segment], rest, change) } : node;
}

function resolveProvider(provider: ProviderConfig, absolute: (path: string) => string): ProviderConfig {
  const [program, ...rest] = provider.command;
  const command = program === undefined ? [] : [/^\.\.?[/\\]/.test(program) ? absolute(program) : program, ...rest];
  if (provider.type === "builtin" && provider.name === "json") {
    return { ...provider, command, config: { ...provider.config, root: absolute(provider.config.root) } };
  }
  return { ...provider, command };
}

/** The files of the keys that a policy trusts, each with its id: the path as written. */
export function trustedKeyFiles(policy: TrustPolicy, baseDir: string): readonly { key_id: string; path: string }[] {
  if (policy === "audit") return [];
  return policy.require_signature.keys.map((key) => ({ key_id: key, path: resolvePath(baseDir, key) }));
}

/** Every member of a raw tree that holds a path, with its position. */
export function pathMembers(tree: unknown): readonly { at: SettingPath; value: string }[] {
  return PATH_MEMBERS.flatMap((pattern) =>
    membersAt(tree, pattern).flatMap(({ at, value }) => typeof value === "string" ? [{ at, value }] : [])
  );
}
