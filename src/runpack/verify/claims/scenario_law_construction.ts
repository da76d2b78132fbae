/**
 * Claim 4: the law is valid. It is constructed again from its normal form, with all proofs, and the result must be
 * equal.
 */

import { identify, type Identity } from "../../../canonical/identity.ts";
import { isJsonArray, isJsonObject, type JsonValue, member } from "../../../canonical/json.ts";
import { graphIdentity, lawIdentity, reproveLaw } from "../../../law/law.ts";
import { LAW_LIMITS } from "../../../law/limits.ts";
import { COMPARATORS } from "../../../law/value/predicates.ts";
import type { CheckFacts, LawEnvironment } from "../../../law/types.ts";
import { type CompiledLaw, compileLaw } from "../../../run/compile.ts";
import { maximumValueBytes } from "../../../run/evidence.ts";
import { bindLaw, checkParameters, checkPinnedKeys } from "../../../run/parameters.ts";
import { asJson } from "../../../run/primitives.ts";
import type { Environment } from "../../../run/command.ts";
import type { RunRecord } from "../../../run/types.ts";
import { readCanonical, sameJson } from "../../format/canonical_text.ts";
import { type ContractCheck, type ContractFacts, factsOf } from "../../format/contract_facts.ts";
import { atRevision, violation } from "../findings.ts";
import type { VerificationPrimitives, Violation } from "../types.ts";

/** A constructed law, and the assumptions made about its bindings. */
export interface ConstructedLaw {
  readonly law: CompiledLaw;
  readonly assumptions: readonly ("binding_check_as_defined" | "json_schema_verdict_as_recorded")[];
}

/**
 * Constructs the law.
 *
 * @param expected The identity that the manifest gives
 * @param contracts The contracts that the run is bound to, by provider
 */
export async function constructLaw(
  primitives: VerificationPrimitives,
  bytes: Uint8Array,
  expected: Identity,
  contracts: ReadonlyMap<string, ContractFacts>,
): Promise<ConstructedLaw | Violation> {
  const value = readCanonical(bytes);
  if (value === undefined) return violation("law_invalid");
  const params = await judgeParams(primitives, value, contracts);
  const reproved = reproveLaw(value, {
    limits: LAW_LIMITS,
    // Another claim checks which schemas the run is bound to.
    hasSchema: () => true,
    findCheck: (providerId, checkId) => {
      const contract = contracts.get(providerId);
      if (contract === undefined) return params.unknownCheck(providerId, checkId);
      return factsOf(contract, checkId, (check, given) => params.verdict(providerId, check, given)) ?? "check";
    },
  });
  if (!reproved.ok) return violation("law_invalid");
  const identity = lawIdentity(primitives.sha256, reproved.law);
  if (identity !== expected) return violation("law_identity_mismatch");
  const law = compileLaw(reproved.law, identity, graphIdentity(primitives.sha256, reproved.law));
  return { law, assumptions: params.assumptions() };
}

/**
 * Checks that the genesis of a run gives the parameters of its law, in order and each in its domain. The params that
 * they make must suit their checks, and the operator has no other key under an id that the law pins.
 *
 * @param law The law as the pack has it
 * @param contracts The contracts that the run is bound to, by provider
 */
export async function checkRunParameters(
  { sha256, validateSchema }: VerificationPrimitives,
  law: CompiledLaw,
  { body, procedure }: Extract<RunRecord, { record_kind: "run_created" }>,
  { profile, keys }: Pick<Environment, "profile" | "keys">,
  contracts: ReadonlyMap<string, ContractFacts>,
): Promise<{ readonly fault: Violation | null; readonly isAssumed: boolean }> {
  if (checkPinnedKeys(law, keys).length > 0) {
    return { fault: violation("key_differs", atRevision(1)), isAssumed: false };
  }
  const fault = violation("parameters_mismatch", atRevision(1));
  const { genesis } = body;
  const checked = checkParameters(law, genesis, maximumValueBytes(law, profile));
  if (!checked.ok) return { fault, isAssumed: false };
  if (genesis.kind !== "parameters" || checked.parameters === undefined) return { fault: null, isAssumed: false };
  const isSorted = sameJson(asJson(checked.parameters), asJson(genesis.parameters));
  if (!isSorted || procedure === "gate-kernel-1") return { fault, isAssumed: false };
  const bound = bindLaw(law, checked.parameters);
  let isAssumed = false;
  for (const bindingId of bound.resolvedBindings) {
    const { provider_id = "", check_id = "", params = null } = bound.bindingIndex.get(bindingId) ?? {};
    const check = contracts.get(provider_id)?.checks.get(check_id);
    if (check === undefined) continue;
    const identity = identify(sha256, "schema", check.params_schema);
    const verdict = await validateSchema?.(identity, check.params_schema, params) ?? null;
    if (verdict === "invalid") return { fault, isAssumed: false };
    isAssumed ||= verdict === null;
  }
  return { fault: null, isAssumed };
}

/**
 * An environment in which every schema is registered, and every check suits its bindings: for laws that are not in
 * force.
 */
export function permissiveEnvironment(spec: JsonValue): Pick<LawEnvironment, "hasSchema" | "findCheck"> {
  const channels = channelsOf(spec);
  return { hasSchema: () => true, findCheck: (providerId, checkId) => anyCheck(providerId, checkId, channels) };
}

/** The channel of each provider, according to the first of its bindings. */
function channelsOf(spec: JsonValue): ReadonlyMap<string, CheckFacts["channel"]> {
  const channels = new Map<string, CheckFacts["channel"]>();
  const bindings = isJsonObject(spec) ? member(spec, "acquisition_bindings") : undefined;
  for (const binding of isJsonArray(bindings) ? bindings : []) {
    if (!isJsonObject(binding)) continue;
    const provider = member(binding, "provider_id");
    const channel = member(binding, "channel");
    if (typeof provider !== "string" || channels.has(provider)) continue;
    if (channel === "local_acquisition" || channel === "provider_acquisition") channels.set(provider, channel);
  }
  return channels;
}

function anyCheck(
  provider_id: string,
  check_id: string,
  channels: ReadonlyMap<string, CheckFacts["channel"]>,
): CheckFacts {
  return {
    provider_id,
    check_id,
    channel: channels.get(provider_id) ?? "provider_acquisition",
    allowed_comparators: COMPARATORS,
    result_types: ["any"],
    params_schema: true,
    checkParams: () => null,
  };
}

interface ParamsVerdicts {
  readonly verdict: (providerId: string, check: ContractCheck, params: JsonValue | undefined) => string | null;
  /**
   * The facts of a check of an unbound provider, from which nothing was acquired. They allow everything that its
   * bindings need.
   */
  readonly unknownCheck: (providerId: string, checkId: string) => CheckFacts;
  readonly assumptions: () => ConstructedLaw["assumptions"];
}

function paramsKey(providerId: string, checkId: string, params: JsonValue | undefined): string {
  return JSON.stringify([providerId, checkId, params ?? null]);
}

/** Requests all verdicts on params beforehand, because the construction of a law is synchronous. */
async function judgeParams(
  { sha256, validateSchema }: VerificationPrimitives,
  law: JsonValue,
  contracts: ReadonlyMap<string, ContractFacts>,
): Promise<ParamsVerdicts> {
  const verdicts = new Map<string, "valid" | "invalid">();
  const identities = new Map<ContractCheck, Identity>();
  const channels = channelsOf(law);
  const assumptions = new Set<ConstructedLaw["assumptions"][number]>();
  const bindings = isJsonObject(law) ? member(law, "acquisition_bindings") : undefined;
  for (const binding of isJsonArray(bindings) ? bindings : []) {
    if (!isJsonObject(binding)) continue;
    const provider = member(binding, "provider_id");
    const check = member(binding, "check_id");
    const params = member(binding, "params");
    if (typeof provider !== "string") continue;
    const contract = contracts.get(provider);
    const found = typeof check === "string" ? contract?.checks.get(check) : undefined;
    if (contract === undefined || found === undefined || params === undefined) continue;
    // Schemas are identified by content: a validator caches them, and packs name them differently.
    const identity = identities.get(found) ?? identify(sha256, "schema", found.params_schema);
    identities.set(found, identity);
    const verdict = await validateSchema?.(identity, found.params_schema, params) ?? null;
    if (verdict === null) assumptions.add("json_schema_verdict_as_recorded");
    else verdicts.set(paramsKey(contract.provider_id, found.check_id, params), verdict);
  }
  return {
    verdict(providerId, check, params): string | null {
      if (params === undefined) return check.params_required ? "Params are required" : null;
      return verdicts.get(paramsKey(providerId, check.check_id, params)) === "invalid" ? "Params do not fit" : null;
    },
    unknownCheck(provider_id, check_id): CheckFacts {
      assumptions.add("binding_check_as_defined");
      return anyCheck(provider_id, check_id, channels);
    },
    assumptions: () => [...assumptions],
  };
}
