import { closed, identity, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { graphIdentity, lawIdentity } from "../law/law.ts";
import { lawAsJson } from "../law/normal_form.ts";
import { failure, success, toolError } from "./framework/errors.ts";
import { jsonObject, lawText, listedAs } from "./framework/input.ts";
import { proveSpec } from "./services/prove_spec.ts";
import { refuseNamedSchemas } from "./services/named_schemas.ts";
import type { Services } from "./services/services.ts";
import { SPEC_SCHEMA } from "../law/spec_schema.ts";
import { type MakeTool, makeTool, WRITES } from "./make_tool.ts";
import type { ToolAnswer, ToolError } from "./framework/types.ts";

/** The example of a condition in the list. Without a binding it counts evidence of callers. */
export const EXAMPLE_CONDITION: JsonObject = {
  condition_id: "tests_pass",
  observation_domain: { domain: "Boolean" },
  predicate: { predicate: "Equals", expected: { value: true, value_type: "Boolean" } },
};

const HINTS: Readonly<Record<string, string>> = {
  stages: "{stage_id, prerequisite: {kind: root} | {kind: requires, requirement over stages}, completion_requirement " +
    "over conditions, entry_packets?: [{packet_id, schema_id, content_type, payload: as in scenario_submit}]}",
  completion_requirement: "Over stages: {Condition: id} | {And: [..]} | {Or: [..]} | {Not: ..} | " +
    "{RequireGroup: {min, reqs}}",
  parameters: "{parameter_id, domain, description?}; in a predicate expected: {parameter: id}",
  conditions: "Domains: Boolean, String, Integer, Decimal, Timestamp, Digest, Json. Like " +
    JSON.stringify(EXAMPLE_CONDITION) +
    ". Without evidence_use_policy all bindings of the condition count, or the caller's word without bindings",
  policies: "{policy_id, evidence_use_policy?}",
  schemas: "{schema_id, version}",
  value_limits: "{selection: InheritOperator} | {selection: Explicit, maximum_value_bytes, maximum_payload_bytes}",
  acquisition_bindings: "{binding_id, condition_id, channel, provider_id, check_id, params?}",
};

const DEFINITIONS = member(SPEC_SCHEMA, "$defs") as JsonObject;

/** The type of a member, or its constant. */
function typeOf(schema: JsonValue): JsonObject {
  const { $ref: reference, const: constant, type = "object" } = schema as Readonly<Record<string, JsonValue>>;
  if (constant !== undefined) return { const: constant };
  if (typeof reference !== "string") return { type };
  const found = member(DEFINITIONS, reference.slice(reference.lastIndexOf("/") + 1));
  return isJsonObject(found) ? { type: found["type"] ?? "object" } : { type };
}

/** The schema of `spec` in the list of tools. */
export function listedSpecSchema(): JsonObject {
  const { properties, required = [] } = SPEC_SCHEMA as { properties: JsonObject; required?: JsonValue };
  const listed = Object.entries(properties).map(([name, schema]) => {
    const description = HINTS[name];
    const type = typeOf(schema);
    const items = type["type"] === "array" ? { items: { type: "object" } } : {};
    return [name, { ...type, ...items, ...description === undefined ? {} : { description } }];
  });
  return { type: "object", properties: Object.fromEntries(listed), required, additionalProperties: false };
}

const NAMED = { name: "scenario_define", group: "Authoring", audit: "mutation" } as const;

/** The tool `scenario_define`. */
export const scenarioDefine: MakeTool = (services) =>
  makeTool(services, {
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
    input: table({
      spec: optional(listedAs(jsonObject(SPEC_SCHEMA), listedSpecSchema())),
      law_text: optional(lawText),
    }),
    takesLaw: true,
    output: closed({ graph_identity: identity, scenario_id: text, scenario_law_identity: identity }),
    admit: ({ spec }, call) => spec === undefined ? noLaw() : refuseNamedSchemas(services, spec, call),
    act: ({ spec = {} }) => define(services, spec),
  });

function noLaw(): ToolError {
  const message = "Member is required: expected an object, or law_text in its place";
  return toolError("invalid_input", `Cannot read arguments: $.spec: ${message}`, {
    issues: [{ path: "$.spec", message, expected: "an object" }],
  });
}

async function define(services: Services, spec: JsonObject): Promise<ToolAnswer> {
  const law = await proveSpec(services, spec);
  const { sha256 } = services.environment.primitives;
  const { namespace_id, scenario_id } = law;
  const identities = {
    graph_identity: graphIdentity(sha256, law),
    scenario_id,
    scenario_law_identity: lawIdentity(sha256, law),
  };
  const stored = await services.runs.laws.put({ namespace_id, ...identities, law: canonicalize(lawAsJson(law)) });
  if (stored === "stored") return success(identities);
  const start = { namespace_id, scenario_id, scenario_law_identity: identities.scenario_law_identity };
  return failure("law_exists", `Cannot define scenario "${scenario_id}": this exact law is registered`, {
    ...identities,
    next: [{ tool: "scenario_start", arguments_hint: start, why: "Start a run of the law that is registered" }],
  });
}
