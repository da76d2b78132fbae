/**
 * Small OpenAPI documents for tests.
 *
 * @module
 */

import type { JsonObject, JsonValue } from "../../../canonical/json.ts";
import { createSchemaSandbox } from "../../sandbox/schema_sandbox.ts";
import { checkContract } from "../../contract/check.ts";
import type { ImportResult } from "../import_result.ts";
import { checkRuntimeProfile } from "../runtime_profile.ts";

/** A JSON response with status 200. */
export function responsesOf(schema: JsonValue, type = "application/json"): JsonObject {
  return { 200: { description: "done", content: { [type]: { schema } } } };
}

/** The result schema of operations whose result does not matter. */
export const FLAG: JsonObject = { type: "boolean" };

/** A GET operation with a JSON response. */
export function operationOf(members: JsonObject = {}, schema: JsonValue = FLAG): JsonObject {
  return { responses: responsesOf(schema), ...members };
}

/** A document with these paths. */
export function documentOf(paths: JsonObject, members: JsonObject = {}): JsonObject {
  return {
    openapi: "3.0.3",
    info: { title: "Builds", version: "1.2.0" },
    servers: [{ url: "https://builds.example/v1" }],
    paths,
    ...members,
  };
}

/** The problems of an imported contract and its profile; none for a refusal. */
export async function problemsOf(result: ImportResult): Promise<readonly string[]> {
  if (!result.ok) return [];
  const schemas = createSchemaSandbox();
  try {
    const { contract, profile } = result;
    const owner = { provider_id: contract.provider_id, transport: "typed" } as const;
    const checked = await checkContract(contract as unknown as JsonValue, owner, schemas);
    const profiled = checkRuntimeProfile(profile as unknown as JsonValue, contract);
    const problems = [checked, profiled].flatMap((one) => one.ok ? [] : one.problems);
    return problems.map(({ path, message }) => `${path}: ${message}`);
  } finally {
    schemas.close();
  }
}
