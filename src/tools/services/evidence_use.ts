/** Which calls submit evidence that waits. A role may grant these alone. */

import { type JsonObject, member } from "../../canonical/json.ts";
import { isEvidenceContentType } from "../../run/submitted_evidence.ts";

/** Whether a call submits evidence that waits. */
export function submitsEvidence(tool: string, input: JsonObject): boolean {
  const contentType = tool === "scenario_submit" ? member(input, "content_type") : undefined;
  return typeof contentType === "string" && isEvidenceContentType(contentType);
}
