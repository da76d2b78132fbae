/**
 * The picture of the README: one law, a run of it that stays closed, and one that opens.
 *
 * @module
 */

import type { ScenarioLaw } from "@/law/types.ts";
import { type Standing, svgGraph } from "@/runpack/view/graph_svg.ts";
import { element, type Markup } from "@/runpack/view/markup.ts";

/** What one run shows. */
export interface Side {
  readonly title: string;
  /** Lines under the title: the evidence, and what gate decided. */
  readonly lines: readonly string[];
  readonly color: string;
  readonly standingOf: (stageId: string | null) => Standing;
}

const WIDTH = 400;
const GRAPH_TOP = 116;
const HEIGHT = 330;

/** Draws the sides from left to right, each with the stages of the law as gate draws them. */
export function drawPicture(law: ScenarioLaw, sides: readonly Side[], summary: string): string {
  const width = WIDTH * sides.length;
  const picture = element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      role: "img",
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      "font-family": "ui-monospace, monospace",
      "font-size": 13,
    },
    element("title", {}, summary),
    element("rect", { width, height: HEIGHT, rx: 8, fill: "#ffffff" }),
    sides.map((side, index) => drawSide(law, side, index * WIDTH)),
  );
  return `${picture.markup}\n`;
}

function drawSide(law: ScenarioLaw, { title, lines, color, standingOf }: Side, x: number): Markup {
  const { svg } = svgGraph(law, { standingOf });
  const graphWidth = Number(/ width="([\d.]+)"/.exec(svg.markup)?.[1]);
  return element(
    "g",
    { transform: `translate(${x} 0)` },
    element("text", { x: 24, y: 36, fill: color, "font-size": 18, "font-weight": "bold" }, title),
    lines.map((line, index) => element("text", { x: 24, y: 62 + 20 * index, fill: "#1b2430" }, line)),
    element("g", { transform: `translate(${(WIDTH - graphWidth) / 2} ${GRAPH_TOP})` }, svg),
  );
}
