/**
 * Finds evidence that can never count under the operator's trust settings, and evidence that counts only with a
 * signature. It follows from settings, contract and law alone, before any query.
 */

import { needsSignature } from "../../law/lint.ts";
import type { AcquisitionBinding, Condition } from "../../law/types.ts";
import { providerTrust } from "../../run/acquired.ts";
import { type OperatorProfile, trustedKeys } from "../../run/profile.ts";
import type { Provider } from "../types.ts";

/** A reason why results do not count: `never` applies to every result, `owed` to unsigned results only. */
export interface TrustObstacle {
  readonly kind: "never" | "owed";
  readonly message: string;
}

type ProviderFacts = Pick<Provider, "provider_id" | "kind" | "loaded">;

function quoted(names: readonly string[]): string {
  return names.map((name) => JSON.stringify(name)).join(", ");
}

function anchorTypes({ loaded }: ProviderFacts, checkId: string | null): readonly string[] {
  const checks = loaded.contract.checks.filter(({ check_id }) => checkId === null || check_id === checkId);
  return checks.flatMap(({ anchor_types }) => anchor_types);
}

/** The obstacle of the signature policy: no built-in provider signs. */
function signatureObstacle(profile: OperatorProfile, { provider_id, kind }: ProviderFacts): TrustObstacle | null {
  const channel = kind === "builtin" ? "local_acquisition" : "provider_acquisition";
  const trust = providerTrust(profile, provider_id, channel);
  if (trust === "audit") return null;
  const name = JSON.stringify(provider_id);
  if (kind === "builtin") {
    return { kind: "never", message: `provider ${name} has to sign its results, and no built-in provider signs` };
  }
  const keys = quoted(trust.require_signature.keys.map(({ key_id }) => key_id));
  const message =
    `provider ${name} has to sign its results with one of the keys ${keys}; one without is signature_invalid`;
  return { kind: "owed", message };
}

/** The obstacle of the anchors policy: no check, or not the named one, gives an accepted anchor. */
function anchorObstacle(
  profile: OperatorProfile,
  provider: ProviderFacts,
  checkId: string | null,
): TrustObstacle | null {
  const { provider_id } = provider;
  const asked = profile.anchors.filter((one) => one.provider_id === provider_id).map(({ anchor_type }) => anchor_type);
  const given = anchorTypes(provider, checkId);
  if (asked.length === 0 || asked.some((type) => given.includes(type))) return null;
  const what = checkId === null ? "no check of it gives one" : `check ${JSON.stringify(checkId)} gives none`;
  const message = `provider ${JSON.stringify(provider_id)} has to anchor its results with ${
    quoted(asked)
  }, and ${what}`;
  return { kind: "never", message };
}

/** The obstacles of a provider's results under any law. */
export function obstaclesOfProvider(profile: OperatorProfile, provider: ProviderFacts): TrustObstacle[] {
  return [signatureObstacle(profile, provider), anchorObstacle(profile, provider, null)].filter((one) => one !== null);
}

/** The obstacle of a law that requires what the provider cannot give. */
function lawObstacle(
  profile: OperatorProfile,
  provider: ProviderFacts,
  { check_id }: AcquisitionBinding,
  { predicate, evidence_use_policy: policy }: Condition,
): TrustObstacle | null {
  const { provider_id, kind } = provider;
  const name = JSON.stringify(provider_id);
  if (needsSignature(policy) && kind === "builtin") {
    return {
      kind: "never",
      message: `the condition asks for a signature, and the built-in provider ${name} does not sign`,
    };
  }
  const asksAnchor = policy.integrity === "anchored_content" || policy.required_assurance.includes("source_anchor");
  const given = anchorTypes(provider, check_id);
  const isKnown = profile.anchors.some((one) => one.provider_id === provider_id && given.includes(one.anchor_type));
  if (asksAnchor && !isKnown) {
    const message = `the condition asks for an anchor, and anchors.providers has none of provider ${name} that check ` +
      `${JSON.stringify(check_id)} gives`;
    return { kind: "never", message };
  }
  const owed = signatureObstacle(profile, provider);
  if (predicate.predicate === "NotExists" && owed !== null) {
    const message =
      `the condition holds where nothing is found, and provider ${name} has to sign: nothing cannot be signed`;
    return { kind: "never", message };
  }
  return null;
}

/** The obstacles of a binding's evidence: those of kind `never` alone if there are any. */
export function obstaclesOfBinding(
  profile: OperatorProfile,
  provider: ProviderFacts,
  binding: AcquisitionBinding,
  condition: Condition,
): TrustObstacle[] {
  const found = [
    lawObstacle(profile, provider, binding, condition),
    anchorObstacle(profile, provider, binding.check_id),
    signatureObstacle(profile, provider),
  ].filter((one) => one !== null);
  const never = found.filter(({ kind }) => kind === "never");
  return never.length > 0 ? never : found;
}

/** A reason about keys: `never` applies to all evidence of a condition, `some` to evidence by some authorized keys. */
export interface KeyObstacle {
  readonly kind: "never" | "some";
  readonly message: string;
}

/** Why signed evidence for a condition does not count under the keys that the configuration trusts, or null. */
export function keyObstacle(
  profile: OperatorProfile,
  { evidence_use_policy: policy }: Condition,
): KeyObstacle | null {
  if (!needsSignature(policy)) return null;
  const trusted = trustedKeys(profile);
  const pinned = policy.authorized_public_keys;
  if (pinned !== undefined) {
    // The law says who an id is, so its keys count wherever the configuration has no other under the id.
    const other = Object.entries(pinned).flatMap(([id, key]) =>
      (trusted.get(id)?.public_key ?? key) === key ? [] : [id]
    );
    if (other.length === 0) return null;
    const message = `pins the keys of ${
      quoted(other)
    }, and the configuration trusts other keys under these ids, so no run starts`;
    return { kind: "never", message };
  }
  if (trusted.size === 0) {
    return { kind: "never", message: "requires a signature, and the configuration trusts no key" };
  }
  const authorized = policy.authorized_key_ids ?? [];
  const untrusted = authorized.filter((key_id) => !trusted.has(key_id));
  if (untrusted.length === 0) return null;
  if (untrusted.length < authorized.length) {
    const message = `authorizes ${quoted(authorized)}, and the configuration does not trust ${quoted(untrusted)}`;
    return { kind: "some", message };
  }
  const keys = quoted(authorized);
  const message = `requires a signature by one of the keys ${keys}, and the configuration trusts none of them`;
  return { kind: "never", message };
}
