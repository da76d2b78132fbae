/** `gate explain`: shows from the run store what a run is missing, and why its last attempts did not complete it. */

import { loadConfig } from "../../config/load.ts";
import type { GateConfig } from "../../config/types.ts";
import { readyFrontier } from "../../run/frontier.ts";
import { missingOfRun } from "../../run/missing/stage.ts";
import { type ProjectedRun, projectRuns } from "../../store/projection.ts";
import { evaluationsBackwards } from "../../store/evaluations.ts";
import type { RunStore } from "../../store/types.ts";
import { readRefusals } from "../../tools/mutation/submitted_evidence.ts";
import { findingsOfRecord, stageOfAttempt } from "../../tools/precheck/attempt_causes.ts";
import { archivedOf } from "../../store/rows/tombstones.ts";
import { archivedLine } from "./archived_text.ts";
import { CliError } from "../terminal/cli_error.ts";
import { parametersLine } from "./parameters_text.ts";
import {
  describeMissing,
  describeRun,
  exitCodeOfAttempts,
  inOrder,
  type LastAttempt,
  verdictsOf,
} from "./explain_view.ts";
import { sha256 } from "./fold_state.ts";
import { findStoredRun, requireRunDigits } from "./stored_run.ts";
import { type ConfigFlags, writeAnswer } from "../terminal/output.ts";
import { withPipelineStore, withRunStore } from "../store/files.ts";
import { wantsColour } from "../terminal/text.ts";
import { parseNamespace } from "../terminal/namespace_flag.ts";

/** The flags of `gate explain`. */
export interface ExplainOptions extends ConfigFlags {
  readonly namespace?: string;
}

/** Maximum characters of JSON about the stages of a run; far more than in an answer of a tool. */
const MISSING_CHARACTERS = 8 * 1024 * 1024;

/** A run with the last attempt of each open stage. */
interface ExplainedRun extends ProjectedRun {
  readonly attempts: readonly LastAttempt[];
}

/** Runs `gate explain RUN`. Returns 0 for a complete run, 3 if the last attempt of an open stage was False, else 4. */
export async function runExplain(runId: string, options: ExplainOptions): Promise<number> {
  requireRunDigits("run", runId);
  const namespaceId = options.namespace === undefined ? null : parseNamespace(options.namespace);
  const config = await withPipelineStore(await loadConfig(options));
  const { law, state, attempts, archived } = await loadRun(config, runId, namespaceId);
  const verifiedOnly = (): boolean => config.trust.min_lane === "verified" && !config.dev.permissive;
  const missing = missingOfRun(law, state, verifiedOnly, { maximum: MISSING_CHARACTERS });
  const exitCode = exitCodeOfAttempts(state.status, attempts);
  const result = {
    ...state.run_key,
    scenario_id: state.scenario_id,
    ...state.parameters === undefined ? {} : { parameters: state.parameters },
    accepted_head: state.head,
    status: state.status,
    ready_frontier: readyFrontier(state),
    missing,
    last_attempts: attempts,
    ...archivedOf(archived),
  };
  const colour = wantsColour();
  const about = describeRun(state, colour) + parametersLine(state) + archivedLine(archivedOf(archived));
  const text = about + describeMissing(inOrder(law.law, missing), attempts, law.law, colour);
  return writeAnswer("explain", options, result, text, { exitCode });
}

/** The last attempts of the open stages, in the order of the law. */
async function lastAttempts(runs: Pick<RunStore, "listRecords">, { law, state }: ProjectedRun): Promise<LastAttempt[]> {
  const open = state.stages.filter(({ classification, attempt_count }) =>
    classification === "open_incomplete" && attempt_count > 0
  ).map(({ stage_id }) => stage_id);
  const found = new Map<string, LastAttempt>();
  if (open.length === 0) return [];
  for await (const { record: { body }, stored } of evaluationsBackwards(runs, state.run_key, state.head.revision)) {
    const { stage_id, attempt_number, outcome } = body;
    const stage = stageOfAttempt(law, stage_id);
    if (stage === undefined || !open.includes(stage_id) || found.has(stage_id)) continue;
    const findings = findingsOfRecord(stage, body, stored.material, () => ({ isShown: true }));
    const causes = await Promise.all(
      findings.causes.map(async (cause) => {
        const condition = law.conditionIndex.get(cause.condition_id)?.condition;
        const refused = condition === undefined ? [] : await readRefusals(runs, { state, stage_id, condition });
        return refused.length === 0 ? cause : { ...cause, refused };
      }),
    );
    found.set(stage_id, {
      stage_id,
      attempt_number,
      record_id: stored.record_id,
      outcome,
      causes,
      met: findings.met,
      ...verdictsOf(body.trace),
    });
    if (found.size === open.length) break;
  }
  return open.flatMap((stageId) => found.get(stageId) ?? []);
}

function loadRun(config: GateConfig, runId: string, namespaceId: number | null): Promise<ExplainedRun> {
  return withRunStore(config, async (runs) => {
    const run = await projectRuns(runs, sha256).load(await findStoredRun(runs, runId, namespaceId));
    if (run !== null) return { ...run, attempts: await lastAttempts(runs, run) };
    const where = namespaceId === null ? "the store" : `namespace ${namespaceId}`;
    throw new CliError("run_not_found", `Cannot find run "${runId}" in ${where}`);
  });
}
