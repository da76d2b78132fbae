/**
 * Claim 2: the pack is the one that was asked for.
 *
 * @module
 */

import type { Identity } from "../../../canonical/identity.ts";
import { violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/**
 * Compares the identity over the bytes that were read with the one that was asked for.
 *
 * @param asked Null where any pack will do
 */
export function checkSubject(found: Identity, asked: Identity | null): Violation | null {
  return asked === null || asked === found ? null : violation("identity_mismatch");
}
