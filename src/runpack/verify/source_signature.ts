/**
 * Whether a key signed what a source said: as an evidence statement, or as the bare hash of its value. Where the value is
 * absent, its names are what is left to answer by.
 *
 * @module
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

/** What a signature is found to be; `open` where only the absent value could show it. */
export type SignatureFinding = "signed" | "unsigned" | "open";

/** The names of a value that a provider's result carries. */
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

/** The hashes that a source may have signed, and whether there can be no other. */
interface BareHashes {
  readonly hashes: readonly JsonValue[];
  readonly complete: boolean;
}

/**
 * A value that is there has its forms. Of one that is absent the item has the hash as it stands. A Decimal or a Digest may
 * have been given in one other form, whose hash only the provider's result has: it is there if it is another hash.
 */
function bareHashes({ sha256 }: Primitives, { item, value }: StepItem): BareHashes {
  if (isValue(value)) {
    const hashes = sourceForms(value).map((form) => asJson(contentHash(sha256, canonicalize(form))));
    return { hashes, complete: true };
  }
  const own = item.content_hash === undefined ? [] : [asJson(item.content_hash)];
  const { hash } = givenNames(item);
  // A value that was lost to an error of gate's own has left no other name.
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

/** Whether an item has the signature that its provider owes, by one of the keys that it has to sign with. */
export function findSourceSignature(
  { primitives, law, attempt }: AttemptEnvironment,
  trusted: readonly TrustedKey[],
  one: StepItem,
): SignatureFinding {
  const { item } = one;
  // Of two keys with one id the first is the one that the provider has to sign with.
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
