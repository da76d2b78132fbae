/** The facts about providers' checks that the construction of a law needs. */

import type { JsonValue } from "../../canonical/json.ts";
import { resultTypes } from "../../law/result_types.ts";
import type { CheckFacts } from "../../law/types.ts";
import type { CheckContract, ProviderContract } from "../types.ts";

export { resultTypes };

/** The fault of params; null where they are valid. */
export type ParamsVerdict = (check: CheckContract, params: JsonValue | undefined) => string | null;

/**
 * The facts of one check; null where the contract lacks it.
 *
 * @param judge Returns the verdict on params, obtained beforehand: the sandbox is asynchronous, a law's construction is not
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
    params_schema: check.params_schema,
    checkParams: (params) => judge(check, params),
  };
}
