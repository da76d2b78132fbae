/** The functions that a host passes to the pure kernel: hashing and signature checks. */

import type { Sha256 } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";

/**
 * Strict Ed25519 (RFC 8032): a key of 32 bytes, a signature of 64 bytes. Returns false for anything that does not
 * verify.
 */
export type VerifyEd25519 = (publicKey: Uint8Array, message: string, signature: Uint8Array) => boolean;

/** Functions of the host. Each is deterministic. */
export interface Primitives {
  readonly sha256: Sha256;
  readonly verifyEd25519: VerifyEd25519;
}

/**
 * A record, state or statement as a JSON value. Their types have exactly the members of their JSON form and hold JSON
 * values only; the compiler cannot see that in an interface.
 */
export function asJson(value: object): JsonValue {
  return value as JsonValue;
}
