/** Small OpenAPI documents for tests. */

import type { JsonObject, JsonValue } from "../../../canonical/json.ts";
import { parseJson } from "../../../canonical/scan.ts";
import { createSchemaSandbox, type SchemaSandbox } from "../../sandbox/schema_sandbox.ts";
import { checkContract } from "../../contract/check.ts";
import type { ProviderContract } from "../../types.ts";
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

/** Runs a body with a sandbox for schemas. */
export async function withSchemas(body: (schemas: SchemaSandbox) => Promise<void>): Promise<void> {
  const schemas = createSchemaSandbox();
  try {
    await body(schemas);
  } finally {
    schemas.close();
  }
}

/** The problems of an imported contract, as read from its file, and of its profile; none for a refusal. */
export async function problemsOf(result: ImportResult, schemas: SchemaSandbox): Promise<readonly string[]> {
  if (!result.ok) return [];
  const parsed = parseJson(JSON.stringify(result.contract));
  if (!parsed.ok) return [parsed.fault.message];
  const contract = parsed.value as unknown as ProviderContract;
  const owner = { provider_id: contract.provider_id, transport: "typed" } as const;
  const checked = await checkContract(parsed.value, owner, schemas);
  const profiled = checkRuntimeProfile(result.profile as unknown as JsonValue, contract);
  const problems = [checked, profiled].flatMap((one) => one.ok ? [] : one.problems);
  return problems.map(({ path, message }) => `${path}: ${message}`);
}
