/**
 * Claim 9: the manifest's head is the last record.
 *
 * @module
 */

import type { Head } from "../../../run/types.ts";
import type { Manifest } from "../../format/types.ts";
import { violation } from "../findings.ts";
import type { Violation } from "../types.ts";

/** Compares the last record with the manifest's head. */
export function checkHead(last: Head, { head }: Manifest): Violation | null {
  return last.record_id === head.record_id && last.revision === head.revision ? null : violation("head_mismatch");
}
