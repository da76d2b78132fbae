/**
 * The errors and warnings of a law that `gate scenario check`, an editor and the playground show. Warnings are about what
 * is probably not intended, what laws copy from each other unread (windows and words of the caller), and who opens the
 * law alone.
 */

import type { JsonValue } from "../canonical/json.ts";
import { constructLaw } from "../law/law.ts";
import { LAW_LIMITS } from "../law/limits.ts";
import { lintLaw, needsSignature } from "../law/lint.ts";
import { hasPlaceholder } from "../law/placeholders.ts";
import { LONE_OPENER_VISITS, type LoneOpener, loneOpeners } from "../law/questions/question_text.ts";
import { whoCompletes } from "../law/questions/who.ts";
import { leavesOf } from "../law/requirement_walk.ts";
import { quoteAll } from "../law/suggest.ts";
import type { Condition, ScenarioLaw } from "../law/types.ts";
import { permissiveEnvironment } from "../runpack/verify/claims/scenario_law_construction.ts";
import type { LawFile } from "./law_file.ts";
import { type Position, type SourceFault, type Steps, stepsInSpec, stepsOfPath } from "./source_position.ts";

/** An error or a warning, with its position in the text. */
export interface LawProblem {
  readonly severity: "error" | "warning";
  readonly code: string;
  readonly message: string;
  readonly position: Position;
}

/** The law of a text, null where it has an error, with its problems. */
export interface JudgedLaw {
  readonly law: ScenarioLaw | null;
  readonly problems: readonly LawProblem[];
}

/** What a text is that has faults of its format or of the law file. */
export function faulty(faults: readonly SourceFault[]): JudgedLaw {
  return { law: null, problems: faults.map((fault) => ({ severity: "error", ...fault })) };
}

/** Judges a spec without a configuration: every check and every schema that it names counts as present. */
export function judgeSpec(
  spec: JsonValue,
  locate: LawFile["locate"],
  warnings: readonly SourceFault[] = [],
): JudgedLaw {
  const problem = (
    severity: LawProblem["severity"],
    steps: Steps,
    { code, message }: Pick<LawWarning, "code" | "message">,
  ): LawProblem => ({ severity, code, message, position: locate(steps, "value") });
  const built = constructLaw(spec, { limits: LAW_LIMITS, hasPacketSchema: () => true, ...permissiveEnvironment(spec) });
  const warned = warnings.map((one): LawProblem => ({ severity: "warning", ...one }));
  if (!built.ok) {
    const refused = built.refusals.map((one) => problem("error", stepsOfPath(one.path), one));
    return { law: null, problems: [...refused, ...warned] };
  }
  const { law } = built;
  const found = lawWarnings(law, built.caller_asserted).map((one) =>
    problem("warning", stepsInSpec(law, spec, stepsOfPath(one.path)), one)
  );
  return { law, problems: [...warned, ...found] };
}

/** A warning, with its JSON path into the law in normal form. */
export interface LawWarning {
  readonly code: string;
  readonly path: string;
  readonly message: string;
}

/**
 * The warnings of a law.
 *
 * @param callerAsserted The ids of conditions that left out their policy and have no binding
 * @param visits The budget for deciding who opens the law; by default an answer takes at most a tenth of a second
 */
export function lawWarnings(
  law: ScenarioLaw,
  callerAsserted: readonly string[],
  visits = LONE_OPENER_VISITS,
): readonly LawWarning[] {
  return [...lintOpeners(law, visits), ...lintLaw(law, callerAsserted), ...lintWindows(law), ...lintWords(law)];
}

const OPENER_WORDS: Readonly<Record<LoneOpener, string>> = {
  "caller alone": "the caller's word completes the run",
  "one person alone": "one person who signs, and who may call, completes the run",
};

function lintOpeners(law: ScenarioLaw, visits: number): readonly LawWarning[] {
  const answer = whoCompletes(law, { visits });
  if (answer === null) {
    return [{ code: "openers_undecided", path: "$", message: "It is undecided who can complete the run alone" }];
  }
  return loneOpeners(answer).map((opener) => ({
    code: opener.replaceAll(" ", "_"),
    path: "$",
    message: `${opener}: ${OPENER_WORDS[opener]}`,
  }));
}

/** Checks of the time, whose params are a window. */
const WINDOWS: Readonly<Record<string, readonly string[]>> = { time: ["after", "before"], calendar: ["open"] };

function lintWindows({ acquisition_bindings: bindings, parameters }: ScenarioLaw): readonly LawWarning[] {
  if (parameters === undefined) return [];
  return bindings.flatMap(({ binding_id, provider_id, check_id, channel, params = null }, index) => {
    const isWindow = channel === "local_acquisition" && WINDOWS[provider_id]?.includes(check_id) === true;
    if (!isWindow || !hasPlaceholder(params)) return [];
    const message = `Binding ${
      quoteAll([binding_id])
    } has a window that a parameter sets: the caller that starts a run chooses it`;
    return [{ code: "window_by_parameter", path: `$.acquisition_bindings[${index}].params`, message }];
  });
}

function lintWords({ stages, conditions }: ScenarioLaw): readonly LawWarning[] {
  const byId = new Map(conditions.map((condition) => [condition.condition_id, condition]));
  return stages.flatMap(({ stage_id, completion_requirement }, index) => {
    const own = leavesOf(completion_requirement).flatMap((id): readonly Condition[] => {
      const found = byId.get(id);
      return found === undefined ? [] : [found];
    });
    const isApproved = own.some(({ evidence_use_policy: policy }) => needsSignature(policy));
    const words = own.filter(({ evidence_use_policy: policy }) =>
      policy.allowed_channels.includes("caller_submission") && !needsSignature(policy)
    ).map(({ condition_id }) => condition_id);
    if (!isApproved || words.length === 0) return [];
    const message = `Stage ${quoteAll([stage_id])} has approvals beside what the caller says alone: ${quoteAll(words)}`;
    return [{ code: "caller_word_beside_approval", path: `$.stages[${index}].completion_requirement`, message }];
  });
}
