/** Rebuilds the state of a run from its law and records, to check a store. */

import { createHash } from "node:crypto";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identifyCanonical } from "../../canonical/identity.ts";
import { readJson } from "../../canonical/scan.ts";
import { graphIdentity } from "../../law/law.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { compileLaw } from "../../run/compile.ts";
import { fold } from "../../run/fold.ts";
import { asJson } from "../../run/primitives.ts";
import { readRecord } from "../../run/record.ts";
import type { RunState } from "../../run/types.ts";
import type { FoldedRecord } from "../../store/check/check_types.ts";

/** SHA-256 as lower-case hex. */
export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** Folds records under a law, both in canonical text; returns the state as canonical text. Throws if they do not fold. */
export function foldState(lawText: string, records: readonly FoldedRecord[]): string {
  // The caller has verified the identities, so the law and records have the shape of accepted ones.
  const law = readJson<ScenarioLaw>(lawText);
  const compiled = compileLaw(law, identifyCanonical(sha256, "scenario-law", lawText), graphIdentity(sha256, law));
  let state: RunState | null = null;
  for (const { record, record_id } of records) {
    state = fold(compiled, state, readRecord(record), record_id);
  }
  if (state === null) throw new RangeError("Cannot fold a run: it has no records");
  return canonicalize(asJson(state));
}
