/**
 * The stage graph of a pack: every stage with its state, and a legend that counts the states.
 *
 * @module
 */

import { requirementText } from "../../law/requirement_text.ts";
import type { PackView } from "../material_view.ts";
import { type Standing, svgGraph } from "./graph_svg.ts";
import { all, element, type Markup } from "./markup.ts";
import { isCompleted, type StageState, standingsOf } from "./stage_states.ts";
import { counted } from "./words.ts";

/** Lines that are drawn; a page says how many more there are. */
const LINES = 4000;

const WORDS: Readonly<Record<StageState, string>> = {
  complete: "complete",
  open: "open",
  ready: "ready to be opened",
  blocked: "waiting",
};

/** The order of the legend. */
const STATES: readonly StageState[] = ["complete", "open", "ready", "blocked"];

/** The stage graph with its legend. */
export function renderGraph(view: PackView): Markup {
  const standings = standingsOf(view);
  const { law } = view.law;
  const end: Standing = isCompleted(view)
    ? { state: "complete", words: "reached" }
    : { state: "blocked", words: "not reached" };
  const standingOf = (stageId: string | null): Standing => {
    if (stageId === null) return end;
    const { state, attempts } = standings.get(stageId) ?? { state: "blocked", attempts: 0 };
    return { state, words: attempts === 0 ? WORDS[state] : `${WORDS[state]}, ${counted(attempts, "attempt")}` };
  };
  const { svg, hidden } = svgGraph(law, { standingOf, maximumLines: LINES });
  const legend = STATES.map((state) => {
    const count = [...standings.values()].filter((standing) => standing.state === state).length;
    return element("span", { class: `key ${state}` }, `${count} ${WORDS[state]}`);
  });
  return all(
    element("p", { class: "legend" }, legend),
    element("div", { class: "graph" }, svg),
    hidden === 0 ? "" : element("p", { class: "note" }, `${hidden} more arrows are not drawn.`),
    element("p", {}, "The run is complete when ", element("code", {}, requirementText(law.completion_requirement))),
  );
}
