/**
 * Claim 1: the manifest can be read, and is one.
 *
 * @module
 */

import { decodeManifest } from "../../format/manifest.ts";
import type { Manifest } from "../../format/types.ts";
import { violation } from "../findings.ts";
import type { Violation, ViolationCode } from "../types.ts";

/** The manifest, or what is wrong with it. */
export function constructManifest(bytes: Uint8Array | ViolationCode): Manifest | Violation {
  if (typeof bytes === "string") return violation(bytes);
  const decoded = decodeManifest(bytes);
  return decoded.ok ? decoded.manifest : violation(decoded.fault.code);
}
