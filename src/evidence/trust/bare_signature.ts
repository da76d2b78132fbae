/**
 * A provider's signature over the bare hash of its value. It covers the value only, not a run, stage or condition.
 *
 * @module
 */

import { decodeBase64 } from "../../canonical/base64.ts";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { asJson } from "../../run/primitives.ts";
import type { TrustedKey } from "../../run/profile.ts";
import type { ContentHash, EvidenceSignature } from "../../run/types.ts";
import { verifyEd25519 } from "../host_primitives.ts";

/** Whether a trusted key signed the canonical bytes of `{algorithm, value}`. */
export function signsBareHash(
  trusted: readonly TrustedKey[],
  hash: ContentHash,
  signature: EvidenceSignature | null,
): boolean {
  const key = trusted.find(({ key_id }) => key_id === signature?.key_id);
  const publicKey = key === undefined ? null : decodeBase64(key.public_key);
  const bytes = signature === null ? null : decodeBase64(signature.signature);
  if (publicKey === null || bytes === null) return false;
  return verifyEd25519(publicKey, canonicalize(asJson(hash)), bytes);
}
