/** The public keys that a configuration trusts. Each key has one id. */

import { trustedKeyFiles } from "./paths.ts";
import type { ConfigProblem } from "./problems.ts";
import type { GateConfig } from "./types.ts";

/** A member of a configuration that names a public key. */
export interface TrustedKeyMember {
  /** Such as `trust.default_policy.require_signature.keys[0]`. */
  readonly member: string;
  readonly key_id: string;
  /** The file, absolute. */
  readonly path: string;
}

/** Every member that names a public key, in the order of the configuration. */
export function trustedKeyMembers({ trust, providers, base_dir }: GateConfig): readonly TrustedKeyMember[] {
  const policies = [
    { at: "trust.default_policy", policy: trust.default_policy },
    ...providers.map((provider, index) => ({ at: `providers[${index}].trust`, policy: provider.trust ?? "audit" })),
  ];
  return policies.flatMap(({ at, policy }) =>
    trustedKeyFiles(policy, base_dir).map((file, index) => ({
      member: `${at}.require_signature.keys[${index}]`,
      ...file,
    }))
  );
}

/**
 * Reports different ids of one key: its holder could sign under each id, and two signatures would count. One id may
 * occur in several lists.
 *
 * @param publicKeys Base64 of the keys that could be read, by id
 */
export function repeatedKeys(config: GateConfig, publicKeys: ReadonlyMap<string, string>): readonly ConfigProblem[] {
  const idOf = new Map<string, string>();
  const problems = new Map<string, ConfigProblem>();
  for (const { member, key_id } of trustedKeyMembers(config)) {
    const publicKey = publicKeys.get(key_id);
    if (publicKey === undefined) continue;
    const first = idOf.get(publicKey) ?? key_id;
    idOf.set(publicKey, first);
    if (first === key_id || problems.has(key_id)) continue;
    const message = `"${key_id}" and "${first}" are the same public key: one key must have one id`;
    problems.set(key_id, { path: member, message });
  }
  return [...problems.values()];
}
