/**
 * The anchors policy: what an anchor must carry to count as one (docs/guide/trust.md, "Anchors").
 *
 * @module
 */

import { isJsonObject, type JsonObject, member } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { AnchorRequirement } from "./profile.ts";
import type { EvidenceAnchor } from "./types.ts";

/** The object that an anchor's value is the text of, or null. */
function fieldsOf({ anchor_value }: EvidenceAnchor): JsonObject | null {
  const parsed = parseJson(anchor_value);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}

function hasFields(fields: JsonObject, { required_fields }: AnchorRequirement): boolean {
  return required_fields.every((field) => {
    const value = member(fields, field);
    return typeof value === "string" || typeof value === "number";
  });
}

/** Whether an anchor's value is a JSON object that holds every required field as a string or a number. */
export function anchorMeets(anchor: EvidenceAnchor, requirement: AnchorRequirement): boolean {
  const fields = anchor.anchor_type === requirement.anchor_type ? fieldsOf(anchor) : null;
  return fields !== null && hasFields(fields, requirement);
}

/**
 * Whether an item's anchor meets the anchors policy: that of its provider, or for a caller's item one that is written for its
 * anchor type. Without a policy for it no anchor counts, since nothing says what it would have to carry.
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
  // Its text is read once, however many requirements there are.
  const fields = asked.length === 0 ? null : fieldsOf(anchor);
  return fields !== null && asked.some((requirement) => hasFields(fields, requirement));
}
