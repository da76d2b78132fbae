/**
 * Whether params fit a check, judged apart from the server.
 *
 * @module
 */

import { isJsonObject, type JsonValue } from "../../canonical/json.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { CheckContract, LoadedContract } from "../types.ts";

/** Whether a schema says nothing, so that every value is valid under it and nobody needs to be asked. */
export function saysNothing(schema: JsonValue): boolean {
  return schema === true || isJsonObject(schema) && Object.keys(schema).length === 0;
}

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
  if (saysNothing(check.params_schema)) return null;
  const key = `${loaded.contract_identity} params ${check.check_id}`;
  const verdict = await schemas.validate(key, check.params_schema, params);
  return verdict === "valid" ? null : `Params do not fit check "${check.check_id}": ${verdict.invalid}`;
}
