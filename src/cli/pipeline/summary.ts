/** The summary of `gate run` in Markdown. */

import { lawWords } from "../../law/words.ts";
import { everyFinding } from "../../run/missing/causes.ts";
import { attemptSentences } from "../../run/missing/sentence.ts";
import { describeNeeded } from "../run/explain_view.ts";
import type { RunStanding } from "../run/standing.ts";
import { progressOf, stageStateOf } from "../run/standing.ts";
import { shown } from "../terminal/text.ts";
import type { Obstacle } from "./advance.ts";

/** The parts of a summary beside the standing. */
export interface SummaryParts {
  readonly scenario_law_identity: string;
  readonly parameters: string;
  readonly obstacles: readonly Obstacle[];
  /** The exported runpack; null without an export. */
  readonly runpack: { readonly identity: string; readonly file: string } | null;
}

/** Text from outside as code, in which Markdown and a table have no meaning. */
function code(text: string): string {
  return `\`${shown(text).replaceAll("`", "'").replaceAll("|", "\\|")}\``;
}

/** Writes a summary: what the run came to, its stages, what is missing, and its identities. */
export function writeSummary(standing: RunStanding, parts: SummaryParts): string {
  const { run_key, scenario_id, status, law, missing, attempts } = standing;
  const isComplete = status === "complete";
  const words = lawWords(law);
  const lines = [
    `## ${isComplete ? "✅" : "⛔"} ${code(scenario_id)}: ${isComplete ? "complete" : progressOf(standing)}`,
    "",
    "| Stage | State |",
    "| ----- | ----- |",
    ...standing.stages.map((stage) => `| ${code(stage.stage_id)} | ${stageStateOf(standing, stage.stage_id)} |`),
    "",
  ];
  for (const attempt of attempts) {
    const sentences = attemptSentences(law, everyFinding(attempt));
    lines.push(...sentences.map((sentence) => `- Stage ${code(attempt.stage_id)}: ${code(sentence)}`));
  }
  for (const { stage_id, message } of parts.obstacles) {
    lines.push(`- Stage ${code(stage_id)} cannot be evaluated now: ${code(message)}`);
  }
  for (const { stage_id, sets, classification } of missing) {
    const [first] = sets;
    if (first === undefined || classification === "blocked") continue;
    const attempt = attempts.find((one) => one.stage_id === stage_id);
    const needs = first.map((one) => describeNeeded(one, attempt, words, code)).join(" and ");
    const other = sets.length > 1 ? ", or another combination" : "";
    lines.push(`- Stage ${code(stage_id)} needs ${needs}${other}`);
  }
  lines.push(
    "",
    `Run ${code(run_key.run_id)} in namespace ${run_key.namespace_id} under law ${code(parts.scenario_law_identity)}` +
      `${parts.parameters === "" ? "" : `, parameters ${code(parts.parameters)}`}`,
    ...parts.runpack === null ? [] : ["", `Runpack ${code(parts.runpack.identity)} in ${code(parts.runpack.file)}`],
    "",
  );
  return lines.join("\n");
}
