/**
 * Admits acquired evidence: sorts the items, and tests the signature or anchor that a provider owes. The kernel tests
 * them, so a replay repeats the test.
 */

import { decodeBase64 } from "../canonical/base64.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";
import { sortedBy } from "../canonical/order.ts";
import type { Channel } from "../law/types.ts";
import { decimalOfNumber } from "../law/value/decimal.ts";
import type { TypedValue } from "../law/value/types.ts";
import { anchorCounts } from "./anchor.ts";
import type { PresentedEvidence } from "./evidence.ts";
import { asJson, type Primitives } from "./primitives.ts";
import type { OperatorProfile, TrustedKey, TrustPolicy } from "./profile.ts";
import type { EvaluatedAttempt } from "./attempt.ts";
import type { QualificationEnvironment } from "./qualify.ts";
import { hasBoundSignature } from "./statement.ts";
import type { ContentHash, EvidenceAnchor, EvidenceSignature, ObservedError } from "./types.ts";

/**
 * The trust policy of a provider: its own setting, else the default. The default applies to external providers only.
 */
export function providerTrust(profile: OperatorProfile, providerId: string, channel: Channel): TrustPolicy {
  const own = profile.trust.providers.find(({ provider_id }) => provider_id === providerId);
  if (own !== undefined) return own.policy;
  return channel === "provider_acquisition" ? profile.trust.default_policy : "audit";
}

/**
 * The forms that a value may have had at its source, before it was read into its domain: a decimal as a number, a
 * digest as a hash object. A provider that signs the bare hash signs the hash of such a form.
 */
export function sourceForms({ value, value_type }: TypedValue): readonly JsonValue[] {
  if (value_type === "Digest") return [value, { algorithm: "sha256", value }];
  const number = value_type === "Decimal" ? Number(value) : NaN;
  return Number.isFinite(number) && decimalOfNumber(number) === value ? [value, number] : [value];
}

/**
 * Whether one of the trusted keys signed a provider's item. The signature is over the evidence statement, or over the
 * bare hash object `{algorithm, value}` of the value as its source had it.
 */
export function hasSourceSignature(
  environment: QualificationEnvironment,
  attempt: EvaluatedAttempt,
  trusted: readonly TrustedKey[],
  item: PresentedEvidence,
): boolean {
  const { signature, value } = item;
  const key = trusted.find(({ key_id }) => key_id === signature?.key_id);
  if (signature === undefined || key === undefined || value === null) return false;
  const { primitives, law } = environment;
  if (hasBoundSignature(primitives, new Map([[key.key_id, key]]), law, attempt, item)) return true;
  const hashes = sourceForms(value).map((form) => contentHash(primitives.sha256, canonicalize(form)));
  return signsBareHash(primitives, key, signature, hashes);
}

/** Whether a key signed the canonical bytes of one of the hash objects `{algorithm, value}`. */
export function signsBareHash(
  { verifyEd25519 }: Pick<Primitives, "verifyEd25519">,
  key: TrustedKey,
  signature: EvidenceSignature,
  hashes: readonly ContentHash[],
): boolean {
  const publicKey = decodeBase64(key.public_key);
  const bytes = decodeBase64(signature.signature);
  if (publicKey === null || bytes === null) return false;
  return hashes.some((hash) => verifyEd25519(publicKey, canonicalize(asJson(hash)), bytes));
}

/** The error of a result without the signature or the anchor that its provider owes; null where it has both. */
export function findTrustError(
  profile: OperatorProfile,
  provider_id: string,
  channel: Channel,
  anchor: EvidenceAnchor | undefined,
  isSigned: (trusted: readonly TrustedKey[]) => boolean,
): ObservedError | null {
  const trust = providerTrust(profile, provider_id, channel);
  if (trust !== "audit" && !isSigned(trust.require_signature.keys)) {
    const message = `Provider "${provider_id}" has to sign its results, and this one has no valid signature`;
    return { code: "signature_invalid", message };
  }
  const isAnchored = profile.anchors.every((one) => one.provider_id !== provider_id) ||
    anchorCounts(anchor, provider_id, profile.anchors);
  if (isAnchored) return null;
  const message =
    `Provider "${provider_id}" has to anchor its results, and this one has no anchor that its policy accepts`;
  return { code: "anchor_invalid", message };
}

function withError(item: PresentedEvidence, error: ObservedError): PresentedEvidence {
  const { value_identity: _identity, content_hash: _hash, schema_verdict: _verdict, ...rest } = item;
  return { ...rest, value: null, error };
}

function admitItem(
  environment: QualificationEnvironment,
  attempt: EvaluatedAttempt,
  item: PresentedEvidence,
  isSigned: typeof hasSourceSignature,
): PresentedEvidence {
  const { error, provider_id } = item;
  if (error !== undefined || provider_id === undefined) return item;
  const owed = findTrustError(
    environment.profile,
    provider_id,
    item.channel,
    item.anchor,
    (trusted) => isSigned(environment, attempt, trusted, item),
  );
  return owed === null ? item : withError(item, owed);
}

/**
 * Acquired items in item id order. An item without the signature or anchor that its provider owes becomes an observed
 * error, without a value.
 *
 * @param isSigned Whether an item has the signature that its provider owes
 * @throws {TypeError} If two items have one id, or the retention of an item differs from that of its condition. Both
 * are faults of the acquisition, not of the evidence.
 */
export function admitAcquired(
  environment: QualificationEnvironment,
  attempt: EvaluatedAttempt,
  items: readonly PresentedEvidence[],
  isSigned: typeof hasSourceSignature = hasSourceSignature,
): readonly PresentedEvidence[] {
  const sorted = sortedBy(items, ({ item_id }) => item_id);
  sorted.forEach((item, index) => {
    if (sorted[index + 1]?.item_id === item.item_id) {
      throw new TypeError(`Cannot admit evidence: item "${item.item_id}" was acquired twice`);
    }
    const condition = environment.law.conditionIndex.get(item.condition_id);
    if (condition !== undefined && condition.retention !== item.retention) {
      throw new TypeError(`Cannot admit evidence: item "${item.item_id}" has retention "${item.retention}"`);
    }
  });
  return sorted.map((item) => admitItem(environment, attempt, item, isSigned));
}
