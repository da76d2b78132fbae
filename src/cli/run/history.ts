/** `gate history`: lists the records of a run, each in one line. */

import { identify } from "../../canonical/identity.ts";
import { isJsonArray } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { graphIdentity } from "../../law/law.ts";
import { lawWords } from "../../law/words.ts";
import { recordedCauses, refusalIdentity } from "../../run/approval.ts";
import { compileLaw } from "../../run/compile.ts";
import { attemptSentences } from "../../run/missing/sentence.ts";
import { asJson } from "../../run/primitives.ts";
import { lawOfRun } from "../../runpack/material_view.ts";
import type { RunRecord, SubmittedEvidence } from "../../run/types.ts";
import { sha256 } from "./fold_state.ts";
import { readLaw } from "./read_law.ts";
import { instantText } from "../../canonical/instant_text.ts";
import { mustCall, type ToolSession } from "../session/tool_session.ts";
import { CliError } from "../terminal/cli_error.ts";
import { EXIT } from "../terminal/exit_codes.ts";
import { writeAnswer } from "../terminal/output.ts";
import { columns, shown } from "../terminal/text.ts";
import { archivedOf } from "../../store/rows/tombstones.ts";
import { archivedLine } from "./archived_text.ts";
import { findRun, type RunFlags, type RunItem, withRunTools } from "./find_run.ts";

/** A record with its identity. */
export interface HistoryItem {
  readonly record_id: string;
  readonly record: RunRecord;
}

/** Runs `gate history RUN`. */
export function runHistory(prefix: string, flags: RunFlags): Promise<number> {
  return withRunTools(flags, async (session) => {
    const run = await findRun(session, flags, prefix);
    const records = await Array.fromAsync(readHistory(session, run));
    const law = await readLaw(session, run.run_key.namespace_id, run.scenario_law_identity);
    const table = columns([["REVISION", "ACCEPTED", "WHAT", "BY"], ...rowsOf(records, law)]);
    const text = run.archived === undefined ? table : archivedLine(run);
    return writeAnswer("history", flags, { ...run.run_key, records, ...archivedOf(run.archived) }, text);
  });
}

/** The records of a run in their order, a page at a time. */
export async function* readHistory(
  session: ToolSession,
  { run_key, scenario_id }: Pick<RunItem, "run_key" | "scenario_id">,
): AsyncGenerator<HistoryItem> {
  for (let after = 0;;) {
    const input = { namespace_id: run_key.namespace_id, scenario_id, run_id: run_key.run_id, after_revision: after };
    const answer = await mustCall(session, "scenario_history", { ...input, limit: 1000 });
    const records = answer["records"] ?? null;
    yield* (isJsonArray(records) ? records : []) as unknown as HistoryItem[];
    const next = answer["next_after_revision"];
    if (typeof next !== "number") return;
    if (next <= after) {
      throw new CliError("refused", "Cannot read the history: it does not go on", null, EXIT.verificationFailed);
    }
    after = next;
  }
}

/** One row for each record, and under an evaluation one for each condition: what was found for it. */
function rowsOf(records: readonly HistoryItem[], law: ScenarioLaw): string[][] {
  const [first] = records;
  if (first === undefined) return [];
  const compiled = compileLaw(law, identify(sha256, "scenario-law", asJson(law)), graphIdentity(sha256, law));
  const ofRun = lawOfRun(compiled, first.record);
  return records.flatMap(({ record_id, record }) => {
    const { revision, acceptance_time, attribution } = record;
    const at = instantText(acceptance_time.accepted_audit_instant);
    const row = [`${revision}`, at, describeRecord(record, law), shown(attribution.principal)];
    if (record.record_kind !== "stage_evaluated") return [row];
    const { trace } = record.body;
    const causes = recordedCauses(sha256, ofRun, { ...record.body, record_id });
    const sentences = attemptSentences(ofRun.law, trace, causes);
    return [row, ...sentences.map((sentence) => ["", "", `  ${shown(sentence)}`, ""])];
  });
}

/** A record in a few words. */
function describeRecord(record: RunRecord, law: ScenarioLaw): string {
  switch (record.record_kind) {
    case "run_created":
      return `run created of scenario ${shown(record.body.scenario_id)}`;
    case "stage_opened": {
      const { stage_id, intents } = record.body;
      return `opened ${shown(stage_id)}${
        intents.length === 0 ? "" : `, ${countOf(intents.length, "intent")} proposed`
      }`;
    }
    case "stage_evaluated": {
      const { stage_id, attempt_number, outcome, completed, run_status } = record.body;
      const done = completed ? (run_status === "complete" ? ", run complete" : ", stage complete") : "";
      return `evaluated ${shown(stage_id)}, attempt ${attempt_number}: ${outcome}${done}`;
    }
    case "artifact_submitted": {
      const { content_type, scope, evidence } = record.body;
      if (evidence !== undefined) return describeStatement(evidence, law);
      return `submitted ${shown(content_type)}${scope.kind === "run_wide" ? "" : ` to ${shown(scope.stage_id)}`}`;
    }
  }
}

/** A signed statement in a few words. A record has the identity of the value, and not the value. */
function describeStatement(
  { condition_id, value_identity, comment_hash, signature }: SubmittedEvidence,
  law: ScenarioLaw,
): string {
  const condition = law.conditions.find((one) => one.condition_id === condition_id);
  const isRefusal = condition !== undefined && value_identity === refusalIdentity(sha256, condition);
  const what = value_identity === null ? "withdrew its statement on" : isRefusal ? "refused" : "signed a value for";
  const comment = comment_hash === undefined ? "" : ", with a comment";
  return `${shown(signature.key_id)} ${what} ${shown(lawWords(law).condition(condition_id))}${comment}`;
}
