/**
 * The members of a configuration that are paths, and their resolution.
 *
 * @module
 */

import { isAbsolute, resolve } from "node:path";
import type { SettingPath } from "./problems.ts";
import { isTable } from "./toml_tree.ts";
import type { GateSettings, ProviderConfig, TrustPolicy } from "./types.ts";

/** The members that hold a path; `*` stands for every index. */
const PATH_MEMBERS: readonly SettingPath[] = [
  ["docs", "extra_paths", "*"],
  ["providers", "*", "capabilities_path"],
  ["providers", "*", "runtime_profile_path"],
  ["providers", "*", "config", "root"],
  ["providers", "*", "trust", "require_signature", "keys", "*"],
  ["run_state_store", "path"],
  ["run_state_store", "tls_ca_path"],
  ["schema_registry", "path"],
  ["schema_registry", "tls_ca_path"],
  ["server", "audit", "path"],
  ["server", "state_keys", "*"],
  ["server", "tls", "cert_path"],
  ["server", "tls", "client_ca_path"],
  ["server", "tls", "key_path"],
  ["trust", "default_policy", "require_signature", "keys", "*"],
];

/** The absolute path; the folder of the configuration is the base of a relative path. */
export function resolvePath(baseDir: string, path: string): string {
  return isAbsolute(path) ? resolve(path) : resolve(baseDir, path);
}

/**
 * The settings with absolute paths. Signature keys stay as they are written, because the path as written is the key's id.
 * To open a key, resolve it with {@link resolvePath}.
 */
export function resolveSettings(settings: GateSettings, baseDir: string): GateSettings {
  const absolute = (path: string): string => resolvePath(baseDir, path);
  const absoluteOrNull = (path: string | null): string | null => path === null ? null : absolute(path);
  const { docs, run_state_store, schema_registry, server } = settings;
  return {
    ...settings,
    docs: { ...docs, extra_paths: docs.extra_paths.map(absolute) },
    providers: settings.providers.map((provider) => resolveProvider(provider, absolute)),
    run_state_store: {
      ...run_state_store,
      path: absoluteOrNull(run_state_store.path),
      tls_ca_path: absoluteOrNull(run_state_store.tls_ca_path),
    },
    schema_registry: {
      ...schema_registry,
      path: absoluteOrNull(schema_registry.path),
      tls_ca_path: absoluteOrNull(schema_registry.tls_ca_path),
    },
    server: {
      ...server,
      audit: { ...server.audit, path: absoluteOrNull(server.audit.path) },
      state_keys: server.state_keys.map(absolute),
      tls: server.tls === null ? null : {
        ...server.tls,
        cert_path: absolute(server.tls.cert_path),
        key_path: absolute(server.tls.key_path),
        client_ca_path: absoluteOrNull(server.tls.client_ca_path),
      },
    },
  };
}

function resolveProvider(provider: ProviderConfig, absolute: (path: string) => string): ProviderConfig {
  const [program, ...rest] = provider.command;
  const common = {
    command: program === undefined ? [] : [/^\.\.?[/\\]/.test(program) ? absolute(program) : program, ...rest],
    capabilities_path: provider.capabilities_path === null ? null : absolute(provider.capabilities_path),
    runtime_profile_path: provider.runtime_profile_path === null ? null : absolute(provider.runtime_profile_path),
  };
  if (provider.type === "builtin" && provider.name === "json") {
    return { ...provider, ...common, config: { ...provider.config, root: absolute(provider.config.root) } };
  }
  return { ...provider, ...common };
}

/** The files of the keys that a policy trusts, each with its id: the path as written. */
export function trustedKeyFiles(policy: TrustPolicy, baseDir: string): readonly { key_id: string; path: string }[] {
  if (policy === "audit") return [];
  return policy.require_signature.keys.map((key) => ({ key_id: key, path: resolvePath(baseDir, key) }));
}

/** Every member of a raw tree that holds a path, with its position. */
export function pathMembers(tree: unknown): readonly { at: SettingPath; value: string }[] {
  return PATH_MEMBERS.flatMap((pattern) => matches(tree, pattern, []));
}

function matches(node: unknown, pattern: SettingPath, at: SettingPath): { at: SettingPath; value: string }[] {
  const [segment, ...rest] = pattern;
  if (segment === undefined) return typeof node === "string" ? [{ at, value: node }] : [];
  if (segment === "*") {
    return Array.isArray(node) ? node.flatMap((item, index) => matches(item, rest, [...at, index])) : [];
  }
  return isTable(node) && Object.hasOwn(node, segment) ? matches(node[segment], rest, [...at, segment]) : [];
}
