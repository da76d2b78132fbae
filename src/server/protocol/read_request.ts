/**
 * Reading what is offered besides tools: documents, prompts, completions. It is decided and written to the audit log as a
 * call of a tool that is about no namespace.
 *
 * @module
 */

import { checkRole } from "../../access/roles.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { Call, NamespaceList, ToolAnswer } from "../../tools/framework/types.ts";
import type { CallAudit } from "../audit/call_audit.ts";
import type { EdgeError } from "../process/edge_error.ts";

/** What somebody wants to read. */
export interface Consultation<Found> {
  /** The method of the protocol that asks for it. */
  readonly method: string;
  /** Its names, for the audit log: `uri`, `prompt`. */
  readonly names: JsonObject;
  readonly read: (reader: Reader) => Promise<Consulted<Found>> | Consulted<Found>;
}

/** Who reads. */
export interface Reader {
  readonly call: Call;
  /** The namespaces that it may use and whose number begins with a text. */
  readonly namespaces: (begun: string) => Promise<NamespaceList>;
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
  reader: Reader,
  audit: CallAudit,
): Promise<Consulted<Found>> {
  const { principal } = reader.call;
  const decision = checkRole(rolesInForce, principal, { group: GROUP, tool: method, namespaceId: null });
  if (decision !== null) {
    const { allowed, reason } = decision;
    audit.witness.decided({ decision: "role", allowed, reason, namespace_id: null });
    if (!decision.allowed) {
      const error: EdgeError = { kind: "unauthorized", message: decision.message };
      audit.stopped(error, "role_refused");
      return { ok: false, error };
    }
  }
  const consulted = await read(reader);
  await audit.answered(consulted.ok ? READ : refusal(consulted.error));
  return consulted;
}

const READ: ToolAnswer = { ok: true, result: {} };

function refusal({ kind, message }: EdgeError): ToolAnswer {
  return { ok: false, error: { code: kind, kind: "invalid_request", message, retryable: false } };
}
