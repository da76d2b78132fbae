/** Admits the operations of a list, each as the call that it would be alone: by rate, tool list and audit log. */

import type { JsonObject } from "../../canonical/json.ts";
import type { AdmittedOperation, Call, ToolAnswer } from "../../tools/framework/types.ts";
import type { CallAudit } from "../audit/call_audit.ts";
import { type EdgeError, jsonRpcError } from "../process/edge_error.ts";

/** What a dispatcher decides on a call before its tool runs. */
export interface Admission {
  /** Counts one more request of the caller; returns the error where it is too much. */
  readonly count: () => EdgeError | null;
  readonly audit: (tool: string, input: JsonObject) => Promise<CallAudit>;
  /** The error for a tool that clients do not see. */
  readonly unknown: (tool: string) => Promise<EdgeError | null>;
  /** The answer for a tool that may not be called. */
  readonly refused: (tool: string) => ToolAnswer | null;
  /** Logs that a store failed. */
  readonly logFault: (answer: ToolAnswer) => void;
}

/** Admits the operations of one list. The list was counted when it arrived: as its first operation. */
export function admitOperations(call: Call, admission: Admission): NonNullable<Call["admitOperation"]> {
  let isFirst = true;
  return async (tool, input): Promise<AdmittedOperation> => {
    const late = isFirst ? null : admission.count();
    isFirst = false;
    if (late !== null) return notRun(call, edgeError(late));
    const audit = await admission.audit(tool, input);
    const unknown = await admission.unknown(tool);
    if (unknown !== null) {
      audit.stopped(unknown, "tool_unknown");
      return notRun(call, edgeError(unknown));
    }
    const answered = async (answer: ToolAnswer): Promise<void> => {
      admission.logFault(answer);
      await audit.answered(answer);
    };
    const answer = admission.refused(tool);
    if (answer === null || answer.ok) return { refused: null, call: { ...call, auditor: audit.auditor }, answered };
    await answered(answer);
    return notRun(call, { ...answer.error });
  };
}

function edgeError(error: EdgeError): JsonObject {
  return { ...jsonRpcError(error, null) } as unknown as JsonObject;
}

function notRun(call: Call, error: JsonObject): AdmittedOperation {
  return { refused: { error }, call, answered: () => Promise.resolve() };
}
