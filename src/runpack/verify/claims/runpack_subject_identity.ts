/**
 * Claim 2: the pack is the requested one.
 *
 * @module
 */

import type { Identity } from "../../../canonical/identity.ts";
import { violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/**
 * Compares the identity of the manifest with the requested one.
 *
 * @param asked Null where the request accepts any pack
 */
export function checkSubject(found: Identity, asked: Identity | null): Violation | null {
  return asked === null || asked === found ? null : violation("identity_mismatch");
}
