/**
 * Providers of tests that live in the process and answer as they are told, and requests to acquire from them.
 *
 * @module
 */

import type { JsonValue } from "@/canonical/json.ts";
import { type Acquirer, type AcquisitionRequest, createAcquirer } from "@/evidence/acquisition/acquire.ts";
import { selectBindings } from "@/evidence/acquisition/select.ts";
import { sealContract } from "@/evidence/contract/seal.ts";
import type { SchemaSandbox } from "@/evidence/sandbox/schema_sandbox.ts";
import type {
  CheckContract,
  EvidenceContext,
  EvidenceQuery,
  EvidenceResult,
  Provider,
  ProviderAnswer,
} from "@/evidence/types.ts";
import type { CompiledLaw } from "@/run/compile.ts";
import { ATTEMPT, NOW } from "./kernel/fixture.ts";

/** A result that found a value, with changes. */
export function found(value: JsonValue, changes: Partial<EvidenceResult> = {}): EvidenceResult {
  return { ...NOTHING, value: { kind: "json", value }, content_type: "application/json", ...changes };
}

/** A result that found nothing. */
export const NOTHING: EvidenceResult = {
  value: null,
  lane: "verified",
  error: null,
  evidence_hash: null,
  evidence_ref: null,
  evidence_anchor: null,
  signature: null,
  content_type: null,
};

/** The answer that carries a result. */
export function answered(result: EvidenceResult, acquired_at: number = NOW - 10): ProviderAnswer {
  return { ok: true, result, acquired_at, grant: { kind: "test" } };
}

/** What a provider of tests does when it is asked. */
export type Behaviour = (
  query: EvidenceQuery,
  context: EvidenceContext,
  signal: AbortSignal,
) => Promise<ProviderAnswer> | ProviderAnswer;

const READ: CheckContract = {
  check_id: "read",
  description: "Reads what the test says.",
  determinism: "external",
  params_required: false,
  params_schema: {},
  result_schema: {},
  allowed_comparators: ["equals", "not_equals", "greater_than", "less_than", "in_set", "exists", "not_exists"],
  anchor_types: [],
  content_types: [],
  examples: [],
};

/** A provider that answers as it is told. */
export function testProvider(
  provider_id: string,
  behaviour: Behaviour,
  check: Partial<CheckContract> = {},
  kind: Provider["kind"] = "mcp",
): Provider {
  const contract = {
    provider_id,
    name: provider_id,
    description: "A provider of tests.",
    transport: kind,
    config_schema: {},
    checks: [{ ...READ, ...check }],
    notes: [],
  };
  return {
    provider_id,
    kind,
    loaded: sealContract(contract, kind === "builtin" ? "builtin" : "file"),
    allow_raw: false,
    query: (query, context, signal) => Promise.resolve(behaviour(query, context, signal)),
    close: () => Promise.resolve(),
  };
}

/** An acquirer over providers, with a request for all bindings of the law's first stage that they serve. */
export function acquisitionOf(
  law: CompiledLaw,
  providers: readonly Provider[],
  schemas: SchemaSandbox,
  changes: Partial<AcquisitionRequest> = {},
): { readonly acquirer: Acquirer; readonly request: AcquisitionRequest } {
  const [stage] = law.stages;
  const selection = stage === undefined ? null : selectBindings(stage, undefined);
  if (selection?.ok !== true) throw new TypeError("Cannot acquire: no stage");
  const names = new Set(providers.map(({ provider_id }) => provider_id));
  const request: AcquisitionRequest = {
    law,
    bindings: selection.bindings.filter(({ binding }) => names.has(binding.provider_id)),
    context: {
      namespace_id: law.law.namespace_id,
      run_id: ATTEMPT.run_id,
      stage_id: ATTEMPT.stage_id,
      trigger_time: { kind: "unix_millis", value: NOW - 20 },
    },
    boundContracts: new Map(providers.map(({ provider_id, loaded }) => [provider_id, loaded.contract_identity])),
    maximumValueBytes: 1_048_576,
    findSchema: () => Promise.reject(new Error("No schema is bound")),
    caller: "anyone",
    signal: new AbortController().signal,
    ...changes,
  };
  return { acquirer: createAcquirer(new Map(providers.map((one) => [one.provider_id, one])), schemas), request };
}
