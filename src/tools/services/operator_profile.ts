/** Builds the operator profile of a configuration: the settings that decisions depend on, without secrets and paths. */

import { encodeBase64 } from "../../canonical/base64.ts";
import { compareCodePoints } from "../../canonical/order.ts";
import { trustedKeyFiles } from "../../config/paths.ts";
import { trustedKeyMembers } from "../../config/trusted_keys.ts";
import { ConfigError, type ConfigProblem, gatherProblems } from "../../config/problems.ts";
import type { GateConfig, PolicyRuleConfig, TrustPolicy as TrustPolicyConfig } from "../../config/types.ts";
import { parsePublicKey, PUBLIC_KEY_FILE_BYTES } from "../../evidence/trust/public_key.ts";
import type {
  DisclosurePolicy,
  DisclosureRule,
  OperatorProfile,
  TargetSelector,
  TrustedKey,
  TrustPolicy,
} from "../../run/profile.ts";

/** Most canonical bytes of one evidence value, before `server.max_body_bytes` lowers it. */
const MAXIMUM_VALUE_BYTES = 1024 * 1024;
/** Most bytes of one payload, before `server.max_body_bytes` lowers it. */
const MAXIMUM_PAYLOAD_BYTES = 2 * 1024 * 1024;
/** Node visits that one proof may count. */
const PROOF_BUDGET = 2 ** 20;

/** Reads a public key file; at most `maximumBytes` + 1 bytes are read. */
export type ReadKeyFile = (path: string, maximumBytes: number) => Promise<Uint8Array>;

/**
 * The Ed25519 public key of a key file: 32 raw bytes or their base64.
 *
 * @throws {Error} Where the file cannot be read or has neither form, so that start-up stops
 */
export async function readPublicKey(path: string, read: ReadKeyFile): Promise<Uint8Array> {
  const bytes = await read(path, PUBLIC_KEY_FILE_BYTES).catch((error) => {
    const why = error instanceof Deno.errors.NotFound
      ? "it does not exist"
      : error instanceof Error
      ? error.message
      : String(error);
    throw new Error(`Cannot read public key "${path}": ${why}`);
  });
  const key = parsePublicKey(bytes);
  if (key !== null) return key;
  throw new Error(`Cannot read public key "${path}": expected 32 raw bytes or their base64`);
}

/** The base64 of every public key of a configuration, or the error that reading it gave, by key id. */
export async function readTrustedKeys(
  config: GateConfig,
  read: ReadKeyFile,
): Promise<ReadonlyMap<string, string | Error>> {
  const files = new Map(trustedKeyMembers(config).map(({ key_id, path }) => [key_id, path]));
  return new Map(
    await Promise.all([...files].map(async ([key_id, path]): Promise<[string, string | Error]> => {
      try {
        return [key_id, encodeBase64(await readPublicKey(path, read))];
      } catch (error) {
        return [key_id, error as Error];
      }
    })),
  );
}

/** The keys that could be read. */
export function readableKeys(read: ReadonlyMap<string, string | Error>): ReadonlyMap<string, string> {
  return new Map([...read].flatMap(([key_id, found]) => typeof found === "string" ? [[key_id, found]] : []));
}

/** The trust policy at a member of the configuration, with its keys. */
async function trustPolicy(
  { config_path, base_dir }: GateConfig,
  member: string,
  policy: TrustPolicyConfig,
  read: ReadKeyFile,
): Promise<TrustPolicy> {
  if (policy === "audit") return "audit";
  const problems: ConfigProblem[] = [];
  const keys: { readonly key_id: string; readonly public_key: string }[] = [];
  for (const [index, { key_id, path }] of trustedKeyFiles(policy, base_dir).entries()) {
    try {
      keys.push({ key_id, public_key: encodeBase64(await readPublicKey(path, read)) });
    } catch (error) {
      problems.push({ path: `${member}.require_signature.keys[${index}]`, message: (error as Error).message });
    }
  }
  if (problems.length > 0) throw new ConfigError(config_path ?? "built-in defaults", problems);
  return { require_signature: { keys } };
}

/** The set members of a rule; absent, null and empty members have no effect. */
function disclosureRule(rule: PolicyRuleConfig): DisclosureRule {
  const set = Object.entries(rule).filter(([, value]) =>
    value !== null && !(Array.isArray(value) && value.length === 0)
  );
  const copy: Record<string, unknown> = Object.fromEntries(set);
  if (rule.targets.length > 0) {
    copy["targets"] = rule.targets.map((target) =>
      Object.fromEntries(Object.entries(target).filter(([, value]) => value !== null)) as TargetSelector
    );
  }
  return copy as unknown as DisclosureRule;
}

function disclosurePolicy({ policy }: GateConfig): DisclosurePolicy {
  if (policy.engine !== "static" || policy.static === null) {
    return { engine: policy.engine === "permit_all" ? "permit_all" : "deny_all" };
  }
  return { engine: "static", default: policy.static.default, rules: policy.static.rules.map(disclosureRule) };
}

/**
 * Builds the profile of a configuration. Key files are read now, so that an unreadable one stops start-up.
 *
 * @throws {ConfigError} Where a key file cannot be read or has no key
 *
 * @param permissive Whether the dev-permissive relaxation is in force now
 */
export async function operatorProfile(
  config: GateConfig,
  read: ReadKeyFile,
  permissive: boolean,
): Promise<OperatorProfile> {
  const body = config.server.max_body_bytes;
  const { attempt, settle } = gatherProblems();
  const policies = [];
  for (const [index, { name, trust }] of config.providers.entries()) {
    if (trust === null) continue;
    const policy = await attempt(() => trustPolicy(config, `providers[${index}].trust`, trust, read));
    if (policy !== null) policies.push({ provider_id: name, policy });
  }
  const default_policy = settle(
    await attempt(() => trustPolicy(config, "trust.default_policy", config.trust.default_policy, read)),
  );
  return {
    value_limits: {
      maximum_value_bytes: Math.min(MAXIMUM_VALUE_BYTES, body),
      maximum_payload_bytes: Math.min(MAXIMUM_PAYLOAD_BYTES, body),
    },
    validation: { ...config.validation },
    trust: {
      min_lane: config.trust.min_lane,
      default_policy,
      providers: policies.sort((a, b) => compareCodePoints(a.provider_id, b.provider_id)),
    },
    anchors: config.anchors.providers.map(({ provider_id, anchor_type, required_fields }) => ({
      provider_id,
      anchor_type,
      required_fields: [...new Set(required_fields)].sort(compareCodePoints),
    })).sort((a, b) => compareCodePoints(a.provider_id, b.provider_id)),
    permissive: { enabled: permissive, exempt_providers: [...config.dev.permissive_exempt_providers] },
    policy: disclosurePolicy(config),
    proof_budget: PROOF_BUDGET,
  };
}

/** A profile with the keys of people. */
export function withPeople(profile: OperatorProfile, people: readonly TrustedKey[]): OperatorProfile {
  if (people.length === 0) return profile;
  return { ...profile, evidence_keys: people.toSorted((a, b) => compareCodePoints(a.key_id, b.key_id)) };
}
