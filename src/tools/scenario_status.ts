import { anyInteger, closed, identity, listOf, oneOf, text } from "../canonical/shape.ts";
import { optional, table } from "../canonical/table_shape.ts";
import { canonicalize } from "../canonical/canonicalize.ts";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { readJson } from "../canonical/scan.ts";
import { runKeyOf } from "../run/command.ts";
import { readyFrontier } from "../run/frontier.ts";
import { asJson } from "../run/primitives.ts";
import type { OperatorProfile } from "../run/profile.ts";
import type { RunState } from "../run/types.ts";
import type { ProjectedRun } from "../store/projection.ts";
import type { Archived } from "../store/types.ts";
import { causesOfAttempts } from "./precheck/attempt_causes.ts";
import { waitingMembers } from "./precheck/waiting_of_run.ts";
import { boundedText, RESULT_BYTES, sentBytes, surelyFits } from "./framework/response_size.ts";
import { runMembers } from "./framework/input.ts";
import { arrayOf, ref } from "./framework/output.ts";
import { CLASSIFICATION, RUN_STATUS } from "./framework/record_types.ts";
import { runNotFound } from "./framework/not_found.ts";
import type { Services } from "./services/services.ts";
import { textAnswer } from "./framework/errors.ts";
import { type MakeTool, makeTool, READS } from "./make_tool.ts";
import type { ToolAnswer } from "./framework/types.ts";
import { eachMissingOfRun, verifiedOnlyUnder } from "../run/missing/stage.ts";
import { BoundedMap } from "../store/bounded_map.ts";
import { inTurns } from "../evidence/cooperative_scheduler.ts";

/** States whose text is cached. */
const KEPT_STATES = 16;

const kept = new BoundedMap<RunState, string>(KEPT_STATES);
let lastRun: Promise<unknown> = Promise.resolve();

/**
 * The JSON text of what each stage is missing.
 *
 * @param maximum Most bytes of it in an answer
 */
function missingOfRunText(run: ProjectedRun, profile: OperatorProfile, maximum: number): Promise<string> {
  const known = kept.get(run.state);
  if (known !== undefined) return Promise.resolve(known);
  const mine = lastRun.then(() => kept.get(run.state) ?? inTurns(computeText(run, profile, maximum)));
  lastRun = mine.catch(() => undefined);
  return mine;
}

/** Computes the text; yields after each stage. */
function* computeText(
  { law, state }: ProjectedRun,
  profile: OperatorProfile,
  maximum: number,
): Generator<undefined, string> {
  const stages: string[] = [];
  for (const stage of eachMissingOfRun(law, state, verifiedOnlyUnder(profile), { maximum, sizeOf: sentBytes })) {
    stages.push(canonicalize(asJson(stage)));
    yield;
  }
  const text = `[${stages.join(",")}]`;
  kept.set(state, text);
  return text;
}

const NAMED = { name: "scenario_status", group: "Read", audit: "request" } as const;

/** The share of the attempts in the bytes that the stages leave; the rest is for `missing`. */
const ATTEMPTS_SHARE = 0.5;

/** Cached answers: a state never changes, so the status of a run is serialised once for each head. */
const ANSWERS = new WeakMap<RunState, ToolAnswer & { readonly text: string }>();

/** The tool `scenario_status`. */
export const scenarioStatus: MakeTool = (services) =>
  makeTool(services, {
    ...NAMED,
    title: "Status of a run",
    description:
      "Shows where a run stands: accepted_head, stages, last attempts. include [missing] adds the smallest sets of conditions " +
      "that complete each stage, [parameters] its values, [waiting] the signatures that open stages wait for.",
    details: "Shows where a run stands: accepted_head (the expected_head of the next mutation), status active or " +
      "complete, and each stage as blocked, ready_unopened, open_incomplete or complete. It also shows the ready frontier (stages " +
      "that can be opened now) and the last 20 attempts as scenario_evaluate_stage returned them. With include [missing] also, for " +
      "each stage that is not complete, the smallest sets of conditions that would complete it (complete false: there may " +
      "be more), the evidence that counts for them, and in waits_for the stages that have to be complete first. With include " +
      "[parameters] the values of the parameters of the law in this run. With include [waiting] the conditions of open stages " +
      "that signed statements (channel accepted_submission) can still satisfy: how many count, how many are needed, and the " +
      "keys that may sign. With disagree the statements that count differ where all have to agree: the keys named there have " +
      "to state another value, or withdraw. With no_key no key that may sign is configured. " +
      "refused names who refused or withdrew, when, and their comment.",
    hints: READS,
    input: table({ ...runMembers, include: optional(listOf(oneOf("missing", "parameters", "waiting"), 3)) }),
    output: closed({
      accepted_head: ref("head"),
      committed_intent_count: anyInteger,
      ready_frontier: arrayOf(text),
      recent_attempts: arrayOf(ref("attempt")),
      stages: arrayOf(closed({ stage_id: text, classification: CLASSIFICATION }, { stage_open_record_id: identity })),
      status: RUN_STATUS,
    }, {
      archived: ref("archived"),
      missing: arrayOf(ref("stage_missing")),
      parameters: arrayOf(ref("parameter")),
      waiting: arrayOf(ref("waiting")),
      waiting_left_out: anyInteger,
      recent_attempts_left_out: anyInteger,
    }),
    act: async ({ namespace_id, scenario_id, run_id, include }) => {
      const run = await services.projections.read(runKeyOf(namespace_id, run_id));
      if (run === null || run.state.scenario_id !== scenario_id) {
        return runNotFound({ namespace_id, scenario_id, run_id });
      }
      let answer = ANSWERS.get(run.state);
      if (answer === undefined) {
        const causes = await causesOfAttempts(services, run, run.state.recent_attempts);
        answer = textAnswer(statusText(run.state, causes));
        ANSWERS.set(run.state, answer);
      }
      if (run.archived === undefined && include === undefined) return answer;
      const whole = run.archived === undefined ? answer.text : withArchived(answer.text, run.archived);
      const given = include?.includes("parameters") === true ? withParameters(whole, run.state) : whole;
      const shown = include?.includes("waiting") === true ? await withWaiting(services, given, run) : given;
      if (include?.includes("missing") !== true) return textAnswer(shown);
      return textAnswer(await withMissingStages(shown, run, services.environment.profile));
    },
  });

/** Adds where the records of an archived run are. */
function withArchived(text: string, archived: Archived): string {
  return `${text.slice(0, -1)},"archived":${JSON.stringify(archived)}}`;
}

/** Adds the parameters of the run, an empty list in a run of a law without parameters. */
function withParameters(text: string, { parameters = [] }: RunState): string {
  return `${text.slice(0, -1)},"parameters":${canonicalize(asJson(parameters))}}`;
}

/** The share of `waiting` in the bytes that the rest leaves; the rest of them is for `missing`. */
const WAITING_SHARE = 0.5;

/** Adds `waiting` to the answer, as far as one answer can hold it. */
async function withWaiting(services: Services, text: string, run: ProjectedRun): Promise<string> {
  const maximum = (RESULT_BYTES - sentBytes(text)) * WAITING_SHARE;
  return `${text.slice(0, -1)},${await waitingMembers(services, run, maximum)}}`;
}

/** Adds `missing` to the answer, as far as one answer can hold it. */
async function withMissingStages(text: string, run: ProjectedRun, profile: OperatorProfile): Promise<string> {
  const maximum = RESULT_BYTES - sentBytes(text) - sentBytes(',"missing":[]');
  return `${text.slice(0, -1)},"missing":${await missingOfRunText(run, profile, maximum)}}`;
}

function statusText(state: RunState, causes: ReadonlyMap<string, JsonObject>): string {
  const recent = state.recent_attempts.map((attempt) => ({
    ...asJson(attempt) as JsonObject,
    ...causes.get(attempt.record_id),
  }));
  // Canonical, so that every process gives the same text, whether it decided the records or read them.
  const textWith = (attempts: readonly JsonValue[]): string =>
    canonicalize(asJson({
      accepted_head: { record_id: state.head.record_id, revision: state.head.revision },
      committed_intent_count: state.committed_intent_count,
      ready_frontier: readyFrontier(state),
      recent_attempts: attempts,
      ...attempts.length === recent.length ? {} : { recent_attempts_left_out: recent.length - attempts.length },
      stages: state.stages.map(({ stage_id, classification, stage_open_record_id }) => ({
        stage_id,
        classification,
        ...stage_open_record_id === null ? {} : { stage_open_record_id },
      })),
      status: state.status,
    }));
  const whole = textWith(recent);
  if (surelyFits(whole, RESULT_BYTES * ATTEMPTS_SHARE)) return whole;
  const bare = textWith([]);
  const attempts = recentAttempts(recent, (RESULT_BYTES - sentBytes(bare)) * ATTEMPTS_SHARE);
  return attempts.length === 0 ? bare : textWith(attempts);
}

/**
 * The newest attempts in at most `maximum` bytes, oldest first. The last attempt is always among them; its trace and
 * evidence are cut where it alone is too large. `recent_attempts_left_out` counts the others, which the history has.
 */
function recentAttempts(attempts: readonly JsonObject[], maximum: number): readonly JsonValue[] {
  const shown: JsonValue[] = [];
  let left = maximum;
  for (const attempt of attempts.toReversed()) {
    const text = JSON.stringify(attempt);
    const cut = shown.length === 0 ? boundedText(text, maximum) : text;
    left -= sentBytes(cut) + 2;
    if (left < 0 && shown.length > 0) break;
    shown.unshift(cut === text ? attempt : readJson(cut));
  }
  return shown;
}
