import { anything, closed, listOf, type Read } from "../canonical/shape.ts";
import { described, optional, table } from "../canonical/table_shape.ts";
import type { JsonObject } from "../canonical/json.ts";
import type { CompiledLaw, CompiledStage } from "../run/compile.ts";
import type { CallerEvidence } from "../run/evidence.ts";
import { findingsOf, judgedFromPrecheck } from "../run/missing/causes.ts";
import { verifiedOnlyUnder } from "../run/missing/stage.ts";
import { type Precheck, type PrecheckEnvironment, precheckResult, precheckStage } from "../run/precheck.ts";
import { asJson } from "../run/primitives.ts";
import { cutAnswer, cutObject } from "./framework/response_size.ts";
import { failure, faultsSentence } from "./framework/errors.ts";
import {
  briefedEvidence,
  briefly,
  genesis,
  givenIdentity,
  jsonObject,
  lawText,
  name,
  namespaceId,
} from "./framework/input.ts";
import { causesMember } from "./precheck/attempt_causes.ts";
import { findNamedLaw } from "./precheck/law_of_spec.ts";
import { refuseNamedSchemas } from "./services/named_schemas.ts";
import { missingMember } from "./precheck/missing_answer.ts";
import { stageNotFound } from "./framework/not_found.ts";
import { arrayOf, kleene, ref } from "./framework/output.ts";
import { PRECHECK_MEMBERS } from "./framework/result_types.ts";
import { lawUnder } from "./mutation/run_parameters.ts";
import { judgeSchemas, registeredSchemas } from "./mutation/schema_verdicts.ts";
import { precheckEnvironment, type Services } from "./services/services.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import type { ToolAnswer } from "./framework/types.ts";

const NAMED = { name: "scenario_precheck_stage", group: "Run", audit: "precheck" } as const;

const input = table({
  namespace_id: namespaceId,
  scenario_id: optional(name),
  scenario_law_identity: optional(givenIdentity),
  spec: optional(jsonObject({ description: "As in scenario_define; not registered" })),
  law_text: optional(lawText),
  stage_id: name,
  genesis: optional(briefly(genesis, "As in scenario_start; omitted: a condition with a parameter is unknown")),
  caller_evidence: optional(briefedEvidence),
  local_acquisition: optional(briefly(
    described(
      listOf(table({ binding_id: name, value: anything })),
      "Values to take as if these bindings had acquired them: each as its check yields it, null for nothing found",
    ),
    "[{binding_id, value}]: values as if acquired",
  )),
});

type Input = Read<typeof input>;

interface RegisteredLaw {
  readonly namespace_id: number;
  readonly scenario_id: string;
  readonly scenario_law_identity: string;
}

/** The tool `scenario_precheck_stage`. */
export const scenarioPrecheckStage: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Precheck a stage",
    description:
      "Predicts the answer of scenario_evaluate_stage to this evidence, with causes and what is missing. Records nothing and " +
      "needs no run.",
    details:
      "Try evidence without recording anything: predicts the outcome of scenario_evaluate_stage, true, false or unknown, with the " +
      "trace. Unless it is true, missing has the sets of conditions that would complete the stage beside this evidence. " +
      "Nothing is acquired or opened, and no run is needed. Each trace line names what it assumes, and the error of a " +
      "value that does not fit. A prediction is no progress: evaluate the stage of a run to make it so.",
    hints: READS,
    input,
    takesLaw: true,
    output: closed({ outcome: kleene, trace: arrayOf(ref("explained_item")) }, PRECHECK_MEMBERS),
    admit: ({ spec }, call) => spec === undefined ? null : refuseNamedSchemas(services, spec, call),
    act: (input) => precheck(services, input),
  });

async function precheck(services: Services, input: Input): Promise<ToolAnswer> {
  const { namespace_id, stage_id } = input;
  const found = await lawOfCall(services, input);
  if ("ok" in found) return found;
  const law = await lawUnder(services, found, input.genesis);
  const stage = law.stages[law.stageIndex.get(stage_id) ?? -1];
  if (stage === undefined) return stageNotFound(law, stage_id);
  const evidence = input.caller_evidence ?? [];
  // Rejected evidence is not validated with schemas.
  const environment = precheckEnvironment(services);
  const first = judge(environment, law, stage, input, new Map());
  if (!first.ok) return rejected(stage_id, first);
  const verifiedOnly = verifiedOnlyUnder(services.environment.profile);
  const answer = (precheck: Extract<Precheck, { ok: true }>): ToolAnswer => {
    const { trace, evidence } = precheck;
    const findings = findingsOf(stage, trace, evidence.map(judgedFromPrecheck), environment.precheck_at);
    const missing = missingMember(law.law, stage, trace, verifiedOnly);
    return cutAnswer({ ...precheckResult(precheck), ...causesMember(law.law, findings), ...missing });
  };
  const judged = [...evidence, ...assumedEvidence(law, input)];
  const verdicts = await judgeSchemas(services, law, stage, judged, registeredSchemas(services, namespace_id));
  if ("length" in verdicts) {
    const [failed] = verdicts;
    if (failed === undefined) return answer(first);
    throw failed.error;
  }
  if (verdicts.size === 0) return answer(first);
  const second = judge(environment, law, stage, input, verdicts);
  return second.ok ? answer(second) : rejected(stage_id, second);
}

/** The registered law of its scenario, or the one of the call. */
async function lawOfCall(services: Services, input: Input): Promise<CompiledLaw | ToolAnswer> {
  const { namespace_id, scenario_id, scenario_law_identity, spec } = input;
  if (spec !== undefined) return await findNamedLaw(services, input);
  if (scenario_id === undefined || scenario_law_identity === undefined) {
    const path = scenario_id === undefined ? "$.scenario_id" : "$.scenario_law_identity";
    const message = "Member is required: expected it with its law registered, else spec or law_text";
    return failure("invalid_input", `Cannot read arguments: ${path}: ${message}`, {
      issues: [{ path, message, expected: "a registered law, spec or law_text" }],
    });
  }
  const found = await services.projections.law(namespace_id, scenario_law_identity);
  return found?.law.scenario_id === scenario_id ? found : await lawNotFound(services, {
    namespace_id,
    scenario_id,
    scenario_law_identity,
  });
}

/** The assumed values of bindings as evidence for schema verdicts, at the same indexes. */
function assumedEvidence(law: CompiledLaw, input: Input): Pick<CallerEvidence, "condition_id" | "value">[] {
  return (input.local_acquisition ?? []).map(({ binding_id, value }) => ({
    condition_id: law.bindingIndex.get(binding_id)?.condition_id ?? "",
    value: { value, value_type: "Json" },
  }));
}

function judge(
  environment: PrecheckEnvironment,
  law: CompiledLaw,
  stage: CompiledStage,
  input: Input,
  verdicts: ReadonlyMap<number, "valid" | "invalid">,
): Precheck {
  const callerCount = input.caller_evidence?.length ?? 0;
  const assumed = (input.local_acquisition ?? []).map((one, index) => {
    const schema_verdict = verdicts.get(callerCount + index);
    return schema_verdict === undefined ? one : { ...one, schema_verdict };
  });
  return precheckStage(law, stage, input.caller_evidence ?? [], verdicts, assumed, environment);
}

function rejected(stageId: string, precheck: Extract<Precheck, { ok: false }>): ToolAnswer {
  const { rejections } = precheck;
  const message = faultsSentence(`Cannot precheck stage ${JSON.stringify(stageId)}`, rejections);
  return failure("evidence_rejected", message, cutObject(asJson({ stage_id: stageId, rejections }) as JsonObject));
}

async function lawNotFound(
  services: Services,
  { namespace_id, scenario_id, scenario_law_identity }: RegisteredLaw,
): Promise<ToolAnswer> {
  const quoted = JSON.stringify(scenario_id);
  if (!await services.runs.laws.hasScenario(namespace_id, scenario_id)) {
    const message = `Cannot find scenario ${quoted} in namespace ${namespace_id}`;
    return failure("scenario_not_found", message, { namespace_id, scenario_id });
  }
  const message = `Cannot find law "${scenario_law_identity}" of scenario ${quoted} in namespace ${namespace_id}`;
  return failure("law_not_found", message, { namespace_id, scenario_id, scenario_law_identity });
}
