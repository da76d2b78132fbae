/** The request that a record answers, as far as the record holds it. */

import type { Request } from "../../run/command.ts";
import type { RunRecord } from "../../run/types.ts";

/** The caller, the operation and the invocation. */
export function requestOf({ operation, invocation_identity, attribution, admission }: RunRecord): Request {
  return { operation_id: operation.identity, invocation_identity, attribution, admission_kind: admission.kind };
}
