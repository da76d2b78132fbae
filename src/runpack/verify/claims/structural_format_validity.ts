/**
 * Claim 1: the manifest is readable and valid.
 *
 * @module
 */

import { decodeManifest } from "../../format/manifest.ts";
import type { Manifest } from "../../format/types.ts";
import { violation } from "../findings.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** The manifest, or its violation. */
export function constructManifest(bytes: Uint8Array | ViolationCode): Manifest | Violation {
  if (typeof bytes === "string") return violation(bytes);
  const decoded = decodeManifest(bytes);
  return decoded.ok ? decoded.manifest : violation(decoded.fault.code);
}
