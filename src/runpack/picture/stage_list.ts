/** The stages of a run as a list, which says all that a drawing shows to readers who cannot see it. */

import { layersOf } from "../../law/stage_layers.ts";
import { expressionText, lawWords } from "../../law/words.ts";
import { neededText } from "../../run/missing/sentence.ts";
import { all, element, type Markup } from "../view/markup.ts";
import type { DrawnLaw } from "./boxes.ts";
import { markIcon } from "./draw_law.ts";
import { type Mark, MARKS, stateWords } from "./marks.ts";
import type { RunPicture } from "./run_picture.ts";

/** A mark in words after its shape. */
export function markedWords(mark: Mark, detail = ""): Markup {
  return element("span", { class: `marked ${MARKS[mark].tone}` }, markIcon(mark), stateWords(mark, detail));
}

/** The stages in an order in which they can be passed, each with its state, what it waits for and its conditions. */
export function listStages(law: DrawnLaw, run: RunPicture): Markup {
  const words = lawWords(law);
  const stages = layersOf(law.stages).flat().map(({ stage_id, prerequisite }) => {
    const state = run.stages.get(stage_id);
    const after = prerequisite.kind === "root" ? "" : `, after ${expressionText(prerequisite.requirement)}`;
    const conditions = [...state?.conditions.values() ?? []].map((one) =>
      element("li", {}, element("code", {}, neededText(one, words)), " ", markedWords(one.mark, one.detail))
    );
    return element(
      "li",
      {},
      element("b", {}, stage_id),
      " ",
      state === undefined ? "" : markedWords(state.mark, state.detail),
      after,
      element("ul", {}, conditions),
    );
  });
  const end = element(
    "li",
    {},
    element("b", {}, "complete"),
    " ",
    markedWords(run.isComplete ? "reached" : "not_reached"),
  );
  return all(element("ol", { class: "stage-list" }, stages, end));
}
