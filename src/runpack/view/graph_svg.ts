/**
 * The stages of a law as SVG, from top to bottom. No line runs behind a box, and no script or font is loaded.
 *
 * Colours are presentation attributes, so that every viewer shows them; a style sheet overrides them by class.
 *
 * @module
 */

import { layersOf, stagesBefore } from "../../law/stage_layers.ts";
import { isConjunction, leavesOf } from "../../law/requirement_walk.ts";
import { requirementText } from "../../law/requirement_text.ts";
import type { ScenarioLaw } from "../../law/types.ts";
import { isBelow, isLong, type Lane, lanesOf } from "./lanes.ts";
import { type Attributes, type Content, element, type Markup, styleElement, visible } from "./markup.ts";
import { cut } from "./words.ts";

const CHARACTER = 7.6;
/** Height of a box with one line of text, and of each further line. */
const HEIGHT = 34;
const LINE = 18;
const GAP_X = 28;
const GAP_Y = 52;
const MARGIN = 20;
/** Between two lanes. */
const PITCH = 14;
/** What the tip of an arrow covers of its line. */
const TIP = 6;
/** Characters of a label that are drawn; the title of the box holds the whole label. */
const LABEL_CHARACTERS = 40;

/** The state of a stage, or of the end, in a run. */
export interface Standing {
  /** Selects the colours, and is a class of the box. */
  readonly state: "complete" | "open" | "ready" | "blocked";
  /** The state in words: a reader may not see colours. */
  readonly words: string;
}

/** What a drawing shows beyond the law. */
export interface GraphOptions {
  /** The standing of a stage, or of the end for null. */
  readonly standingOf?: (stageId: string | null) => Standing;
  /** Lines that are drawn at most. */
  readonly maximumLines?: number;
}

/** A box in a row: a stage, or the end. */
interface Box {
  readonly label: string;
  readonly isEnd: boolean;
  readonly standing: Standing | null;
  readonly row: number;
  readonly width: number;
  /** The boxes of rows above at which its lines begin. */
  readonly from: readonly Box[];
  /** What it waits for, in words. */
  readonly title: string;
  /** Whether some of the stages that it names need not be complete. */
  readonly isDashed: boolean;
  /** Left edge; known once the rows above are placed. */
  x: number;
}

const LEGEND = "dashed: not all of these have to be complete";

interface Colours {
  readonly fill: string;
  readonly stroke: string;
}

const PLAIN: Colours = { fill: "#f3f5f9", stroke: "#44546a" };
const COLOURS: Readonly<Record<Standing["state"], Colours>> = {
  complete: { fill: "#e2f3e8", stroke: "#14693a" },
  open: { fill: "#fbf0d6", stroke: "#7a5200" },
  ready: { fill: "#e6edfb", stroke: "#2a55b8" },
  blocked: { fill: "#ffffff", stroke: "#5c6670" },
};

/** Colours of a drawing that stands alone, where the reader prefers dark ones. */
const DARK = `@media (prefers-color-scheme: dark) {
.ground { fill: #14171a; } .edge { stroke: #9aa5b0; } .tip, .legend { fill: #9aa5b0; }
.stage rect { fill: #1b1f24; stroke: #9aa5b0; } .stage text { fill: #e6e9ec; }
.stage.end rect { fill: #17331f; stroke: #7fd6a0; }
}`;

/** The drawing as a file of its own. */
export function svgFile(law: ScenarioLaw): string {
  const namespace = { xmlns: "http://www.w3.org/2000/svg" };
  return `${drawGraph(law, {}, namespace, [styleElement(DARK)]).svg.markup}\n`;
}

/** The drawing as an element of a page, and how many lines it leaves out. */
export function svgGraph(law: ScenarioLaw, options: GraphOptions): { readonly svg: Markup; readonly hidden: number } {
  return drawGraph(law, options, {}, []);
}

/** The parameters whose values the start of a run gives. */
function givenText({ parameters }: ScenarioLaw): string {
  if (parameters === undefined) return "";
  return ` with ${parameters.map(({ parameter_id }) => parameter_id).join(", ")}`;
}

function drawGraph(
  law: ScenarioLaw,
  options: GraphOptions,
  namespace: Attributes,
  head: readonly Markup[],
): { readonly svg: Markup; readonly hidden: number } {
  const { rows, hidden } = rowsOf(law, options);
  const widest = place(rows);
  const boxHeight = options.standingOf === undefined ? HEIGHT : HEIGHT + LINE;
  const boxes = rows.flat();
  const lanes = lanesOf(boxes, { left: MARGIN - GAP_X, right: MARGIN + widest + GAP_X, pitch: PITCH });
  const legend = boxes.some(({ isDashed }) => isDashed) ? [LEGEND] : [];
  const left = lanes.reduce((least, { x }) => Math.min(least, x), MARGIN) - MARGIN;
  const ends = [MARGIN + widest, ...lanes.map(({ x }) => x), ...legend.map((text) => left + MARGIN + textWidth(text))];
  const width = ends.reduce((most, end) => Math.max(most, end), 0) + MARGIN - left;
  const bottom = yOf(boxHeight, rows.length - 1) + boxHeight + MARGIN;
  const height = bottom + legend.length * MARGIN;
  const svg = element(
    "svg",
    {
      ...namespace,
      role: "img",
      width,
      height,
      viewBox: `${left} 0 ${width} ${height}`,
      "font-family": "ui-monospace, monospace",
      "font-size": 13,
    },
    element("title", {}, `Stages of ${law.scenario_id}${givenText(law)}`),
    head,
    element("rect", { class: "ground", x: left, width, height, fill: "#ffffff" }),
    boxes.flatMap((box) => box.from.filter((from) => !isLong(from, box)).map((from) => drawEdge(boxHeight, from, box))),
    lanes.flatMap((lane) => drawLane(boxHeight, lane)),
    boxes.filter(({ from }) => from.length > 0).map((box) => drawTip(boxHeight, box)),
    boxes.map((box) => drawBox(boxHeight, box)),
    legend.map((text) =>
      element("text", { class: "legend", x: left + MARGIN, y: bottom + 4.5, fill: "#44546a" }, text)
    ),
  );
  return { svg, hidden };
}

/** The boxes by row, and the number of lines beyond the maximum. */
function rowsOf(law: ScenarioLaw, { standingOf, maximumLines = Infinity }: GraphOptions): {
  readonly rows: Box[][];
  readonly hidden: number;
} {
  const stages = new Map<string, Box>();
  let lines = 0;
  let hidden = 0;
  const makeBox = (
    named: Pick<Box, "isEnd" | "row" | "title" | "isDashed">,
    label: string,
    before: readonly string[],
    standing: Standing | null,
  ): Box => {
    const from = before.flatMap((id) => stages.get(id) ?? []).slice(0, Math.max(0, maximumLines - lines));
    lines += from.length;
    hidden += before.length - from.length;
    const words = standing === null ? "" : `${standing.words}. `;
    const width = Math.max(textWidth(label), textWidth(standing?.words ?? "")) + 28;
    return { ...named, title: `${label}: ${words}${named.title}`, label, from, standing, width, x: 0 };
  };
  const layers = layersOf(law.stages);
  const rows = layers.map((layer, row) =>
    layer.map((stage): Box => {
      const { stage_id: id, prerequisite } = stage;
      const isRoot = prerequisite.kind === "root";
      const isDashed = !isRoot && !isConjunction(prerequisite.requirement);
      const title = isRoot ? "immediately" : `after ${requirementText(prerequisite.requirement)}`;
      const label = cut(visible(id), LABEL_CHARACTERS);
      const box = makeBox({ isEnd: false, row, title, isDashed }, label, stagesBefore(stage), standingOf?.(id) ?? null);
      stages.set(id, box);
      return box;
    })
  );
  const { completion_requirement: completion } = law;
  const title = `complete when ${requirementText(completion)}`;
  const end = { isEnd: true, row: layers.length, title, isDashed: !isConjunction(completion) };
  const last = makeBox(end, "complete", leavesOf(completion), standingOf?.(null) ?? null);
  return { rows: [...rows, [last]], hidden };
}

/** Centres each row, its boxes in the order of the boxes above them; returns the width of the widest row. */
function place(rows: Box[][]): number {
  const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X));
  const widest = Math.max(...widths);
  rows.forEach((row, index) => {
    const wish = new Map(
      row.map((box) => [box, box.from.reduce((sum, one) => sum + middleOf(one), 0) / box.from.length]),
    );
    // Boxes without lines keep the order of the law.
    row.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || 0);
    let x = MARGIN + (widest - (widths[index] ?? 0)) / 2;
    for (const box of row) {
      box.x = Math.round(x);
      x += box.width + GAP_X;
    }
  });
  return widest;
}

function middleOf({ x, width }: Box): number {
  return x + width / 2;
}

function yOf(boxHeight: number, row: number): number {
  return MARGIN + row * (boxHeight + GAP_Y);
}

function textWidth(text: string): number {
  return Math.round(text.length * CHARACTER);
}

function drawBox(boxHeight: number, box: Box): Markup {
  const { x, row, width, isEnd, title, label, standing } = box;
  const y = yOf(boxHeight, row);
  const state = standing?.state ?? null;
  const { fill, stroke } = state !== null ? COLOURS[state] : isEnd ? COLOURS.complete : PLAIN;
  const line = (text: string, at: number, color: string, name: string): Content =>
    element("text", { class: name, x: middleOf(box), y: y + at, "text-anchor": "middle", fill: color }, text);
  return element(
    "g",
    { class: ["stage", ...isEnd ? ["end"] : [], ...state === null ? [] : [state]].join(" ") },
    element("title", {}, title),
    element("rect", { x, y, width, height: boxHeight, rx: isEnd ? 17 : 6, fill, stroke }),
    line(label, 21.5, "#1b2430", "stage-name"),
    standing === null ? "" : line(standing.words, 21.5 + LINE, "#44546a", "stage-state"),
  );
}

/** One path with the hub at one end of it, and one to each end of the other lines. */
function drawLane(boxHeight: number, { hub, ends, first, last, x, isDashed }: Lane<Box>): Markup[] {
  const top = yOf(boxHeight, first);
  const bottom = yOf(boxHeight, last) + boxHeight;
  const enter = (from: Box): string => `${startOf(boxHeight, from)} ${curve(boxHeight, middleOf(from), x, from.row)}`;
  const leave = (to: Box): string => curve(boxHeight, x, middleOf(to), to.row - 1, TIP);
  if (isBelow(hub, ends)) {
    return [...ends.map((end) => enter(end)), `M${x} ${top} V${bottom} ${leave(hub)}`].map((path) =>
      drawLine(path, isDashed)
    );
  }
  return [
    drawLine(`${enter(hub)} V${bottom}`, isDashed),
    ...ends.map((end) => drawLine(`M${x} ${yOf(boxHeight, end.row - 1) + boxHeight} ${leave(end)}`, end.isDashed)),
  ];
}

function drawLine(d: string, isDashed: boolean): Markup {
  const dashes = isDashed ? { "stroke-dasharray": "5 4" } : {};
  return element("path", { d, fill: "none", class: "edge", stroke: "#7a8699", ...dashes });
}

function drawEdge(boxHeight: number, from: Box, to: Box): Markup {
  const path = curve(boxHeight, middleOf(from), middleOf(to), from.row, TIP);
  return drawLine(`${startOf(boxHeight, from)} ${path}`, to.isDashed);
}

function startOf(boxHeight: number, box: Box): string {
  return `M${middleOf(box)} ${yOf(boxHeight, box.row) + boxHeight}`;
}

/** A curve through the gap below a row, which holds no box. */
function curve(boxHeight: number, x1: number, x2: number, row: number, short = 0): string {
  const y1 = yOf(boxHeight, row) + boxHeight;
  const y2 = yOf(boxHeight, row + 1);
  const bend = (y1 + y2) / 2;
  return `C${x1} ${bend} ${x2} ${bend} ${x2} ${y2 - short}`;
}

/** The tip of all arrows to a box. */
function drawTip(boxHeight: number, box: Box): Markup {
  const x = middleOf(box);
  const y = yOf(boxHeight, box.row);
  return element("path", { d: `M${x - 4} ${y - 8} L${x} ${y} L${x + 4} ${y - 8} Z`, class: "tip", fill: "#7a8699" });
}
