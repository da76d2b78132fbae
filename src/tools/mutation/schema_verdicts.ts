/**
 * Validates the caller's values with the JSON Schemas of their conditions. The kernel runs no schemas: it gets the
 * verdicts and retains them.
 */

import { isJsonObject, member } from "../../canonical/json.ts";
import { readJson } from "../../canonical/scan.ts";
import type { FindSchema } from "../../evidence/acquisition/acquire.ts";
import { SchemaSandboxError } from "../../evidence/sandbox/schema_sandbox.ts";
import type { CompiledLaw, CompiledStage } from "../../run/compile.ts";
import type { CallerEvidence } from "../../run/evidence.ts";
import { StoreError } from "../../store/types.ts";
import type { Services } from "../services/services.ts";

/** Verdicts by index of the evidence item. */
export type SchemaVerdicts = ReadonlyMap<number, "valid" | "invalid">;

/** The failure to reach a verdict on one item. */
export interface VerdictFailure {
  readonly index: number;
  readonly condition_id: string;
  readonly error: SchemaSandboxError;
}

/** The schemas of the registry, for calls without a run. */
export function registeredSchemas(services: Services, namespaceId: number): FindSchema {
  return async ({ schema_id, version }) => {
    const found = await services.schemas.get(namespaceId, schema_id, version);
    const record = found === null ? undefined : readJson(found.record);
    const document = isJsonObject(record) ? member(record, "schema") : undefined;
    if (found === null || document === undefined) throw missing(schema_id, version);
    return { identity: found.schema_identity, document };
  };
}

function missing(schemaId: string, version: string): StoreError {
  return new StoreError(
    "corrupt",
    `Cannot read schema "${schemaId}" version "${version}": the law names it, but the registry lacks it`,
  );
}

/**
 * Validates every value whose condition names a schema. Items that the kernel will reject are skipped.
 *
 * @returns The verdicts, or the items without one
 */
export async function judgeSchemas(
  services: Services,
  law: CompiledLaw,
  stage: CompiledStage,
  evidence: readonly Pick<CallerEvidence, "condition_id" | "value">[],
  find: FindSchema,
): Promise<SchemaVerdicts | readonly VerdictFailure[]> {
  const verdicts = new Map<number, "valid" | "invalid">();
  const failures: VerdictFailure[] = [];
  const found = new Map<string, ReturnType<FindSchema>>();
  for (const [index, { condition_id, value }] of evidence.entries()) {
    const domain = law.conditionIndex.get(condition_id)?.condition.observation_domain;
    if (domain?.domain !== "Json" || domain.schema === undefined || value.value_type !== "Json") continue;
    if (!stage.completion.slots.includes(condition_id)) continue;
    const key = JSON.stringify([domain.schema.schema_id, domain.schema.version]);
    const finding = found.get(key) ?? find(domain.schema);
    found.set(key, finding);
    const { identity, document } = await finding;
    try {
      const verdict = await services.schemaSandbox.validate(identity, document, value.value);
      verdicts.set(index, verdict === "valid" ? "valid" : "invalid");
    } catch (error) {
      if (!(error instanceof SchemaSandboxError)) throw error;
      failures.push({ index, condition_id, error });
    }
  }
  return failures.length > 0 ? failures : verdicts;
}
