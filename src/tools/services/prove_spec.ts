/**
 * Proves scenario specs: that a spec is a law, under the limits of the operator and with the schemas and checks that
 * exist.
 */

import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { constructLaw } from "../../law/law.ts";
import { SPEC_LIMITS } from "../../law/limits.ts";
import type { LawEnvironment, LawLimits, Refusal, ScenarioLaw } from "../../law/types.ts";
import { DomainError, faultsSentence } from "../framework/errors.ts";
import { boundProviders, knownChecks } from "./known_checks.ts";
import { findProvider, shownProviderIds } from "./provider_discovery.ts";
import type { Services } from "./services.ts";

/**
 * Proves a spec with every proof of a definition.
 *
 * @throws {DomainError} `invalid_spec`
 * @throws {SchemaSandboxError} Where a schema of params gave no verdict
 */
export async function proveSpec(services: Services, spec: JsonObject): Promise<ScenarioLaw> {
  const namespaceId = member(spec, "namespace_id");
  const namespace = typeof namespaceId === "number" ? namespaceId : null;
  const bound = new Map<string, Awaited<ReturnType<typeof findProvider>>>();
  const findCheck = await knownChecks(services, spec, async (id) => {
    const found = await findProvider(services, namespace, id);
    bound.set(id, found);
    return found;
  });
  // Only bindings name providers.
  const shown = boundProviders(spec).length === 0 ? [] : await shownProviderIds(services, namespace);
  const checksOf = (providerId: string): readonly string[] => {
    const found = shown.includes(providerId) ? bound.get(providerId) : undefined;
    return typeof found === "object" ? found?.loaded.contract.checks.map(({ check_id }) => check_id) ?? [] : [];
  };
  const constructed = constructLaw(spec, {
    ...await environmentOf(services, spec, namespaceId, findCheck),
    namesShown: (providerId) => providerId === null ? shown : checksOf(providerId),
  });
  if (!constructed.ok) throw invalidSpec(constructed.refusals);
  return constructed.law;
}

function invalidSpec(refusals: readonly Refusal[]): DomainError {
  return new DomainError("invalid_spec", faultsSentence("Cannot define scenario", refusals), {
    refusals: refusals.map(({ code, path, message }) => ({ code, path, message })),
    next: nextAfterRefusals(new Set(refusals.map(({ code }) => code))),
  });
}

/** Steps before the corrected spec is defined: what it names has to be registered or configured. */
function nextAfterRefusals(codes: ReadonlySet<Refusal["code"]>): JsonObject[] {
  const steps: JsonObject[] = [];
  if (codes.has("packet_schema_not_found")) {
    const why = "List the registered schemas: each packet names one, of those of the spec where it declares any";
    steps.push({ tool: "schemas_list", arguments_hint: {}, why });
  }
  if (codes.has("schema_not_found")) {
    const why = "Register each schema that the refusals name, or leave it out";
    steps.push({ tool: "schemas_register", arguments_hint: {}, why });
  }
  if (codes.has("provider_not_found") || codes.has("check_not_found")) {
    steps.push({ tool: "providers_list", arguments_hint: {}, why: "List the providers and their checks" });
  }
  const why = "Correct the spec at each path in details.refusals and call again";
  return [...steps, { tool: "scenario_define", arguments_hint: {}, why }];
}

/** The limits of the operator on a law. */
function lawLimits(services: Pick<Services, "environment">): LawLimits {
  const { profile } = services.environment;
  return {
    maximum_value_bytes: profile.value_limits.maximum_value_bytes,
    maximum_payload_bytes: profile.value_limits.maximum_payload_bytes,
    enable_lexicographic: profile.validation.enable_lexicographic,
    enable_deep_equals: profile.validation.enable_deep_equals,
    proof_budget: profile.proof_budget,
  };
}

async function environmentOf(
  services: Services,
  spec: JsonObject,
  namespaceId: JsonValue | undefined,
  findCheck: LawEnvironment["findCheck"],
): Promise<LawEnvironment> {
  const registered = new Set<string>();
  if (typeof namespaceId === "number") {
    for (const [key, { schema_id, version }] of schemasNamed(spec)) {
      if (await services.schemas.get(namespaceId, schema_id, version) !== null) registered.add(key);
    }
  }
  const packets = new Set<string>();
  if (typeof namespaceId === "number") {
    for (const schema_id of packetSchemasOf(spec)) {
      const [first] = await services.schemas.list(namespaceId, { schema_id, version: "" }, 1);
      if (first?.schema_id === schema_id) packets.add(schema_id);
    }
  }
  return {
    limits: lawLimits(services),
    hasSchema: (schemaId, version) => registered.has(schemaKey(schemaId, version)),
    hasPacketSchema: (schemaId) => packets.has(schemaId),
    findCheck,
  };
}

/** The schemas that packets of a raw spec name without a declaration; malformed members are skipped. */
export function packetSchemasOf(spec: JsonObject): ReadonlySet<string> {
  const declared = member(spec, "schemas");
  if (isJsonArray(declared) && declared.length > 0) return new Set();
  const listOf = (value: JsonValue | undefined, name: string): readonly JsonValue[] => {
    const list = isJsonObject(value) ? member(value, name) : undefined;
    return isJsonArray(list) ? list : [];
  };
  const packets = listOf(spec, "stages").flatMap((stage) => listOf(stage, "entry_packets"));
  const ids = packets.map((packet) => isJsonObject(packet) ? member(packet, "schema_id") : undefined);
  return new Set(ids.filter((id) => typeof id === "string"));
}

function schemaKey(schemaId: string, version: string): string {
  return JSON.stringify([schemaId, version]);
}

/**
 * The schemas that a raw spec names, as many as a law may have. Malformed members are skipped: the proofs report them.
 */
export function schemasNamed(spec: JsonObject): Map<string, { readonly schema_id: string; readonly version: string }> {
  const named = new Map<string, { readonly schema_id: string; readonly version: string }>();
  const add = (entry: JsonValue | undefined): void => {
    if (!isJsonObject(entry)) return;
    const id = member(entry, "schema_id");
    const version = member(entry, "version");
    if (typeof id !== "string" || typeof version !== "string") return;
    named.set(schemaKey(id, version), { schema_id: id, version });
  };
  const schemas = member(spec, "schemas");
  if (isJsonArray(schemas)) schemas.slice(0, SPEC_LIMITS.schemas).forEach(add);
  const conditions = member(spec, "conditions");
  if (!isJsonArray(conditions)) return named;
  for (const condition of conditions.slice(0, SPEC_LIMITS.conditions)) {
    const domain = isJsonObject(condition) ? member(condition, "observation_domain") : undefined;
    if (isJsonObject(domain)) add(member(domain, "schema"));
  }
  return named;
}
