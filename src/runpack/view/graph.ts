/** The stage graph of a pack: drawn, and as a list. */

import { expressionText } from "../../law/words.ts";
import { drawLaw } from "../picture/draw_law.ts";
import type { RunPicture } from "../picture/run_picture.ts";
import { listStages } from "../picture/stage_list.ts";
import type { PackView } from "../material_view.ts";
import { all, element, type Markup } from "./markup.ts";

/** Lines that are drawn; a page says how many more there are. */
const LINES = 4000;

/** The stage graph, and the list for readers who cannot see it. */
export function renderGraph({ law: { law } }: PackView, run: RunPicture): Markup {
  const drawing = drawLaw(law, run, { maximumLines: LINES });
  const { hidden } = drawing;
  return all(
    element("div", { class: "graph", role: "group", tabindex: 0, "aria-label": "Drawing of the stages" }, drawing),
    hidden === 0 ? "" : element("p", { class: "note" }, `${hidden} more arrows are not drawn.`),
    element("p", {}, "The run is complete when ", element("code", {}, expressionText(law.completion_requirement))),
    element("details", {}, element("summary", {}, "The stages as a list"), listStages(law, run)),
  );
}
