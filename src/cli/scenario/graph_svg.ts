/**
 * The stage graph as a drawing that stands by itself: no script, no style sheet, no font from elsewhere.
 *
 * @module
 */

import type { ScenarioLaw } from "../../law/types.ts";
import { isConjunction, layersOf, plainRequirement, stagesBefore, stagesNamed } from "./layers.ts";
import { isBelow, isLong, type Lane, lanesOf } from "./lanes.ts";
import { shown } from "../terminal/text.ts";

const CHARACTER = 7.6;
const HEIGHT = 34;
const GAP_X = 28;
const GAP_Y = 52;
const MARGIN = 20;
/** Between two lanes. */
const PITCH = 14;
/** What the tip of an arrow covers of its line. */
const TIP = 6;
/** Characters of a label that are drawn; the whole stands in its title. */
const LABEL_CHARACTERS = 40;

/** Something in a row: a stage, or the end. */
interface Box {
  readonly id: string;
  readonly kind: "stage" | "end";
  readonly row: number;
  readonly width: number;
  /** Of rows above: where lines to it come from. */
  readonly from: readonly Box[];
  /** What it waits for, in words. */
  readonly title: string;
  /** Whether not all that it names has to be complete. */
  readonly isDashed: boolean;
  /** Left edge; known once the rows above are placed. */
  x: number;
}

const LEGEND = "dashed: not all of these have to be complete";

/** Draws the graph from top to bottom. Dashed lines are alternatives; no line runs behind a box. */
export function svgGraph(law: ScenarioLaw): string {
  const rows = rowsOf(law);
  const widest = place(rows);
  const boxes = rows.flat();
  const lanes = lanesOf(boxes, { left: MARGIN - GAP_X, right: MARGIN + widest + GAP_X, pitch: PITCH });
  const legend = boxes.some(({ isDashed }) => isDashed) ? [LEGEND] : [];
  const left = lanes.reduce((least, { x }) => Math.min(least, x), MARGIN) - MARGIN;
  const ends = [MARGIN + widest, ...lanes.map(({ x }) => x), ...legend.map((text) => left + MARGIN + textWidth(text))];
  const width = ends.reduce((most, end) => Math.max(most, end), 0) + MARGIN - left;
  const bottom = yOf(rows.length - 1) + HEIGHT + MARGIN;
  const height = bottom + legend.length * MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" ` +
    `viewBox="${left} 0 ${width} ${height}" font-family="ui-monospace, monospace" font-size="13">`,
    `<title>${escape(`Stages of ${law.scenario_id}`)}</title>`,
    `<rect x="${left}" width="${width}" height="${height}" fill="#ffffff"/>`,
    ...boxes.flatMap((box) => box.from.filter((from) => !isLong(from, box)).map((from) => drawEdge(from, box))),
    ...lanes.flatMap(drawLane),
    ...boxes.filter(({ from }) => from.length > 0).map(drawTip),
    ...boxes.map(drawBox),
    ...legend.map((text) => `<text x="${left + MARGIN}" y="${bottom + 4.5}" fill="#44546a">${text}</text>`),
    "</svg>",
    "",
  ].join("\n");
}

/** The boxes by row. */
function rowsOf(law: ScenarioLaw): Box[][] {
  const stages = new Map<string, Box>();
  const boxesOf = (names: readonly string[]): Box[] => names.flatMap((id) => stages.get(id) ?? []);
  const layers = layersOf(law);
  const rows = layers.map((layer, row) =>
    layer.map((stage): Box => {
      const { stage_id: id, prerequisite } = stage;
      const isDashed = prerequisite.kind === "requires" && !isConjunction(prerequisite.requirement);
      const after = prerequisite.kind === "root" ? "at once" : `after ${plainRequirement(prerequisite.requirement)}`;
      const title = `${id}: ${after}`;
      const from = boxesOf(stagesBefore(stage));
      const box: Box = { id, kind: "stage", row, width: boxWidth(id), from, title, isDashed, x: 0 };
      stages.set(id, box);
      return box;
    })
  );
  const { completion_requirement: completion } = law;
  const title = `complete when ${plainRequirement(completion)}`;
  const from = boxesOf(stagesNamed(completion));
  const isDashed = !isConjunction(completion);
  const end = { id: "complete", kind: "end", row: layers.length, width: boxWidth("complete"), title } as const;
  return [...rows, [{ ...end, from, isDashed, x: 0 }]];
}

/** Puts each row in the middle, its boxes in the order of what they come from; returns the width of the widest. */
function place(rows: Box[][]): number {
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
  return widest;
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

/** One path with the hub at one end of it, and one to each end of the other lines. */
function drawLane({ hub, ends, first, last, x, isDashed }: Lane<Box>): string[] {
  const [top, bottom] = [yOf(first), yOf(last) + HEIGHT];
  const enter = (from: Box): string => `${startOf(from)} ${curve(middleOf(from), x, from.row)}`;
  const leave = (to: Box): string => curve(x, middleOf(to), to.row - 1, TIP);
  if (isBelow(hub, ends)) {
    return [...ends.map((end) => enter(end)), `M${x} ${top} V${bottom} ${leave(hub)}`].map((path) =>
      drawLine(path, isDashed)
    );
  }
  return [
    drawLine(`${enter(hub)} V${bottom}`, isDashed),
    ...ends.map((end) => drawLine(`M${x} ${yOf(end.row - 1) + HEIGHT} ${leave(end)}`, end.isDashed)),
  ];
}

function drawLine(path: string, isDashed: boolean): string {
  return `<path d="${path}" fill="none" stroke="#7a8699"${isDashed ? ' stroke-dasharray="5 4"' : ""}/>`;
}

function drawEdge(from: Box, to: Box): string {
  return drawLine(`${startOf(from)} ${curve(middleOf(from), middleOf(to), from.row, TIP)}`, to.isDashed);
}

function startOf(box: Box): string {
  return `M${middleOf(box)} ${yOf(box.row) + HEIGHT}`;
}

/** A curve through the gap below a row, where there is no box. */
function curve(x1: number, x2: number, row: number, short = 0): string {
  const [y1, y2] = [yOf(row) + HEIGHT, yOf(row + 1)];
  const bend = (y1 + y2) / 2;
  return `C${x1} ${bend} ${x2} ${bend} ${x2} ${y2 - short}`;
}

/** The tip of all arrows to a box. */
function drawTip(box: Box): string {
  const [x, y] = [middleOf(box), yOf(box.row)];
  return `<path d="M${x - 4} ${y - 8} L${x} ${y} L${x + 4} ${y - 8} Z" fill="#7a8699"/>`;
}

function escape(text: string): string {
  return shown(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
