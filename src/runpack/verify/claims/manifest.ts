/** The claims that the material alone decides: the manifest, its identity, and the objects that it leads to. */

import type { Identity } from "../../../canonical/identity.ts";
import { decodeManifest } from "../../format/manifest.ts";
import type { Manifest } from "../../format/types.ts";
import { violation } from "../findings.ts";
import { MaterialEnd, type Reading } from "../object_reader.ts";
import { type MaterialPart, walkMaterial, type WalkPurpose } from "../object_walker.ts";
import type { ViolationCode } from "../claims.ts";
import type { Violation } from "../types.ts";

/** The manifest, or its violation. */
export function constructManifest(bytes: Uint8Array | ViolationCode): Manifest | Violation {
  if (typeof bytes === "string") return violation(bytes);
  const decoded = decodeManifest(bytes);
  return decoded.ok ? decoded.manifest : violation(decoded.fault.code);
}

/**
 * Compares the identity of the manifest with the requested one.
 *
 * @param asked Null where the request accepts any pack
 */
export function checkSubject(found: Identity, asked: Identity | null): Violation | null {
  return asked === null || asked === found ? null : violation("identity_mismatch");
}

/** The end of a traversal. */
export type Traversal = "whole" | "budget_exhausted" | Violation;

/** Traverses the tree in reading order up to the first contradiction, and passes each part on. */
export async function traverseTree(
  reading: Reading,
  manifest: Manifest,
  purpose: WalkPurpose,
  onPart: (part: MaterialPart) => Promise<void>,
): Promise<Traversal> {
  try {
    for await (const part of walkMaterial(reading, manifest, purpose)) await onPart(part);
    return "whole";
  } catch (error) {
    if (error instanceof MaterialEnd) return error.violation ?? "budget_exhausted";
    throw error;
  }
}
