/** Hashes of payloads: those of submissions, entry packets and a declared genesis. */

import { decodeBase64 } from "../canonical/base64.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { contentHash, identifyCanonical, type Identity, type Sha256 } from "../canonical/identity.ts";
import { utf8Length } from "../canonical/utf8.ts";
import type { Payload } from "../law/types.ts";
import { asJson } from "./primitives.ts";
import type { ContentHash } from "./types.ts";

/** The expected form of `base64`, as a refusal names it. */
export const BASE64 = "RFC 4648 base64 with padding";

/** A payload with its hashes. */
export interface HashedPayload {
  /** Canonical text of the payload object. */
  readonly text: string;
  /** Identity of kind `payload` over `text`. */
  readonly identity: Identity;
  /** Plain SHA-256 of the canonical value or the decoded bytes; for an external reference the hash that it states. */
  readonly content_hash: ContentHash;
  /** Size that the limit applies to: canonical value, decoded bytes, or 0. */
  readonly bytes: number;
}

/**
 * Hashes a payload.
 *
 * @returns Null if `base64` is not canonical base64
 */
export function hashPayload(sha256: Sha256, payload: Payload): HashedPayload | null {
  switch (payload.kind) {
    case "json": {
      const value = canonicalize(payload.value);
      const text = `{"kind":"json","value":${value}}`;
      return named(sha256, text, contentHash(sha256, value), utf8Length(value));
    }
    case "bytes": {
      const bytes = decodeBase64(payload.base64);
      if (bytes === null) return null;
      const text = `{"base64":"${payload.base64}","kind":"bytes"}`;
      return named(sha256, text, contentHash(sha256, bytes), bytes.length);
    }
    case "external":
      return named(sha256, canonicalize(asJson(payload)), payload.content_ref.content_hash, 0);
  }
}

function named(
  sha256: Sha256,
  text: string,
  content_hash: ContentHash,
  bytes: number,
): HashedPayload {
  return { text, identity: identifyCanonical(sha256, "payload", text), content_hash, bytes };
}
