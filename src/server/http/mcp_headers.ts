/**
 * Compares the MCP header fields of a request with its message (MCP 2026-07-28, Streamable HTTP). The fast lane answers only
 * if they agree. The SDK judges all other requests, also those whose fields need decoding.
 *
 * @module
 */

import type { RequestHeaders } from "../auth/types.ts";
import type { FastPlan } from "../protocol/fast_lane.ts";
import { LEGACY_VERSIONS, MODERN_VERSION } from "../protocol/identity.ts";
import type { RequestMessage } from "../protocol/message.ts";

/** Whether the fields of a request agree with the plan of its message. */
export function fieldsAgree(headers: RequestHeaders, request: RequestMessage, plan: FastPlan): boolean {
  const version = headers.get("mcp-protocol-version");
  if (!isModern(plan)) return version === null || LEGACY_VERSIONS.includes(version);
  if (version !== MODERN_VERSION || headers.get("mcp-method") !== request.method) return false;
  return plan.answer !== "call" || (isPlain(plan.name) && headers.get("mcp-name") === plan.name);
}

function isModern(plan: FastPlan): boolean {
  return plan.answer === "discover" || ((plan.answer === "list" || plan.answer === "call") && plan.era === "modern");
}

/** Whether a header carries a name without encoding. */
function isPlain(name: string): boolean {
  return /^[A-Za-z0-9_.-]{1,128}$/.test(name);
}
