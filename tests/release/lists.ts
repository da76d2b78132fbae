/**
 * Writes the two lists of a release folder, which `gate release verify` reads.
 *
 * @module
 */

import { canonicalize } from "../../src/canonical/canonicalize.ts";
import type { JsonObject } from "../../src/canonical/json.ts";
import { compareCodePoints } from "../../src/canonical/order.ts";
import { STATEMENT_TYPE } from "../../src/runpack/format/dsse.ts";
import { type Digests, PROVENANCE_TYPE } from "../../src/runpack/format/release_provenance.ts";

/** The text of `SHA256SUMS`, sorted by name. */
export function encodeSums(digests: Digests): string {
  const lines = [...digests].sort(([a], [b]) => compareCodePoints(a, b)).map(([name, digest]) =>
    `${digest}  ${name}\n`
  );
  return lines.join("");
}

/** The in-toto statement of a release, in canonical JSON. */
export function encodeProvenance(digests: Digests, predicate: JsonObject): string {
  const subject = [...digests].sort(([a], [b]) => compareCodePoints(a, b))
    .map(([name, sha256]) => ({ name, digest: { sha256 } }));
  return canonicalize({ _type: STATEMENT_TYPE, subject, predicateType: PROVENANCE_TYPE, predicate });
}
