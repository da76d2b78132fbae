import assert from "node:assert/strict";
import { Ajv2020 } from "../../../tests/packages/ajv.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from "../../canonical/json.ts";
import { withTools } from "../tests/tools_fixture.ts";
import { fullToolSchema } from "./full_schemas.ts";
import { closed } from "../../canonical/shape.ts";
import { outputSchema, ref, withTypes } from "./output.ts";
import { outcomeOf } from "./outcome_types.ts";
import { sharedTypes } from "./result_types.ts";

type Schemas = ReadonlyMap<string, JsonObject>;

/** The full output schema of every tool. */
async function withSchemas(test: (schemas: Schemas) => void): Promise<void> {
  await withTools(async ({ tools }) => {
    const schemas = [...tools.values()].map(async (tool) =>
      [tool.name, { ...await fullToolSchema(tool), $ref: "#/$defs/output" }] as const
    );
    test(new Map(await Promise.all(schemas)));
  });
}

function definition(schema: JsonObject, name: string): JsonObject {
  return member(schema["$defs"] as JsonObject, name) as JsonObject;
}

/** The variants of a member of the result. */
function variantsOf(schema: JsonObject, name: string): readonly JsonObject[] {
  const [result] = definition(schema, "output")["oneOf"] as readonly JsonObject[];
  const outcome = member((result ?? {})["properties"] as JsonObject, name) as JsonObject;
  return outcome["oneOf"] as readonly JsonObject[];
}

const STEPS = "accepted stale operation_conflict run_not_found stage_not_found stage_not_ready stage_not_open " +
  "policy_denied evidence_rejected acquisition_failed run_complete";
const RESOLVED = "accepted known_unaccepted invocation_mismatch unauthorized indeterminate";

/** Tool, member of its result, and all outcomes that it may have. */
const OUTCOMES: readonly (readonly [tool: string, member: string, count: number, outcomes: string])[] = [
  [
    "scenario_start",
    "outcome",
    7,
    "accepted creation_conflict scenario_not_found law_not_found genesis_rejected correlation_rejected " +
    "authority_unavailable",
  ],
  [
    "scenario_open_stage",
    "outcome",
    8,
    "accepted stale operation_conflict run_not_found stage_not_found stage_not_ready stage_already_opened policy_denied",
  ],
  [
    "scenario_evaluate_stage",
    "outcome",
    8,
    "accepted stale operation_conflict run_not_found stage_not_found stage_not_open evidence_rejected " +
    "acquisition_failed",
  ],
  [
    "scenario_submit",
    "outcome",
    8,
    "accepted stale operation_conflict run_not_found stage_not_open stage_open_mismatch content_type_rejected " +
    "payload_rejected",
  ],
  ["scenario_resolve_creation", "outcome", 5, RESOLVED],
  ["scenario_resolve_mutation", "outcome", 5, RESOLVED],
  ["scenario_next", "outcome", 11, STEPS],
  ["scenario_trigger", "outcome", 11, STEPS],
  [
    "runpack_export",
    "publication",
    6,
    "published run_not_found unauthorized limit_exceeded integrity_failure repository_unavailable",
  ],
];

for (const [tool, name, count, outcomes] of OUTCOMES) {
  Deno.test(`the published result of ${tool} is one of ${count} closed objects, one for each outcome`, () =>
    withSchemas((schemas) => {
      const variants = variantsOf(schemas.get(tool) ?? {}, name);
      assert.equal(variants.length, count);
      const names = variants.map(({ properties }) => ((properties as JsonObject)["outcome"] as JsonObject)["const"]);
      assert.deepEqual(names, outcomes.split(" "));
    }));
}

/**
 * Paths of results that the contract leaves open: foreign documents, and details that depend on the code of an error.
 */
const OPEN = [
  "next.items.arguments_hint",
  "schema_record.schema",
  // The law of scenarios_get: the schema of a spec, which scenario_define publishes, is larger than all other results.
  "output.oneOf[0].law",
  // The profile of typed_providers_get and _import: it has a JSON Schema of its own.
  "output.oneOf[0].profile",
  // The answer of scenario_questions: each question has a form of its own, and the words say the same.
  "output.oneOf[0].answer",
  "error.details",
  "witness.provider_result",
  "witness.grant",
];

/** Object schemas that accept unknown members, by their paths. */
function openObjects(schema: JsonValue, path: string): string[] {
  if (isJsonArray(schema)) return schema.flatMap((entry, index) => openObjects(entry, `${path}[${index}]`));
  if (!isJsonObject(schema)) return [];
  const { type, oneOf, properties, additionalProperties } = schema as Readonly<Record<string, JsonValue>>;
  const isOpen = (type === "object" || properties !== undefined) && additionalProperties !== false &&
    oneOf === undefined;
  return [
    ...isOpen ? [path] : [],
    ...Object.entries(schema).flatMap(([name, inside]) => {
      const step = name === "properties" ? "" : `.${name}`;
      if (name !== "properties" || !isJsonObject(inside)) return openObjects(inside, `${path}${step}`);
      return Object.entries(inside).flatMap(([inner, value]) => openObjects(value, `${path}.${inner}`));
    }),
  ];
}

Deno.test("every published result is closed at every level except where the contract leaves it open", () =>
  withSchemas((schemas) => {
    const found = new Set<string>();
    for (const schema of schemas.values()) {
      const { input: _, ...types } = schema["$defs"] as JsonObject;
      for (const [name, type] of Object.entries(types)) openObjects(type, name).forEach((path) => found.add(path));
    }
    assert.deepEqual([...found].sort(), [...OPEN].sort());
  }));

Deno.test("every shared type is referenced by a tool, except types of specs", () =>
  withSchemas((schemas) => {
    const reached = new Set([...schemas.values()].flatMap((schema) => Object.keys(schema["$defs"] as JsonObject)));
    const unreached = Object.keys(sharedTypes()).filter((name) => !reached.has(name));
    const ofSpecs = "pos labels req reqs condition predicate policy stage packet binding";
    assert.deepEqual(unreached.filter((name) => !ofSpecs.split(" ").includes(name)), []);
  }));

const HEAD = { record_id: "0".repeat(64), revision: 1 };
const STEP = { tool: "scenario_status", arguments_hint: {}, why: "See where the run stands" };
const ERROR = { code: "run_not_found", kind: "not_found", message: "Cannot find run", retryable: false };

function refusal(outcome: string, result: JsonObject, beside: JsonObject = {}): JsonObject {
  return { outcome: { outcome, result, ...beside } };
}

/** Answers, and whether the full schema of the tool accepts them. */
const ANSWERS: readonly (readonly [what: string, tool: string, answer: JsonObject, valid: boolean])[] = [
  ["the current head", "scenario_submit", refusal("stale", HEAD, { next: [STEP] }), true],
  ["a head with more", "scenario_submit", refusal("stale", { ...HEAD, status: "active" }, { next: [STEP] }), false],
  ["a head without next steps", "scenario_submit", refusal("stale", HEAD), false],
  ["a step with more", "scenario_submit", refusal("stale", HEAD, { next: [{ ...STEP, when: 1 }] }), false],
  ["an outcome of another tool", "scenario_submit", refusal("policy_denied", HEAD, { next: [STEP] }), false],
  [
    "no receipt",
    "scenario_resolve_creation",
    refusal("known_unaccepted", { reason: "no_accepted_receipt", next: [STEP] }),
    true,
  ],
  ["another reason", "scenario_resolve_creation", refusal("known_unaccepted", { reason: "late", next: [STEP] }), false],
  ["an error", "schemas_get", { error: ERROR }, true],
  ["an error of an unknown code", "schemas_get", { error: { ...ERROR, code: "odd" } }, false],
  ["an error with more", "schemas_get", { error: { ...ERROR, stack: "" } }, false],
  ["an error beside a result", "schemas_get", { error: ERROR, record: {} }, false],
];

for (const [what, tool, answer, valid] of ANSWERS) {
  Deno.test(`the published result of ${tool} ${valid ? "accepts" : "rejects"} ${what}`, () =>
    withSchemas((schemas) => {
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schemas.get(tool) ?? {});
      assert.equal(validate(answer), valid, JSON.stringify(validate.errors));
    }));
}

Deno.test("the published first record of a run of a typed provider names its version", () => {
  const contracts = member((sharedTypes()["run_created"] as JsonObject)["properties"] as JsonObject, "contracts");
  const validate = new Ajv2020({ strict: false }).compile(contracts as JsonObject);
  const bound = { provider_id: "releases", contract_identity: "0".repeat(64) };
  assert.ok(validate([bound, { ...bound, provider_version_identity: "1".repeat(64) }]));
  assert.ok(!validate([{ ...bound, version: "1" }]));
});

Deno.test("a missing type or outcome cannot be published", () => {
  assert.throws(
    () => withTypes(outputSchema(closed({ a: ref("nothing") })), sharedTypes()),
    /result type "nothing" is missing/,
  );
  assert.throws(() => outcomeOf(["creation"], ["odd"]), /Cannot publish outcome "odd"/);
});
