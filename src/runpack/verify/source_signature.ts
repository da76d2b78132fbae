/**
 * Whether a key signed evidence at its source: as an evidence statement, or as the bare hash of its value. Where the
 * value is absent, its recorded hashes decide.
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { contentHash } from "../../canonical/identity.ts";
import { isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { sourceForms } from "../../run/acquired.ts";
import type { PresentedEvidence } from "../../run/evidence.ts";
import { asJson, type Primitives } from "../../run/primitives.ts";
import type { TrustedKey } from "../../run/profile.ts";
import { hasBoundSignature } from "../../run/statement.ts";
import type { RecordedEvidence } from "../../run/types.ts";
import { sameJson } from "../format/canonical_text.ts";
import { contentHash as contentHashShape, matches } from "../../canonical/shape.ts";
import { presentRecorded } from "./decide_again.ts";
import type { AttemptEnvironment } from "./requalify.ts";
import { isValue, type StepItem } from "./step.ts";

/** The finding about a signature; `open` where only the absent value could decide. */
export type SignatureFinding = "signed" | "unsigned" | "open";

/** The identity and the hash of a value in the result of a provider. */
function givenNames(item: RecordedEvidence): { readonly identity?: string; readonly hash?: JsonValue } {
  const value = item.acquisition === undefined ? undefined : member(item.acquisition.provider_result, "value");
  if (!isJsonObject(value)) return {};
  const identity = member(value, "value_identity");
  const hash = member(value, "content_hash");
  return {
    ...typeof identity === "string" ? { identity } : {},
    ...matches(contentHashShape, hash) && hash !== undefined ? { hash } : {},
  };
}

/** The hashes that a source may have signed, and whether the list is complete. */
interface BareHashes {
  readonly hashes: readonly JsonValue[];
  readonly complete: boolean;
}

/**
 * A present value has known forms. For an absent value, the item holds the hash of its final form. A Decimal or a
 * Digest may have had one other form, whose hash is in the result of the provider if it differs.
 */
function bareHashes({ sha256 }: Primitives, { item, value }: StepItem): BareHashes {
  if (isValue(value)) {
    const hashes = sourceForms(value).map((form) => asJson(contentHash(sha256, canonicalize(form))));
    return { hashes, complete: true };
  }
  const own = item.content_hash === undefined ? [] : [asJson(item.content_hash)];
  const { hash } = givenNames(item);
  // An error of gate leaves no other hash of its value.
  if (value === null) return { hashes: hash === undefined ? own : [...own, hash], complete: true };
  if (item.value_type !== "Decimal" && item.value_type !== "Digest") return { hashes: own, complete: true };
  const other = hash !== undefined && !own.some((one) => sameJson(one, hash));
  return { hashes: other ? [...own, hash] : own, complete: other };
}

/** Whether a key signed the bare hash of an item's value. */
export function findBareSignature(primitives: Primitives, key: TrustedKey, one: StepItem): SignatureFinding {
  const publicKey = decodeBase64(key.public_key);
  const signature = decodeBase64(one.item.signature?.signature ?? "");
  if (publicKey?.length !== 32 || signature?.length !== 64) return "unsigned";
  const { hashes, complete } = bareHashes(primitives, one);
  if (hashes.some((hash) => primitives.verifyEd25519(publicKey, canonicalize(hash), signature))) return "signed";
  return complete ? "unsigned" : "open";
}

/** Whether an item has a signature by one of the keys that its provider must sign with. */
export function findSourceSignature(
  { primitives, law, attempt }: AttemptEnvironment,
  trusted: readonly TrustedKey[],
  one: StepItem,
): SignatureFinding {
  const { item } = one;
  // The first of two keys with one id is the one that the provider must sign with.
  const key = trusted.find(({ key_id }) => key_id === item.signature?.key_id);
  if (key === undefined) return "unsigned";
  const value_identity = item.value_identity ?? givenNames(item).identity;
  const named: PresentedEvidence = {
    ...presentRecorded(item, null),
    ...value_identity === undefined ? {} : { value_identity },
  };
  if (hasBoundSignature(primitives, new Map([[key.key_id, key]]), law, attempt, named)) return "signed";
  return findBareSignature(primitives, key, one);
}
