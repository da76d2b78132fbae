/**
 * The picture of the README: one law, a run of it that stays closed, and one that opens.
 *
 * @module
 */

import type { ScenarioLaw } from "@/law/types.ts";
import { drawLaw } from "@/runpack/picture/draw_law.ts";
import { MARKS } from "@/runpack/picture/marks.ts";
import { LIGHT, PICTURE_STYLE } from "@/runpack/picture/picture_style.ts";
import type { RunPicture } from "@/runpack/picture/run_picture.ts";
import { textWidth } from "@/runpack/picture/text_width.ts";
import { element, type Markup, styleElement } from "@/runpack/view/markup.ts";

/** What one run shows. */
export interface Side {
  readonly title: string;
  /** Lines under the title: the evidence, and what gate decided. */
  readonly lines: readonly string[];
  readonly run: RunPicture;
}

const GRAPH_TOP = 116;
const MARGIN = 20;
const TEXT_SIZE = 13;

/** Draws the sides from left to right, each with the stages of the law as gate draws them. */
export function drawPicture(law: ScenarioLaw, sides: readonly Side[], summary: string): string {
  const drawn = sides.map((side) => ({ side, drawing: drawLaw(law, side.run) }));
  const texts = sides.flatMap(({ lines }) => lines).map((line) => textWidth(line, TEXT_SIZE) + 2 * MARGIN);
  const sideWidth = Math.max(...drawn.map(({ drawing }) => drawing.width), ...texts);
  const width = sideWidth * sides.length;
  const height = GRAPH_TOP + Math.max(...drawn.map(({ drawing }) => drawing.height));
  const picture = element(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      class: "gate-graph",
      role: "img",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "ui-monospace, monospace",
      "font-size": TEXT_SIZE,
    },
    element("title", {}, summary),
    styleElement(PICTURE_STYLE),
    element("rect", { class: "ground", width, height, rx: 8, fill: LIGHT.ground }),
    drawn.map(({ side, drawing }, index) => drawSide(side, drawing, index * sideWidth)),
  );
  return `${picture.markup}\n`;
}

function drawSide({ title, lines, run }: Side, drawing: Markup, x: number): Markup {
  const { tone } = MARKS[run.isComplete ? "complete" : "held"];
  const heading = {
    class: "word",
    x: MARGIN,
    y: 36,
    fill: LIGHT.tones[tone][0],
    "font-size": 18,
    "font-weight": "bold",
  };
  return element(
    "g",
    { transform: `translate(${x} 0)` },
    element("g", { class: tone }, element("text", heading, title)),
    lines.map((line, index) => element("text", { x: MARGIN, y: 62 + 20 * index, fill: LIGHT.ink }, line)),
    element("g", { transform: `translate(0 ${GRAPH_TOP})` }, drawing),
  );
}
