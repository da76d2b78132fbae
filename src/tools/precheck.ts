import { anything, closed, oneOf, type Read } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { isJsonObject, type JsonObject, type JsonValue, member } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import type { CompiledLaw, CompiledStage } from "../run/compile.ts";
import { type Findings, findingsOf } from "../run/missing/causes.ts";
import { type VerifiedOnly, verifiedOnlyUnder } from "../run/missing/stage.ts";
import { type AssertedPrecheck, type AssertedValue, precheckAsserted } from "../run/precheck_asserted.ts";
import { asJson } from "../run/primitives.ts";
import { cutAnswer } from "./framework/response_size.ts";
import { checkDataShape } from "./precheck/data_shape_check.ts";
import { type DataShape, readingShape } from "./precheck/data_shape_members.ts";
import { failure } from "./framework/errors.ts";
import { briefly, genesis, givenIdentity, jsonObject, lawText, name, namespaceId } from "./framework/input.ts";
import { causesMember, unmetMembers } from "./precheck/attempt_causes.ts";
import { missingMember } from "./precheck/missing_answer.ts";
import { stageNotFound } from "./framework/not_found.ts";
import { arrayOf, kleene, ref } from "./framework/output.ts";
import { PRECHECK_MEMBERS } from "./framework/result_types.ts";
import { findNamedLaw } from "./precheck/law_of_spec.ts";
import { refuseRegistry } from "./services/schema_record.ts";
import { lawUnder } from "./mutation/run_parameters.ts";
import { registeredSchemas } from "./mutation/schema_verdicts.ts";
import { precheckEnvironment, type Services } from "./services/services.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import { inTurns } from "../evidence/cooperative_scheduler.ts";
import type { Call, ToolAnswer } from "./framework/types.ts";

const NAMED = { name: "precheck", group: "Run", audit: "precheck" } as const;

const input = table({
  namespace_id: namespaceId,
  scenario_id: optional(name),
  scenario_law_identity: optional(givenIdentity),
  spec: optional(jsonObject({ description: "As in scenario_define; not registered" })),
  law_text: optional(lawText),
  stage_id: optional(name, "Omitted: the first root"),
  genesis: optional(briefly(genesis, "As in scenario_start; omitted: a condition with a parameter is unknown")),
  data_shape: table({ schema_id: name, version: name }, "A registered schema"),
  payload: anything,
});

type Input = Read<typeof input>;

/** The tool `precheck`. */
export const precheck: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Precheck data against a stage",
    description:
      "Predicts the decision of a stage on plain data, without a run: each member of payload is the asserted value of the " +
      "condition of that name. Name the law by scenario_id, scenario_law_identity, spec or law_text.",
    details:
      "Predicts the decision of a stage on plain data, without a run. The payload has to meet the data shape. Each of " +
      "its members is the asserted value of the condition of the same name (any other payload, of a stage's only " +
      "condition). Name the law by scenario_id, scenario_law_identity or an inline spec. decision.kind is advance, complete " +
      "(nothing follows the stage) or hold. blocked_by trust_lane: asserted data is not trusted enough here; outcome_without_lane is " +
      "the outcome of the data itself, and conditions in missing with minimum_lane verified need evidence that an evaluation " +
      "takes or acquires. requires_all_bindings rejects nothing here: all bindings count as agreeing with the asserted " +
      "value. Nothing is recorded. scenario_precheck_stage takes typed evidence instead.",
    hints: READS,
    input,
    takesLaw: true,
    output: closed({ decision: ref("decision"), outcome: kleene, trace: arrayOf(ref("explained_item")) }, {
      blocked_by: oneOf("trust_lane"),
      outcome_without_lane: kleene,
      ...PRECHECK_MEMBERS,
    }),
    act: (input, _raw, call) => judge(services, input, call),
  });

async function judge(services: Services, input: Input, call: Call): Promise<ToolAnswer> {
  const { namespace_id, payload } = input;
  const refused = refuseRegistry(services, call, "get", namespace_id);
  if (refused !== null) return { ok: false, error: refused };
  const registered = await services.schemas.get(namespace_id, input.data_shape.schema_id, input.data_shape.version);
  if (registered === null) return shapeNotFound(input);
  const root = schemaOf(registered.record);
  const verdict = await services.schemaSandbox.validate(registered.schema_identity, root, payload);
  if (verdict !== "valid") {
    return failure("payload_invalid", `Cannot precheck: the payload does not meet its data shape: ${verdict.invalid}`, {
      ...input.data_shape,
      reason: verdict.invalid,
    });
  }
  const law = await lawUnder(services, await findNamedLaw(services, input), input.genesis);
  const stage = stageOf(law, input.stage_id);
  if (stage === null) return stageNotFound(law, input.stage_id ?? "");
  const shape = await inTurns(readingShape(root));
  const isStrict = services.environment.profile.validation.strict;
  const refusals = isStrict ? await checkDataShape(services, stage, shape, registered.schema_identity) : [];
  if (refusals.length > 0) {
    const more = refusals.length > 1 ? ` (and ${refusals.length - 1} more)` : "";
    const message = `Cannot precheck stage ${JSON.stringify(stage.stage.stage_id)}: ${refusals[0]?.message}${more}`;
    return failure("data_shape_rejected", message, asJson({ ...input.data_shape, refusals }) as JsonObject);
  }
  const values = valuesOf(stage, shape, payload);
  if (values === null) {
    const message = "Cannot precheck: a payload that is not an object needs a stage with exactly one condition";
    return failure("payload_invalid", message, { ...input.data_shape, reason: "payload_not_an_object" });
  }
  const judged = await withVerdicts(services, namespace_id, stage, values);
  const environment = precheckEnvironment(services);
  const decided = precheckAsserted(law, stage, judged, environment);
  const findings = findingsOf(stage, decided.trace, decided.items, environment.precheck_at);
  return answer(law, stage, decided, findings, verifiedOnlyUnder(environment.profile));
}

function schemaOf(record: string): JsonValue {
  const parsed = readJson(record);
  return isJsonObject(parsed) ? member(parsed, "schema") ?? true : true;
}

function stageOf(law: CompiledLaw, named: string | undefined): CompiledStage | null {
  if (named === undefined) return law.stages.find(({ prerequisite }) => prerequisite === null) ?? null;
  return law.stages[law.stageIndex.get(named) ?? -1] ?? null;
}

function shapeNotFound({ namespace_id, data_shape }: Input): ToolAnswer {
  const { schema_id, version } = data_shape;
  const message = `Cannot find schema ${JSON.stringify(schema_id)} version ${JSON.stringify(version)} in namespace ` +
    `${namespace_id}`;
  return failure("schema_not_found", message, { namespace_id, schema_id, version });
}

/** The asserted value of each condition; null where the payload has no members and the stage several conditions. */
function valuesOf(stage: CompiledStage, { isObject }: DataShape, payload: JsonValue): AssertedValue[] | null {
  const [only] = stage.conditions;
  if (isJsonObject(payload) && (isObject || stage.conditions.length > 1)) {
    return stage.conditions.flatMap(({ condition: { condition_id } }) => {
      const value = member(payload, condition_id);
      return value === undefined ? [] : [{ condition_id, value }];
    });
  }
  if (only === undefined || stage.conditions.length > 1) return null;
  return [{ condition_id: only.condition.condition_id, value: payload }];
}

/** Adds the verdicts of the schemas of conditions to their values. */
async function withVerdicts(
  services: Services,
  namespaceId: number,
  stage: CompiledStage,
  values: readonly AssertedValue[],
): Promise<AssertedValue[]> {
  const find = registeredSchemas(services, namespaceId);
  return await Promise.all(values.map(async (one) => {
    const domain = stage.conditions[stage.slotOf.get(one.condition_id) ?? -1]?.condition.observation_domain;
    if (domain?.domain !== "Json" || domain.schema === undefined) return one;
    const { identity, document } = await find(domain.schema);
    const verdict = await services.schemaSandbox.validate(identity, document, one.value);
    return { ...one, schema_verdict: verdict === "valid" ? "valid" : "invalid" };
  }));
}

function answer(
  law: CompiledLaw,
  stage: CompiledStage,
  { items: _items, ...judged }: AssertedPrecheck,
  findings: Findings,
  verifiedOnly: VerifiedOnly,
): ToolAnswer {
  const { stage_id } = stage.stage;
  const holds = judged.outcome === "true";
  const follows = (law.dependants[law.stageIndex.get(stage_id) ?? -1]?.length ?? 0) > 0;
  const kind = !holds ? "hold" : follows ? "advance" : "complete";
  return cutAnswer({
    decision: { kind, stage_id, ...unmetMembers(law.law, findings) },
    ...asJson(judged) as JsonObject,
    ...causesMember(law.law, findings),
    ...missingMember(law.law, stage, judged.trace, verifiedOnly),
  });
}
