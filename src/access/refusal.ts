/**
 * What a refused caller reads: a local caller the setting to change, a remote one a text that is the same for every rule.
 *
 * @module
 */

import type { Principal } from "./types.ts";

/** Whether something may be done. `reason` is for the audit log, `message` for the caller. */
export type Decision =
  | { readonly allowed: true; readonly reason: string }
  | { readonly allowed: false; readonly reason: string; readonly message: string };

/** The text for remote callers about a namespace or the registry: one that differs by rule would disclose the rules. */
export const GENERIC_REFUSAL = "Cannot do this: the caller is not authorized";

/**
 * Refuses, with the text that fits the caller.
 *
 * @param principal Who is refused
 * @param reason One word or more for the audit log, joined by underscores
 * @param localMessage What a local caller is told; names the setting to change
 */
export function refuse(principal: Principal, reason: string, localMessage: string): Decision {
  const message = principal.authMethod === "local" ? localMessage : GENERIC_REFUSAL;
  return { allowed: false, reason, message };
}
