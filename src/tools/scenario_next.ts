import { words } from "../canonical/words.ts";
import { boolean, listOf, oneOf, type Read } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { runKeyOf } from "../run/command.ts";
import { admitEvaluation } from "../run/decide/decide_evaluate.ts";
import { type AcceptedSteps, decideSteps, type Step } from "../run/decide/decide_steps.ts";
import { refusal } from "../run/refusal.ts";
import type { CompiledLaw } from "../run/compile.ts";
import type { RunRecord, RunState, StageState } from "../run/types.ts";
import {
  type AcceptedCall,
  type Deciding,
  readStep,
  runDerivedMutation,
  standingOf,
} from "./mutation/derived_mutation.ts";
import { FEEDBACK_LEVELS } from "../config/feedback_levels.ts";
import { feedbackMember, grantFeedback } from "./precheck/feedback.ts";
import { evaluationOf, gatherEvidence } from "./mutation/gather_evidence.ts";
import {
  briefedEvidence,
  briefly,
  expectedHead,
  HEAD_RULE,
  name,
  operationId,
  runMembers,
  timestamp,
} from "./framework/input.ts";
import { nextAfterRefusal, refusedStep } from "./next_steps/after_refusal.ts";
import { FRESH_ID } from "./next_steps/shared_steps.ts";
import { nextStages, withOpenStage } from "./next_steps/stage_choice.ts";
import { type Outcome, outcomeAnswer } from "./mutation/outcome.ts";
import { outcomeOf } from "./framework/outcome_types.ts";
import type { Services } from "./services/services.ts";
import { decisionsOf, fromReceiptOf, stepsResult } from "./mutation/step_answer.ts";
import { type MakeTool, makeTool, WRITES_AND_ACQUIRES } from "./make_tool.ts";
import type { Call } from "./framework/types.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import { attemptOf } from "../run/fold.ts";
import { asJson } from "../run/primitives.ts";
import { evaluationsBackwards, type StoredEvaluation } from "../store/evaluations.ts";
import type { RunStore, StoredRecord } from "../store/types.ts";

/** A step at one stage: to be recorded, the repetition of an earlier one, or a refusal. */
export type TriedStep = AcceptedSteps | AcceptedCall | Outcome;

/**
 * When a call begins with no further stage, in milliseconds: many clients end it after a minute, and a stage may take
 * half of one.
 */
const SEARCH_MILLIS = 10_000;

/**
 * Tries stages in their order until a step is to be recorded, the time has passed or the caller is gone. A refusal of
 * the first stage is the answer, as where the caller named it; only a failure of its providers is not. Refusals of the
 * others are not.
 *
 * @param stages At least one
 * @returns The step to record; else the first failure of providers; else the first repetition
 */
export async function searchStages<Stage>(
  stages: readonly Stage[],
  attempt: (stage: Stage) => Promise<TriedStep>,
  signal: AbortSignal,
  now: () => number = () => performance.now(),
): Promise<TriedStep> {
  const since = now();
  let kept: AcceptedCall | Outcome | null = null;
  for (const stage of stages) {
    if (kept !== null && (signal.aborted || now() - since >= SEARCH_MILLIS)) break;
    const tried = await attempt(stage);
    if ("decisions" in tried) return tried;
    const isFailure = "outcome" in tried && tried.outcome === "acquisition_failed";
    if (kept === null && "outcome" in tried && !isFailure) return tried;
    if (kept === null || isFailure && "steps" in kept) kept = tried;
  }
  if (kept === null) throw new RangeError("Cannot search: no stage is given");
  return kept;
}

/** The last recorded attempt of a stage; null where the stage was never evaluated. */
async function lastAttempt(
  runs: Pick<RunStore, "listRecords">,
  { run_key, head }: RunState,
  stageId: string,
): Promise<StoredEvaluation | null> {
  for await (const evaluation of evaluationsBackwards(runs, run_key, head.revision)) {
    if (evaluation.record.body.stage_id === stageId) return evaluation;
  }
  return null;
}

/** The trace lines and the items with identity of the value, error and qualification, as one text. */
function comparedText(record: StoredEvaluation["record"], recordId: string): string {
  const { trace, evidence } = attemptOf(record, recordId);
  return canonicalize(asJson({ trace, evidence }));
}

/**
 * The last attempt of the stage of a new record, where both have the same trace, values, errors and qualification.
 *
 * @param record The decided record, which is not stored
 * @param recordId Its identity
 * @returns Null where the new attempt differs, or the record evaluates no stage
 */
async function findUnchangedAttempt(
  runs: Pick<RunStore, "listRecords">,
  state: RunState,
  record: RunRecord,
  recordId: string,
): Promise<StoredRecord | null> {
  if (record.record_kind !== "stage_evaluated") return null;
  const last = await lastAttempt(runs, state, record.body.stage_id);
  if (last === null) return null;
  return comparedText(record, recordId) === comparedText(last.record, last.stored.record_id) ? last.stored : null;
}

const NAMED = { name: "scenario_next", group: "Run", audit: "mutation" } as const;

/** Outcomes of `scenario_next` and `scenario_trigger` beside `accepted`. */
export const STEP_REFUSALS: readonly string[] = words(
  "stale operation_conflict run_not_found stage_not_found stage_not_ready stage_not_open policy_denied",
  "evidence_rejected acquisition_failed run_complete",
);

const input = table({
  ...runMembers,
  expected_head: expectedHead,
  request_id: operationId,
  stage_id: optional(name, "Omitted: a stage without an attempt, else the oldest attempt that changes"),
  only_changed: optional(boolean, "With stage_id: an attempt that repeats the last one of the stage is not recorded"),
  caller_evidence: optional(briefedEvidence),
  local_acquisition: optional(briefly(
    listOf(table({ binding_id: name, trigger_time: optional(timestamp) })),
    "[{binding_id, trigger_time?}], as in scenario_evaluate_stage",
  )),
  feedback: optional(oneOf(...FEEDBACK_LEVELS), "How much to return; the operator may grant less"),
  ask: optional(boolean, "If the stage waits for signatures, ask the user first"),
});

type Input = Read<typeof input>;

/** The tool `scenario_next`. */
export const scenarioNext: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Take the next step of a run",
    description:
      "Takes one step of a run: opens a stage if needed and evaluates it with the evidence of this call. decision.kind: advance, " +
      "hold or complete. feedback.attempts has causes and what is missing beside the evidence of this call. Send that again with " +
      `it: evidence of earlier calls does not count. ask: where signatures are missing, ask the user to sign first. ${HEAD_RULE} ` +
      "Repeat until run_status is complete.",
    details:
      "Takes one step of a run: opens a stage if it is not open yet and evaluates it with the evidence of this call, both or " +
      "neither. decision.kind is the result: advance (the stage is complete, go on with the next), hold (it stays " +
      "open: decision.unmet names the conditions in the way), complete (the run is). opened: {stage_open_record_id, " +
      "entry_intents} where the stage was opened. Unless the attempt is true, feedback.attempts has causes and missing. " +
      "causes has, for each condition in the way, a code for every item that did not count. missing has the sets of conditions " +
      "that would complete the stage beside the evidence of this call: send that again with them, evidence of earlier calls does " +
      "not count. Level trace adds the trace, evidence the items; withheld: your level omits some of these. " +
      "expected_head must be the run's current head, else the outcome is stale and its result is the current head. Retry a " +
      "lost answer with the same request_id and arguments. Next: " +
      "call again at accepted_head until run_status is complete. recorded false: nothing was recorded, as the stage is as after " +
      "its last attempt and, without stage_id, so are all others; bring other evidence. With ask, where " +
      "the stage waits for signed statements, a client that shows pages asks its user first and nothing is recorded before; " +
      "the text of the answer names the command that signs.",
    hints: WRITES_AND_ACQUIRES,
    input,
    output: outcomeOf(["next_step", "unrecorded_step"], STEP_REFUSALS),
    act: async (input, raw, call) => {
      const { request_id, stage_id } = input;
      const accepted = await runDerivedMutation(services, {
        tool: NAMED.name,
        raw,
        input,
        from: { request_id },
        first: ["open_stage", "evaluate_stage"],
        decide: (deciding) => decideNext(services, input, deciding),
      }, call);
      const outcome = "steps" in accepted ? await answer(services, input, call, accepted) : accepted;
      const answered = outcomeAnswer(outcome, () => {
        const stage = stage_id === undefined ? {} : { stage_id };
        const refused = refusedStep(NAMED.name, input, { request_id, ...stage }, { request_id: FRESH_ID });
        return nextAfterRefusal(refused, outcome);
      });
      if (input.ask !== true || !("steps" in accepted)) return answered;
      return { ...answered, ...await noteOf(services, input, accepted) };
    },
  });

/** The sentence for people after a step whose stage waits for statements. */
async function noteOf(
  services: Services,
  { namespace_id, run_id }: Input,
  accepted: AcceptedCall,
): Promise<{ readonly note?: string }> {
  const stageId = accepted.steps.find(({ decided }) => decided?.completed === false)?.decided?.stage_id;
  const run = await services.projections.load(runKeyOf(namespace_id, run_id));
  if (stageId === undefined || run === null) return {};
  const { waitingOfNamed, waitingSentence } = await import("./mutation/ask_person.ts");
  const waiting = await waitingOfNamed(services, run, stageId);
  return waiting.length === 0 ? {} : { note: waitingSentence(waiting, run_id) };
}

async function decideNext(
  services: Services,
  input: Input,
  deciding: Deciding,
): Promise<TriedStep> {
  const { run: { law, state }, call } = deciding;
  const stages = nextStages(law, state, input.stage_id);
  if ("outcome" in stages) return stages;
  const [first] = stages;
  if (input.ask === true && first !== undefined) {
    const { askPerson } = await import("./mutation/ask_person.ts");
    await askPerson(services, law, state, first.stage.stage_id, call.asking);
  }
  return await searchStages(stages, ({ stage }) => decideAt(services, input, deciding, stage), call.signal);
}

/** The step at one stage. */
async function decideAt(
  services: Services,
  input: Input,
  { run: { law, state }, requestOf, mint, call }: Deciding,
  { stage_id, classification }: StageState,
): Promise<TriedStep> {
  const command = evaluationOf(requestOf("evaluate_stage", 0), state.head, stage_id, input.caller_evidence);
  // Evidence is checked before policy: nothing is disclosed for a call with evidence of another condition.
  const open = withOpenStage(state, stage_id);
  const admitted = admitEvaluation(law, open, command, services.environment);
  if ("outcome" in admitted) return admitted;
  const requested = input.local_acquisition;
  const gathered = await gatherEvidence(services, { law, state: open, command, requested, call, mint });
  if ("outcome" in gathered) return gathered;
  const { acquisition_failures: failures } = gathered;
  if (failures.length > 0) return refusal("acquisition_failed", { stage_id, failures });
  const opening: Step[] = classification === "ready_unopened"
    ? [{ kind: "open", ...requestOf("open_stage", 0), stage_id }]
    : [];
  const decided = decideSteps(law, state, [...opening, gathered], mint(), services.environment);
  const recordsAlways = input.stage_id !== undefined && input.only_changed !== true;
  if (decided.outcome !== "accepted" || recordsAlways) return decided;
  return await repeatedStep(services, law, state, decided) ?? decided;
}

/** The earlier attempt that an evaluation repeats exactly; null where the evaluation is to be recorded. */
async function repeatedStep(
  services: Services,
  law: CompiledLaw,
  state: RunState,
  { decisions }: AcceptedSteps,
): Promise<AcceptedCall | null> {
  const [only, second] = decisions;
  if (only === undefined || second !== undefined) return null;
  const [{ record, record_id }] = only.records;
  const last = await findUnchangedAttempt(services.runs, state, record, record_id);
  return last === null ? null : { law, steps: [readStep(last)], standing: standingOf(state), recorded: false };
}

async function answer(services: Services, input: Input, call: Call, accepted: AcceptedCall): Promise<Outcome> {
  const { scenario_next } = services.config.server.feedback;
  const granted = grantFeedback(scenario_next, call.principal, input.namespace_id, input.feedback);
  const opened = fromReceiptOf(accepted.steps, "stage_opened", ["stage_open_record_id", "entry_intents"]);
  const [decision] = decisionsOf(services, accepted);
  if (decision === undefined) throw new RangeError("Cannot answer: no stage was evaluated");
  const own = { decision, ...opened === null ? {} : { opened } };
  return { outcome: "accepted", result: stepsResult(accepted, own, await feedbackMember(services, accepted, granted)) };
}
