/**
 * Reading what is offered besides tools: documents, prompts, completions. It is decided and written to the audit log as a
 * call of a tool that is about no namespace.
 *
 * @module
 */

import { checkRole } from "../access/roles.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { Call, ToolAnswer } from "../tools/types.ts";
import type { CallAudit } from "./audit/call_audit.ts";
import { type EdgeError, unauthorized } from "./edge_error.ts";

/** What somebody wants to read. */
export interface Consultation<Found> {
  /** The method of the protocol that asks for it. */
  readonly method: string;
  /** Its names, for the audit log: `uri`, `prompt`. */
  readonly names: JsonObject;
  readonly read: () => Promise<Consulted<Found>> | Consulted<Found>;
}

/** What was read, or why it was not. */
export type Consulted<Found> =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly error: EdgeError };

/** The methods belong to no group of tools but that of reading. */
const GROUP = "Read";

/**
 * Lets a caller read, or says why not.
 *
 * @param rolesInForce Whether `server.auth.principals` has any entry
 */
export async function consult<Found>(
  rolesInForce: boolean,
  { method, read }: Consultation<Found>,
  call: Call,
  audit: CallAudit,
): Promise<Consulted<Found>> {
  const decision = checkRole(rolesInForce, call.principal, { group: GROUP, tool: method, namespaceId: null });
  if (decision !== null) {
    const { allowed, reason } = decision;
    audit.witness.decided({ decision: "role", allowed, reason, namespace_id: null });
    if (!decision.allowed) {
      const error = unauthorized(decision.message, call.principal);
      audit.stopped(error, "role_refused");
      return { ok: false, error };
    }
  }
  const consulted = await read();
  await audit.answered(consulted.ok ? READ : refusal(consulted.error));
  return consulted;
}

const READ: ToolAnswer = { ok: true, result: {} };

function refusal({ kind, message }: EdgeError): ToolAnswer {
  return { ok: false, error: { code: kind, kind: "invalid_request", message, retryable: false } };
}
