/**
 * Reads documents, prompts and completions. A read is authorized and audited like a call of a tool without a namespace.
 */

import { checkRole, rolesInForce } from "../../access/roles.ts";
import type { JsonObject } from "../../canonical/json.ts";
import type { AuthConfig } from "../../config/types.ts";
import { domainErrorOf } from "../../tools/framework/errors.ts";
import type { Call, NamespaceList, ToolAnswer, ToolError } from "../../tools/framework/types.ts";
import type { CallAudit } from "../audit/call_audit.ts";
import type { RunReading } from "./run_resource.ts";
import type { ReadPackFile } from "./pack_resource.ts";
import type { EdgeError } from "../process/edge_error.ts";

/** A request that reads something other than a tool's answer. */
export interface ReadRequest<Found> {
  /** The method of the protocol. */
  readonly method: string;
  /** The names in the request, for the audit log: `uri`, `prompt`. */
  readonly names: JsonObject;
  readonly read: (reader: Reader) => Promise<ReadOutcome<Found>> | ReadOutcome<Found>;
}

/** The caller of a read. */
export interface Reader {
  readonly call: Call;
  /** The namespaces that the caller may use and whose number begins with a text. */
  readonly namespaces: (begun: string) => Promise<NamespaceList>;
  /** The scenario of a run, for a caller that may read it; null where the run does not exist. */
  readonly scenarioOf: RunReading["scenarioOf"];
  /** Reads a runpack, for a caller that may export or read its run. */
  readonly pack: ReadPackFile;
}

/** The result of a read, or an error. */
export type ReadOutcome<Found> =
  | { readonly ok: true; readonly found: Found }
  | { readonly ok: false; readonly error: EdgeError };

/** The tool group whose permission covers these methods. */
const GROUP = "Read";

/**
 * Reads for a caller, if its role permits.
 *
 * @param logFault Logs a failure of a store
 */
export async function authorizedRead<Found>(
  auth: AuthConfig | null,
  { method, read }: ReadRequest<Found>,
  reader: Reader,
  audit: CallAudit,
  logFault: (answer: ToolAnswer) => void,
): Promise<ReadOutcome<Found>> {
  const { principal } = reader.call;
  const decision = checkRole(rolesInForce(auth, principal), principal, {
    group: GROUP,
    tool: method,
    namespaceId: null,
  });
  if (decision !== null) {
    const { allowed, reason } = decision;
    audit.auditor.decided({ decision: "role", allowed, reason, namespace_id: null });
    if (!decision.allowed) {
      const error: EdgeError = { kind: "unauthorized", message: decision.message };
      audit.stopped(error, "role_refused");
      return { ok: false, error };
    }
  }
  try {
    const outcome = await read(reader);
    await audit.answered(outcome.ok ? READ : failedRead(outcome.error));
    return outcome;
  } catch (thrown) {
    const error = domainErrorOf(thrown);
    if (error?.kind !== "unavailable" && error?.kind !== "internal") throw thrown;
    logFault({ ok: false, error });
    await audit.answered({ ok: false, error });
    return { ok: false, error: storeFailed(error) };
  }
}

/** Milliseconds until a read is worth a retry, where its failure says none. */
const RETRY_MILLISECONDS = 1000;

function storeFailed({ kind, message, retryable, details }: ToolError): EdgeError {
  if (kind !== "unavailable") return { kind: "internal", message };
  const wait = details?.["retry_after_ms"];
  if (!retryable) return { kind, message };
  return { kind, message, retryAfterMs: typeof wait === "number" ? wait : RETRY_MILLISECONDS };
}

const READ: ToolAnswer = { ok: true, result: {} };

function failedRead({ kind, message }: EdgeError): ToolAnswer {
  return { ok: false, error: { code: kind, kind: "invalid_request", message, retryable: false } };
}
