/**
 * Claim 3: every object that the manifest leads to is present and matches its reference, and the pack holds no other
 * object.
 *
 * @module
 */

import { MaterialEnd, type Reading } from "../object_reader.ts";
import { type MaterialPart, walkMaterial, type WalkPurpose } from "../object_walker.ts";
import type { Manifest } from "../../format/types.ts";
import type { Violation } from "../types.ts";

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
