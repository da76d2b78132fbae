/**
 * The anchors policy: what an anchor must carry to count as one (older service: "anchor policy", decisions.md 3).
 *
 * @module
 */

import { isJsonObject, member } from "../canonical/json.ts";
import { parseJson } from "../canonical/scan.ts";
import type { AnchorRequirement } from "./profile.ts";
import type { EvidenceAnchor } from "./types.ts";

/** Whether an anchor's value is a JSON object that holds every required field as a string or a number. */
export function anchorMeets(anchor: EvidenceAnchor, requirement: AnchorRequirement): boolean {
  if (anchor.anchor_type !== requirement.anchor_type) return false;
  const parsed = parseJson(anchor.anchor_value);
  if (!parsed.ok || !isJsonObject(parsed.value)) return false;
  const object = parsed.value;
  return requirement.required_fields.every((field) => {
    const value = member(object, field);
    return typeof value === "string" || typeof value === "number";
  });
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
  return requirements.some((requirement) =>
    (providerId === undefined || requirement.provider_id === providerId) && anchorMeets(anchor, requirement)
  );
}
