/** `gate history`: lists the records of a run, each with what it found or what a person wrote. */

import { isJsonArray } from "../../canonical/json.ts";
import { countOf } from "../../config/problems.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { lawWords } from "../../law/words.ts";
import { knownValues, recordedCauses, refusalIdentity } from "../../run/approval.ts";
import { type CompiledLaw, compileLaw } from "../../run/compile.ts";
import { attemptSentences } from "../../run/missing/sentence.ts";
import { commentHash } from "../../run/submitted_statement.ts";
import { lawOfRun } from "../../runpack/material_view.ts";
import { evidenceBody } from "../../runpack/view/statements.ts";
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
  /** What a person wrote beside a statement. The record has its hash. */
  readonly comment?: string;
}

/** Runs `gate history RUN`. */
export function runHistory(prefix: string, flags: RunFlags): Promise<number> {
  return withRunTools(flags, async (session) => {
    const run = await findRun(session, flags, prefix);
    const records = await Array.fromAsync(readHistory(session, run));
    const law = await readLaw(session, run.run_key.namespace_id, run.scenario_law_identity);
    const text = run.archived === undefined
      ? describeHistory(records, law, run.scenario_law_identity)
      : archivedLine(run);
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

/** A line for each record, and under it what was found for each condition, or what a person wrote. */
function describeHistory(records: readonly HistoryItem[], law: ScenarioLaw, lawIdentity: string): string {
  const rows = records.map(({ record }) => [
    `${record.revision}`,
    instantText(record.acceptance_time.accepted_audit_instant),
    describeRecord(record, law),
    shown(record.attribution.principal),
  ]);
  const [first] = records;
  const compiled = compileLaw(law, lawIdentity, "");
  const ofRun = first === undefined ? compiled : lawOfRun(compiled, first.record);
  const known = knownValues(sha256, ofRun);
  const [head, ...lines] = columns([["REVISION", "ACCEPTED", "WHAT", "BY"], ...rows]).split("\n");
  const whole = lines.flatMap((line, at) => {
    const item = records[at];
    return [
      line,
      ...item === undefined ? [] : detailsOf(item, ofRun, known).map((detail) => `${INDENT}${shown(detail)}`),
    ];
  });
  return [head, ...whole].join("\n");
}

/** Below what happened, two spaces in. */
const INDENT = " ".repeat(38);

function detailsOf(
  { record, comment }: HistoryItem,
  law: CompiledLaw,
  known: ReturnType<typeof knownValues>,
): readonly string[] {
  if (record.record_kind === "stage_evaluated") {
    const { stage_id, trace } = record.body;
    const stage = law.law.stages.find((one) => one.stage_id === stage_id);
    const causes = recordedCauses(law, known, record.body);
    return attemptSentences(law.law, trace, causes, stage?.completion_requirement);
  }
  // A server cannot put other words into a person's mouth: the record has the hash of theirs.
  const { comment_hash } = evidenceBody(record)?.evidence ?? {};
  const isTheirs = comment !== undefined && comment_hash?.value === commentHash(sha256, comment).value;
  return isTheirs ? [JSON.stringify(comment)] : [];
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
