/**
 * Limits the answer to the opening of a stage: it has one intent, with the payload, for each packet and target.
 *
 * @module
 */

import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, type JsonValue } from "../canonical/json.ts";
import { utf8Length } from "../canonical/utf8.ts";
import type { DraftSpec } from "./decode_spec.ts";
import type { DraftStage } from "./decode_stage.ts";
import { SPEC_LIMITS } from "./limits.ts";
import { pathAt } from "../canonical/path.ts";
import type { Collector } from "./refusals.ts";

/** Bytes of an intent without the members of its packet. */
const INTENT_BYTES = 512;

/** Refuses stages whose opening would return more than {@link SPEC_LIMITS.openingBytes}: targets multiply payloads. */
export function checkOpenings(refusals: Collector, draft: DraftSpec): void {
  (draft.stages ?? []).forEach((stage, index) => {
    const bytes = openingBytes(stage);
    if (bytes <= SPEC_LIMITS.openingBytes) return;
    const message = `Expected packets of at most ${SPEC_LIMITS.openingBytes} bytes, each counted once a target, got ` +
      `${bytes}`;
    refusals.refuse("payload_too_large", pathAt("stages", index, "entry_packets"), message);
  });
}

/** The bytes of a stage's intents. A packet that could not be read has a refusal of its own. */
function openingBytes(stage: DraftStage): number {
  let bytes = 0;
  for (const { targets = [], ...packet } of stage.entry_packets ?? []) {
    const read = Object.fromEntries(Object.entries(packet).filter(([, value]) => value !== undefined));
    const shown = read as JsonValue;
    if (!isJsonObject(shown)) continue;
    bytes += (utf8Length(canonicalize(shown)) + INTENT_BYTES) * Math.max(1, targets.length);
  }
  return bytes;
}
