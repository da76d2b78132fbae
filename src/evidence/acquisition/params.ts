/** Validates the params of a check, in the schema sandbox. */

import { isJsonArray, isJsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { quote } from "../../law/suggest.ts";
import type { SchemaSandbox } from "../sandbox/schema_sandbox.ts";
import type { CheckContract, LoadedContract } from "../types.ts";

/** Whether every value is valid under a schema, so that no validation is necessary. */
export function acceptsEverything(schema: JsonValue): boolean {
  return schema === true || isJsonObject(schema) && Object.keys(schema).length === 0;
}

/**
 * The fault of params under the params schema of a check; null where they are valid.
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
    return check.params_required
      ? `Check "${check.check_id}" requires params${expectedParams(check.params_schema)}`
      : null;
  }
  if (acceptsEverything(check.params_schema)) return null;
  const key = `${loaded.contract_identity} params ${check.check_id}`;
  const verdict = await schemas.validate(key, check.params_schema, params);
  if (verdict === "valid") return null;
  return `Params do not fit check "${check.check_id}": ${verdict.invalid}${expectedParams(check.params_schema)}`;
}

/** Params that a message lists. */
const PARAMS_NAMED_MAXIMUM = 16;

/** The end of a message that lists the params of a schema, because a verdict names only one fault. */
function expectedParams(schema: JsonValue): string {
  const properties = isJsonObject(schema) ? member(schema, "properties") : undefined;
  if (!isJsonObject(schema) || !isJsonObject(properties)) return "";
  const names = Object.keys(properties);
  if (names.length > PARAMS_NAMED_MAXIMUM) return "";
  const required = member(schema, "required");
  const isRequired = (name: string): boolean => isJsonArray(required) && required.includes(name);
  const shown = names.map((name) => `${quote(name)}${isRequired(name) ? " (required)" : ""}`);
  return shown.length === 0 ? "; it takes none" : `; its params are ${shown.join(", ")}`;
}
