/**
 * Whether params fit a check, judged apart from the server.
 *
 * @module
 */

import type { JsonValue } from "../../canonical/json.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { CheckContract, LoadedContract } from "../types.ts";

/**
 * What is wrong with params under the check that they are for; null where they fit.
 *
 * @throws {SchemaSandboxError} Where the params schema gave no verdict
 */
export async function judgeParams(
  schemas: SchemaSandbox,
  loaded: LoadedContract,
  check: CheckContract,
  params: JsonValue | undefined,
): Promise<string | null> {
  if (params === undefined) {
    return check.params_required ? `Check "${check.check_id}" requires params` : null;
  }
  const key = `${loaded.contract_identity} params ${check.check_id}`;
  const verdict = await schemas.validate(key, check.params_schema, params);
  return verdict === "valid" ? null : `Params do not fit check "${check.check_id}": ${verdict.invalid}`;
}
