/** Who can complete a law: each stage once it is open, and the run. */

import { LONE_OPENER_VISITS, loneOpeners, setLines } from "../../law/questions/question_text.ts";
import { whoCompletes } from "../../law/questions/who.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { all, element, type Markup } from "./markup.ts";
import { row, table } from "./tables.ts";

/** A page is drawn again with each change of its run, and the law stays. */
const known = new WeakMap<ScenarioLaw, Markup>();

/** The smallest sets of parties that complete each stage and the run, behind a line that warns where one party is enough. */
export function renderOpeners(law: ScenarioLaw): Markup {
  const found = known.get(law) ?? openersOf(law);
  known.set(law, found);
  return found;
}

function openersOf(law: ScenarioLaw): Markup {
  const answer = whoCompletes(law, { visits: LONE_OPENER_VISITS });
  if (answer === null) {
    return element("p", { class: "note" }, "Who can complete the run is undecided: the law is too large.");
  }
  const alone = loneOpeners(answer);
  const rows = [
    ...[...answer.stages].map(([id, sets]) => [element("code", {}, id), sets] as const),
    ["the run", answer.run] as const,
  ];
  return element(
    "details",
    { class: "openers" },
    element("summary", {}, ["Who can complete it", ...alone].join(": ")),
    table(
      "Who can complete it",
      ["Completed, once it is open", "By any of these"],
      rows.map(([name, sets]) => row(name, all(setLines(sets).map((line) => element("div", {}, line))))),
    ),
  );
}
