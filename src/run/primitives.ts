/**
 * What the pure kernel is handed: hashing and signature checks.
 *
 * @module
 */

import type { Sha256 } from "../canonical/identity.ts";
import type { JsonValue } from "../canonical/json.ts";

/** Strict RFC 8032 Ed25519: 32 bytes of key, 64 of signature; false for anything that does not verify. */
export type VerifyEd25519 = (publicKey: Uint8Array, message: string, signature: Uint8Array) => boolean;

/** Functions of the outside world that give the same answer everywhere and for ever. */
export interface Primitives {
  readonly sha256: Sha256;
  readonly verifyEd25519: VerifyEd25519;
}

/**
 * A record, state or statement as the JSON value it is. Their types have exactly the members of their JSON form and hold JSON
 * values only, which an interface cannot say to the compiler.
 */
export function asJson(value: object): JsonValue {
  return value as JsonValue;
}
