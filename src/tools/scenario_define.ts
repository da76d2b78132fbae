/**
 * The tool `scenario_define`.
 *
 * @module
 */

import { z } from "zod";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { constructLaw, graphIdentity, lawIdentity } from "../law/law.ts";
import { SchemaSandboxError } from "../evidence/sandbox/schema_sandbox.ts";
import { SPEC_LIMITS } from "../law/limits.ts";
import { lawAsJson } from "../law/normal_form.ts";
import type { LawLimits, LawSurroundings, Refusal, ScenarioLaw } from "../law/types.ts";
import { failure, success, toolError } from "./framework/errors.ts";
import { jsonObject, listedAs } from "./framework/input.ts";
import { knownChecks } from "./precheck/known_checks.ts";
import { namesShown } from "./services/provider_discovery.ts";
import { closed, IDENTITY, TEXT } from "./framework/output.ts";
import { refuseRegistry } from "./services/schema_record.ts";
import { sandboxFailure } from "./schemas_register.ts";
import type { Services } from "./services/services.ts";
import { SPEC_SCHEMA } from "../law/spec_schema.ts";
import { listedSpecSchema } from "./framework/spec_schema.ts";
import { makeTool, WRITES } from "./make_tool.ts";
import type { Call, Tool, ToolAnswer, ToolError } from "./framework/types.ts";

const NAMED = { name: "scenario_define", group: "Authoring" } as const;

/** The tool `scenario_define`. */
export function scenarioDefine(services: Services): Tool {
  return makeTool(services, {
    ...NAMED,
    title: "Define a scenario",
    description:
      "Registers a scenario law, which never changes: a DAG of stages, each complete when its requirement over conditions holds. " +
      "Rejects an invalid spec with every fault and its path. Whole schema: resource gate://schemas/scenario. Next: " +
      "scenario_start.",
    details: "Proves and registers a scenario law: stages that form a DAG, each with a completion requirement over " +
      "conditions, each condition with a domain, a predicate and an evidence-use policy. Laws never change; a changed " +
      "spec is another law under another scenario_law_identity, and the same law twice is the error law_exists. An " +
      "invalid spec is refused with all its faults, each with code, path and message. Next: scenario_start with the " +
      "identity returned. Use a namespace_id other than 1 unless the operator opened namespace 1.",
    hints: WRITES,
    input: z.strictObject({ spec: listedAs(jsonObject(SPEC_SCHEMA), listedSpecSchema()) }),
    output: closed({ graph_identity: IDENTITY, scenario_id: TEXT, scenario_law_identity: IDENTITY }),
    admit: ({ spec }, call) => refuseNamedSchemas(services, spec, call),
    act: ({ spec }) => define(services, spec),
  });
}

/** Whoever names schemas learns whether they are there, and later what they make of values: as much as getting them. */
function refuseNamedSchemas(services: Services, spec: JsonObject, call: Call): ToolError | null {
  const namespaceId = member(spec, "namespace_id");
  if (typeof namespaceId !== "number" || schemasNamed(spec).size === 0) return null;
  return refuseRegistry(services, call, "get", namespaceId);
}

async function define(services: Services, spec: JsonObject): Promise<ToolAnswer> {
  const proved = await proveSpec(services, spec);
  return "code" in proved ? { ok: false, error: proved } : await register(services, proved);
}

/** The law that a spec is, with every proof of a definition; or the error that says why it is none, or why that could not be found out. */
export async function proveSpec(services: Services, spec: JsonObject): Promise<ScenarioLaw | ToolError> {
  const namespaceId = member(spec, "namespace_id");
  const findCheck = await knownChecks(services, spec).catch((error) => {
    if (error instanceof SchemaSandboxError) return sandboxFailure(error);
    throw error;
  });
  if ("code" in findCheck) return findCheck;
  const constructed = constructLaw(spec, await surroundingsOf(services, spec, namespaceId, findCheck));
  return constructed.ok ? constructed.law : invalidSpec(constructed.refusals);
}

function invalidSpec(refusals: readonly Refusal[]): ToolError {
  const first = refusals[0];
  const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : "";
  const message = `Cannot define scenario: ${first?.path ?? "$"}: ${first?.message ?? "the spec is no law"}${more}`;
  return toolError("invalid_spec", message, {
    refusals: refusals.map(({ code, path, message }) => ({ code, path, message })),
    next: nextAfterRefusals(new Set(refusals.map(({ code }) => code))),
  });
}

/** What to do before the corrected spec is defined: what it names has to be there. */
function nextAfterRefusals(codes: ReadonlySet<Refusal["code"]>): JsonObject[] {
  const steps: JsonObject[] = [];
  if (codes.has("packet_schema_not_found")) {
    const why = "See which schemas are registered: each packet names one of the schemas of the spec";
    steps.push({ tool: "schemas_list", arguments_hint: {}, why });
  }
  if (codes.has("schema_not_found")) {
    const why = "Register each schema that the refusals name, or leave it out";
    steps.push({ tool: "schemas_register", arguments_hint: {}, why });
  }
  if (codes.has("provider_not_found") || codes.has("check_not_found")) {
    steps.push({ tool: "providers_list", arguments_hint: {}, why: "See which providers and checks there are" });
  }
  const why = "Correct the spec at each path in details.refusals and call again";
  return [...steps, { tool: "scenario_define", arguments_hint: {}, why }];
}

async function register(services: Services, law: ScenarioLaw): Promise<ToolAnswer> {
  const { sha256 } = services.surroundings.primitives;
  const { namespace_id, scenario_id } = law;
  const identities = {
    graph_identity: graphIdentity(sha256, law),
    scenario_id,
    scenario_law_identity: lawIdentity(sha256, law),
  };
  const stored = await services.runs.putLaw({ namespace_id, ...identities, law: canonicalize(lawAsJson(law)) });
  if (stored === "stored") return success(identities);
  const start = { namespace_id, scenario_id, scenario_law_identity: identities.scenario_law_identity };
  return failure("law_exists", `Cannot define scenario "${scenario_id}": this exact law is registered`, {
    ...identities,
    next: [{ tool: "scenario_start", arguments_hint: start, why: "Start a run of the law that is registered" }],
  });
}

/** What the operator lets a law hold. */
function lawLimits(services: Pick<Services, "surroundings">): LawLimits {
  const { profile } = services.surroundings;
  return {
    maximum_value_bytes: profile.value_limits.maximum_value_bytes,
    maximum_payload_bytes: profile.value_limits.maximum_payload_bytes,
    enable_lexicographic: profile.validation.enable_lexicographic,
    enable_deep_equals: profile.validation.enable_deep_equals,
    proof_budget: profile.proof_budget,
  };
}

async function surroundingsOf(
  services: Services,
  spec: JsonObject,
  namespaceId: JsonValue | undefined,
  findCheck: LawSurroundings["findCheck"],
): Promise<LawSurroundings> {
  const registered = new Set<string>();
  if (typeof namespaceId === "number") {
    for (const [key, { schema_id, version }] of schemasNamed(spec)) {
      if (await services.schemas.get(namespaceId, schema_id, version) !== null) registered.add(key);
    }
  }
  return {
    limits: lawLimits(services),
    hasSchema: (schemaId, version) => registered.has(schemaKey(schemaId, version)),
    checksPacketSchemas: true,
    findCheck,
    namesShown: (providerId) => namesShown(services, providerId),
  };
}

function schemaKey(schemaId: string, version: string): string {
  return JSON.stringify([schemaId, version]);
}

/** Every schema that a raw spec may mean, as many as a law may hold; what is malformed is left to the proofs. */
function schemasNamed(spec: JsonObject): Map<string, { readonly schema_id: string; readonly version: string }> {
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
