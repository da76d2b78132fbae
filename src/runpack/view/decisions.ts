/** The evidence: each stage's last decision, with the state of its conditions and why each item counts or does not. */

import { lawWords } from "../../law/words.ts";
import { neededText } from "../../run/missing/sentence.ts";
import type { RecordedEvidence, RunRecord, StageEvaluatedBody, TraceItem } from "../../run/types.ts";
import type { PackView } from "../material_view.ts";
import { markIcon } from "../picture/draw_law.ts";
import { type Mark, MARKS } from "../picture/marks.ts";
import type { ConditionPicture, RunPicture } from "../picture/run_picture.ts";
import { markedWords } from "../picture/stage_list.ts";
import { all, type Content, element, type Markup } from "./markup.ts";
import { sourceText } from "./statements.ts";
import { row, table } from "./tables.ts";
import { foundIn } from "./words.ts";

type Decision = Extract<RunRecord, { record_kind: "stage_evaluated" }>;

/** The last decision of each stage, in the order of the records. */
export function lastDecisions({ records }: PackView): readonly Decision[] {
  const last = new Map<string, Decision>();
  for (const { record } of records) {
    if (record.record_kind === "stage_evaluated") last.set(record.body.stage_id, record);
  }
  return [...last.values()].sort((a, b) => a.revision - b.revision);
}

/** The element of a decision, for links. */
export function decisionId({ revision }: RunRecord): string {
  return `e${revision}`;
}

/** The last decision of each stage with its evidence. */
export function renderEvidence(view: PackView, run: RunPicture): Markup {
  const decisions = lastDecisions(view);
  if (decisions.length === 0) return element("p", { class: "note" }, "No stage was evaluated.");
  return all(
    ...decisions.map((record) => {
      const { stage_id, attempt_number } = record.body;
      const state = run.stages.get(stage_id);
      return element(
        "div",
        { id: decisionId(record), class: "decision" },
        element(
          "h3",
          {},
          element("b", {}, stage_id),
          " ",
          state === undefined ? "" : markedWords(state.mark),
          `, attempt ${attempt_number}: `,
          verdictOf(record.body.outcome),
          " (",
          element("a", { href: `#r${record.revision}` }, `record ${record.revision}`),
          ")",
        ),
        renderDecision(view, record.body, state?.conditions ?? null),
      );
    }),
  );
}

const VERDICTS: Readonly<Record<TraceItem["value"], Mark>> = { true: "met", false: "not_met", unknown: "unknown" };

/** A truth value after its shape. An error of a source has the shape of an unavailable one. */
export function verdictOf(value: TraceItem["value"], reason?: TraceItem["reason"]): Markup {
  const mark = reason === "error" ? "unavailable" : VERDICTS[value];
  return element("span", { class: `marked verdict ${MARKS[mark].tone}` }, markIcon(mark), value);
}

/**
 * Each condition of a decision with its judgement and its items.
 *
 * @param conditions The states of the conditions after the decision; null shows the judgements as they are recorded
 */
export function renderDecision(
  view: PackView,
  body: StageEvaluatedBody,
  conditions: ReadonlyMap<string, ConditionPicture> | null,
): Markup {
  const seen = new Set<string>();
  const lines = body.trace.filter(({ condition_id }) => {
    const isNew = !seen.has(condition_id);
    seen.add(condition_id);
    return isNew;
  });
  const words = lawWords(view.law.law);
  const rows = lines.flatMap(({ condition_id, value, reason }) => {
    const items = body.evidence.filter((item) => item.condition_id === condition_id);
    const state = conditions?.get(condition_id);
    const sentence = state === undefined ? words.condition(condition_id) : neededText(state, words);
    const verdict = state === undefined
      ? all(verdictOf(value, reason), reason === undefined ? "" : ` ${reason.replaceAll("_", " ")}`)
      : markedWords(state.mark, state.detail);
    const shown: readonly (RecordedEvidence | null)[] = items.length === 0 ? [null] : items;
    return shown.map((item, index) =>
      row(
        index === 0 ? element("b", {}, sentence) : "",
        index === 0 ? verdict : "",
        ...item === null ? [element("span", { class: "quiet" }, "no evidence"), "", ""] : itemCells(view, item),
      )
    );
  });
  const left = body.narrowed_bindings.length === 0
    ? ""
    : element("p", { class: "note" }, `Not asked: ${body.narrowed_bindings.join(", ")}`);
  return all(
    table(`Evidence of attempt ${body.attempt_number}`, ["Condition", "Is", "Evidence", "Says", "Counts"], rows),
    left,
  );
}

function itemCells(view: PackView, item: RecordedEvidence): readonly Content[] {
  const anchored = item.anchor === undefined ? "" : `, anchored as ${item.anchor.anchor_type}`;
  const counts = item.qualified ? "yes" : `no: ${item.reason ?? item.error?.code ?? "error"}`;
  return [
    `${sourceText(view, item)}${anchored}`,
    element("code", { title: item.value_identity ?? null }, foundIn(view, item)),
    element("span", { class: `marked ${item.qualified ? "good" : "plain"}` }, `${counts} (${item.lane})`),
  ];
}
