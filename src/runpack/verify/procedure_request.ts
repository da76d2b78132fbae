/**
 * The request that a record answers, as far as the record tells it.
 *
 * @module
 */

import type { Request } from "../../run/command.ts";
import type { RunRecord } from "../../run/types.ts";

/** Who asked, under which operation and invocation. */
export function requestOf({ operation, invocation_identity, attribution, admission }: RunRecord): Request {
  return {
    operation_id: operation.identity,
    invocation_identity,
    attribution,
    admission_kind: admission.kind,
  };
}
