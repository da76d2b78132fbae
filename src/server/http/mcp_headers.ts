/**
 * Whether the header fields of a request surely agree with its message (MCP 2026-07-28, Streamable HTTP): only then may
 * the fast lane answer. What does not agree, or needs decoding first, the SDK judges.
 *
 * @module
 */

import type { RequestHeaders } from "../auth/types.ts";
import type { FastPlan } from "../protocol/fast_lane.ts";
import { LEGACY_VERSIONS, MODERN_VERSION } from "../protocol/identity.ts";
import type { RequestMessage } from "../protocol/message.ts";

/** Whether the fields of a request surely allow what was planned from its message. */
export function fieldsAgree(headers: RequestHeaders, request: RequestMessage, plan: FastPlan): boolean {
  const version = headers.get("mcp-protocol-version");
  if (!isModern(plan)) return version === null || LEGACY_VERSIONS.includes(version);
  if (version !== MODERN_VERSION || headers.get("mcp-method") !== request.method) return false;
  return plan.answer !== "call" || (isPlain(plan.name) && headers.get("mcp-name") === plan.name);
}

function isModern(plan: FastPlan): boolean {
  return plan.answer === "discover" || ((plan.answer === "list" || plan.answer === "call") && plan.era === "modern");
}

/** Names that are written in a header as they are. */
function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(name);
}
