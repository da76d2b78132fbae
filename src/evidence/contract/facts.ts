/**
 * What the checks of a law have to know about the checks of providers.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import { resultTypes } from "../../law/result_types.ts";
import type { CheckFacts } from "../../law/types.ts";
import type { CheckContract, ProviderContract } from "../types.ts";

export { resultTypes };

/** Judges params: null where they fit, else what is wrong with them. */
export type ParamsVerdict = (check: CheckContract, params: JsonValue | undefined) => string | null;

/**
 * The facts of one check; null where the contract has no such check.
 *
 * @param judge Verdict on params under the check's schema, resolved beforehand: the sandbox answers later, a law now
 */
export function checkFacts(contract: ProviderContract, checkId: string, judge: ParamsVerdict): CheckFacts | null {
  const check = contract.checks.find((one) => one.check_id === checkId);
  if (check === undefined) return null;
  return {
    provider_id: contract.provider_id,
    check_id: checkId,
    channel: contract.transport === "builtin" ? "local_acquisition" : "provider_acquisition",
    allowed_comparators: check.allowed_comparators,
    result_types: resultTypes(check.result_schema),
    checkParams: (params) => judge(check, params),
  };
}
