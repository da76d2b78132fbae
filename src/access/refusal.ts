/**
 * Access decisions and their messages. A local caller reads which setting to change; a remote caller reads the same
 * text for every rule.
 */

import type { Principal } from "./types.ts";

/** Whether a caller may do something. `reason` is for the audit log, `message` for the caller. */
export type Decision =
  | { readonly allowed: true; readonly reason: string }
  | { readonly allowed: false; readonly reason: string; readonly message: string };

/** The text for remote callers about a namespace or the registry: different texts would disclose the rules. */
export const GENERIC_REFUSAL = "Cannot do this: the caller is not authorized";

/**
 * A denial with the text that fits the caller.
 *
 * @param principal The caller
 * @param reason Words for the audit log, joined by underscores
 * @param localMessage The text for a local caller; it names the setting to change
 */
export function denialFor(principal: Principal, reason: string, localMessage: string): Decision {
  const message = principal.authMethod === "local" ? localMessage : GENERIC_REFUSAL;
  return { allowed: false, reason, message };
}
