/** Acquisition: queries the providers of a stage's bindings concurrently, each binding once, without holding a lock. */

import type { Identity } from "../../canonical/identity.ts";
import type { JsonValue } from "../../canonical/json.ts";
import type { Timestamp } from "../../law/types.ts";
import type { DomainSchema } from "../../law/value/types.ts";
import type { AcquisitionFailure } from "../../run/command.ts";
import type { CompiledCondition, CompiledLaw } from "../../run/compile.ts";
import type { PresentedEvidence } from "../../run/evidence.ts";
import { schemaFailure, type SchemaSandbox, SchemaSandboxError } from "../sandbox/schema_sandbox.ts";
import type { EvidenceContext, Provider, ProviderAnswer, Providers } from "../types.ts";
import { examineResult } from "./examine.ts";
import { createLimiter, type Limiter } from "../../canonical/limiter.ts";
import { measureValue, presentAnswer, type SourceValue } from "./present.ts";
import type { SelectedBinding } from "./select.ts";

/** Milliseconds for all acquisitions of one call, including the wait for a slot. */
const ACQUISITION_MILLISECONDS = 60_000;

/** Concurrent queries of one provider over all calls; further ones wait, and callers take turns. */
export const QUESTIONS_AT_ONCE = 64;

/** Finds the document of a schema that a law names, in the version that the run is bound to. */
export type FindSchema = (
  schema: DomainSchema,
) => Promise<{ readonly identity: Identity; readonly document: JsonValue }>;

/** The acquisitions of one evaluation. */
export interface AcquisitionRequest {
  readonly law: CompiledLaw;
  /** In binding id order. */
  readonly bindings: readonly SelectedBinding[];
  /** Its trigger time is the time authority's stamp; a binding's own trigger time replaces it. */
  readonly context: EvidenceContext;
  /** Identities of the contracts that the run is bound to, by provider. */
  readonly boundContracts: ReadonlyMap<string, Identity>;
  /** The versions of typed providers that the run is bound to, by provider; null for one that no longer exists. */
  readonly boundVersions?: ReadonlyMap<string, Provider | "deprecated" | null>;
  /** Bytes of one value. */
  readonly maximumValueBytes: number;
  readonly findSchema: FindSchema;
  /** The subject of the call: callers whose queries wait for a provider take turns. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

/** The result: one item or one failure for each binding, both in binding id order. */
export interface Acquisition {
  readonly acquired: readonly PresentedEvidence[];
  readonly failures: readonly AcquisitionFailure[];
}

/** Acquires evidence. */
export interface Acquirer {
  readonly acquire: (request: AcquisitionRequest) => Promise<Acquisition>;
}

interface Parts {
  readonly providers: Providers;
  readonly schemas: SchemaSandbox;
  readonly limiterOf: (provider: Provider) => Limiter;
}

/** Creates an acquirer over the configured providers. */
export function createAcquirer(providers: Providers, schemas: SchemaSandbox): Acquirer {
  const limiters = new WeakMap<Provider, Limiter>();
  const limiterOf = (provider: Provider): Limiter => {
    const limiter = limiters.get(provider) ?? createLimiter(QUESTIONS_AT_ONCE);
    limiters.set(provider, limiter);
    return limiter;
  };
  return { acquire: (request) => acquireAll({ providers, schemas, limiterOf }, request) };
}

async function acquireAll(parts: Parts, request: AcquisitionRequest): Promise<Acquisition> {
  const deadline = AbortSignal.timeout(ACQUISITION_MILLISECONDS);
  const signal = AbortSignal.any([request.signal, deadline]);
  const results = await Promise.all(request.bindings.map(async (selected) => {
    const result = await acquireOne(parts, request, selected, signal);
    return "code" in result && result.code === "cancelled" && !request.signal.aborted ? tooLate(result) : result;
  }));
  return {
    acquired: results.flatMap((result) => "item_id" in result ? [result] : []),
    failures: results.flatMap((result) => "item_id" in result ? [] : [result]),
  };
}

function tooLate(failure: AcquisitionFailure): AcquisitionFailure {
  const message = `Cannot acquire evidence within ${ACQUISITION_MILLISECONDS} ms`;
  return { ...failure, code: "timeout", message, retryable: true };
}

async function acquireOne(
  parts: Parts,
  request: AcquisitionRequest,
  selected: SelectedBinding,
  signal: AbortSignal,
): Promise<PresentedEvidence | AcquisitionFailure> {
  const { binding_id, provider_id, condition_id } = selected.binding;
  const fail = (code: string, message: string): AcquisitionFailure => ({
    binding_id,
    code,
    message,
    retryable: false,
  });
  const version = request.boundVersions?.get(provider_id);
  if (version === "deprecated") {
    const message = `The version of provider "${provider_id}" that the run is bound to is deprecated`;
    return fail("provider_version_deprecated", message);
  }
  const provider = version ?? parts.providers.get(provider_id);
  const condition = request.law.conditionIndex.get(condition_id);
  if (provider === undefined || condition === undefined) {
    return fail("provider_not_configured", `Provider "${provider_id}" is not configured`);
  }
  if (version === null || request.boundContracts.get(provider_id) !== provider.loaded.contract_identity) {
    return fail(
      "contract_changed",
      `The contract of provider "${provider_id}" is not the one that the run began with`,
    );
  }
  try {
    const ask = () => askProvider(parts, request, selected, provider, condition, signal);
    return await parts.limiterOf(provider)(ask, request.caller);
  } catch (error) {
    if (!(error instanceof SchemaSandboxError)) throw error;
    return { binding_id, ...schemaFailure(error) };
  }
}

async function askProvider(
  parts: Parts,
  request: AcquisitionRequest,
  selected: SelectedBinding,
  provider: Provider,
  condition: CompiledCondition,
  signal: AbortSignal,
): Promise<PresentedEvidence | AcquisitionFailure> {
  const { binding_id, provider_id, check_id, params } = selected.binding;
  const trigger_time: Timestamp = selected.trigger_time ?? request.context.trigger_time;
  const query = { provider_id, check_id, ...params === undefined ? {} : { params } };
  const answer = await queryUnlessAborted(provider, query, { ...request.context, trigger_time }, signal);
  if (!answer.ok) {
    const { code, message, retryable } = answer;
    return { binding_id, code, message, retryable };
  }
  const source = answer.result.value === null ? null : measureValue(answer.result.value);
  if (source !== null && source.bytes > request.maximumValueBytes) return valueTooLarge(binding_id, source, request);
  const check = provider.loaded.contract.checks.find((one) => one.check_id === check_id);
  if (check === undefined) {
    return { binding_id, code: "contract_changed", message: `Check "${check_id}" is gone`, retryable: false };
  }
  const error = await examineResult(parts.schemas, provider.loaded, check, answer.result);
  const resolved = request.law.resolvedBindings.has(binding_id);
  const presenting = { selected, trigger_time, condition, loaded: provider.loaded, resolved };
  return await withVerdict(parts, request, condition, presentAnswer(presenting, answer, source, error));
}

async function queryUnlessAborted(
  provider: Provider,
  query: Parameters<Provider["query"]>[0],
  context: EvidenceContext,
  signal: AbortSignal,
): Promise<ProviderAnswer> {
  // The call may have been cancelled while it waited for a slot.
  if (signal.aborted) return { ok: false, code: "cancelled", message: "The caller is gone", retryable: false };
  return await provider.query(query, context, signal);
}

function valueTooLarge(binding_id: string, { bytes }: SourceValue, request: AcquisitionRequest): AcquisitionFailure {
  const message = `Expected a value of at most ${request.maximumValueBytes} canonical bytes, got ${bytes}`;
  return { binding_id, code: "response_too_large", message, retryable: false };
}

/** Adds the verdict of the condition's own schema, if it has one. */
async function withVerdict(
  { schemas }: Parts,
  { findSchema }: AcquisitionRequest,
  { condition: { observation_domain: domain } }: CompiledCondition,
  item: PresentedEvidence,
): Promise<PresentedEvidence> {
  if (item.value === null || domain.domain !== "Json" || domain.schema === undefined) return item;
  const { identity, document } = await findSchema(domain.schema);
  const verdict = await schemas.validate(identity, document, item.value.value);
  return { ...item, schema_verdict: verdict === "valid" ? "valid" : "invalid" };
}
