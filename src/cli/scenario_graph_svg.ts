/**
 * The stage graph as a drawing that stands by itself: no script, no style sheet, no font from elsewhere.
 *
 * @module
 */

import type { ScenarioLaw } from "../law/types.ts";
import { isConjunction, layersOf, plainRequirement, stagesBefore, stagesNamed } from "./scenario_layers.ts";
import { shown } from "./text.ts";

const CHARACTER = 7.6;
const HEIGHT = 34;
const GAP_X = 28;
const GAP_Y = 52;
const MARGIN = 20;
/** Width of a lane. */
const LANE = 8;
/** Characters of a label that are drawn; the whole stands in its title. */
const LABEL_CHARACTERS = 40;

/** Something in a row: a stage, the end, or the lane in which what stands further up leads to a stage further down. */
interface Box {
  readonly id: string;
  readonly kind: "stage" | "end" | "lane";
  readonly row: number;
  readonly width: number;
  /** Of the row above: where lines to it come from. */
  readonly from: readonly Box[];
  /** What it waits for, in words. */
  readonly title: string;
  /** Whether not all that it names has to be complete; of a lane, all that the stage at its end names. */
  readonly isDashed: boolean;
  /** Left edge; known once the row above is placed. */
  x: number;
}

const LEGEND = "dashed: not all of these have to be complete";

/** Draws the graph from top to bottom. Dashed lines are alternatives; no line runs behind a box. */
export function svgGraph(law: ScenarioLaw): string {
  const rows = rowsOf(law);
  place(rows);
  const boxes = rows.flat();
  const legend = boxes.some(({ isDashed }) => isDashed) ? [LEGEND] : [];
  const ends = [...boxes.map((box) => box.x + box.width), ...legend.map((text) => MARGIN + textWidth(text))];
  const right = ends.reduce((most, end) => Math.max(most, end), 0);
  const width = right + MARGIN;
  const bottom = yOf(rows.length - 1) + HEIGHT + MARGIN;
  const height = bottom + legend.length * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="ui-monospace, monospace" font-size="13">`,
    `<title>${escape(`Stages of ${law.scenario_id}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...boxes.flatMap((box) => box.from.flatMap((from) => drawEdge(from, box))),
    ...boxes.map((box) => box.kind === "lane" ? drawLane(box) : drawBox(box)),
    ...legend.map((text) => `<text x="${MARGIN}" y="${bottom + 4.5}" fill="#44546a">${text}</text>`),
    "</svg>",
    "",
  ].join("\n");
}

/** The boxes by row. A line passes each row in a lane of its own, so that it never runs behind a box. */
function rowsOf(law: ScenarioLaw): Box[][] {
  const layers = layersOf(law);
  const rows: Box[][] = [...layers, []].map(() => []);
  const stages = new Map<string, Box>();
  const add = (box: Omit<Box, "from" | "x">, before: readonly string[]): Box => {
    const named = before.flatMap((id) => stages.get(id) ?? []);
    let from: Box[] = [];
    for (let row = Math.min(...named.map((one) => one.row)) + 1; row <= box.row; row++) {
      from.push(...named.filter((one) => one.row === row - 1));
      if (row === box.row) break;
      const lane: Box = { ...box, kind: "lane", row, width: LANE, from, x: 0 };
      rows[row]?.push(lane);
      from = [lane];
    }
    const added = { ...box, from, x: 0 };
    rows[box.row]?.push(added);
    return added;
  };
  layers.forEach((layer, row) => {
    for (const stage of layer) {
      const { stage_id: id, prerequisite } = stage;
      const isDashed = prerequisite.kind === "requires" && !isConjunction(prerequisite.requirement);
      const after = prerequisite.kind === "root" ? "at once" : `after ${plainRequirement(prerequisite.requirement)}`;
      const box = { id, kind: "stage", row, width: boxWidth(id), title: `${id}: ${after}`, isDashed } as const;
      stages.set(id, add(box, stagesBefore(stage)));
    }
  });
  const { completion_requirement: completion } = law;
  const title = `complete when ${plainRequirement(completion)}`;
  const end = { id: "complete", kind: "end", row: layers.length, width: boxWidth("complete"), title } as const;
  add({ ...end, isDashed: !isConjunction(completion) }, stagesNamed(completion));
  return rows;
}

/** Puts each row in the middle, its boxes in the order of what they come from. */
function place(rows: Box[][]): void {
  const widths = rows.map((row) => row.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X));
  const widest = Math.max(...widths);
  rows.forEach((row, index) => {
    const wish = new Map(
      row.map((box) => [box, box.from.reduce((sum, one) => sum + middleOf(one), 0) / box.from.length]),
    );
    // Where nothing comes from anywhere, the order of the law stays.
    row.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0) || 0);
    let x = MARGIN + (widest - (widths[index] ?? 0)) / 2;
    for (const box of row) {
      box.x = Math.round(x);
      x += box.width + GAP_X;
    }
  });
}

function middleOf({ x, width }: Box): number {
  return x + width / 2;
}

function yOf(row: number): number {
  return MARGIN + row * (HEIGHT + GAP_Y);
}

function textWidth(text: string): number {
  return Math.round(text.length * CHARACTER);
}

function label(id: string): string {
  const text = shown(id);
  return text.length <= LABEL_CHARACTERS ? text : `${text.slice(0, LABEL_CHARACTERS - 1)}…`;
}

function boxWidth(id: string): number {
  return textWidth(label(id)) + 28;
}

function drawBox(box: Box): string {
  const { id, x, row, width, kind, title } = box;
  const y = yOf(row);
  const [radius, fill, stroke] = kind === "end" ? [HEIGHT / 2, "#e6f4ea", "#1e7d34"] : [6, "#f3f5f9", "#44546a"];
  const middle = `x="${middleOf(box)}" y="${y + HEIGHT / 2 + 4.5}"`;
  return `<g><title>${escape(title)}</title>` +
    `<rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="${radius}" fill="${fill}" stroke="${stroke}"/>` +
    `<text ${middle} text-anchor="middle" fill="#1b2430">${escape(label(id))}</text></g>`;
}

function drawLane(lane: Box): string {
  const [x, y] = [middleOf(lane), yOf(lane.row)];
  return drawLine(`M${x} ${y} V${y + HEIGHT}`, lane);
}

function drawLine(path: string, { isDashed }: Box): string {
  return `<path d="${path}" fill="none" stroke="#7a8699"${isDashed ? ' stroke-dasharray="5 4"' : ""}/>`;
}

function drawEdge(from: Box, to: Box): string[] {
  const [x1, y1] = [middleOf(from), yOf(from.row) + HEIGHT];
  const [x2, y2] = [middleOf(to), yOf(to.row)];
  const bend = (y2 - y1) / 2;
  const curve = (end: number): string =>
    drawLine(`M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${end}`, to);
  if (to.kind === "lane") return [curve(y2)];
  return [curve(y2 - 6), `<path d="M${x2 - 4} ${y2 - 8} L${x2} ${y2} L${x2 + 4} ${y2 - 8} Z" fill="#7a8699"/>`];
}

function escape(text: string): string {
  return shown(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
