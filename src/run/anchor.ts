/** The anchors policy: which fields the value of an anchor must have (docs/guide/trust.md, "Anchors"). */

import { isJsonObject, type JsonObject, member } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { AnchorRequirement } from "./profile.ts";
import type { EvidenceAnchor } from "./types.ts";

/** The object whose JSON text is the anchor's value; null if the value is not the text of an object. */
export function anchorFields({ anchor_value }: EvidenceAnchor): JsonObject | null {
  const parsed = parseJson(anchor_value);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

function hasFields(fields: JsonObject, { required_fields }: AnchorRequirement): boolean {
  return required_fields.every((field) => {
    const value = member(fields, field);
    return typeof value === "string" || typeof value === "number";
  });
}

/**
 * Whether an item's anchor meets a requirement for its anchor type. An acquired item needs a requirement of its own
 * provider; for an item of a caller any provider's will do. Without a requirement no anchor counts, since its fields
 * are unknown.
 */
export function anchorCounts(
  anchor: EvidenceAnchor | undefined,
  providerId: string | undefined,
  requirements: readonly AnchorRequirement[],
): boolean {
  if (anchor === undefined) return false;
  const asked = requirements.filter(({ provider_id, anchor_type }) =>
    (providerId === undefined || provider_id === providerId) && anchor_type === anchor.anchor_type
  );
  // The text is parsed once for all requirements.
  const fields = asked.length === 0 ? null : anchorFields(anchor);
  return fields !== null && asked.some((requirement) => hasFields(fields, requirement));
}
