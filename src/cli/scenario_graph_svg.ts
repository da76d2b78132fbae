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
/** Characters of a label that are drawn; the whole stands in its title. */
const LABEL_CHARACTERS = 40;

interface Box {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly before: readonly string[];
  /** What it waits for, in words. */
  readonly title: string;
  readonly isEnd: boolean;
  /** Whether all that it names has to be complete. */
  readonly needsAll: boolean;
}

/** Draws the graph from top to bottom. Dashed lines are alternatives. */
export function svgGraph(law: ScenarioLaw): string {
  const boxes = placeBoxes(law);
  const byId = new Map(boxes.filter(({ isEnd }) => !isEnd).map((box) => [box.id, box]));
  const width = Math.max(...boxes.map((box) => box.x + box.width)) + MARGIN;
  const height = Math.max(...boxes.map((box) => box.y)) + HEIGHT + MARGIN;
  const edges = boxes.flatMap((box) => box.before.flatMap((id) => drawEdge(byId.get(id), box)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" role="img" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="ui-monospace, monospace" font-size="13">`,
    `<title>${escape(`Stages of ${law.scenario_id}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...edges,
    ...boxes.map(drawBox),
    "</svg>",
    "",
  ].join("\n");
}

function placeBoxes(law: ScenarioLaw): Box[] {
  const rows = layersOf(law).map((layer) =>
    layer.map((stage) => ({
      id: stage.stage_id,
      before: stagesBefore(stage),
      isEnd: false,
      needsAll: stage.prerequisite.kind === "root" || isConjunction(stage.prerequisite.requirement),
      title: stage.prerequisite.kind === "root"
        ? `${stage.stage_id}: at once`
        : `${stage.stage_id}: after ${plainRequirement(stage.prerequisite.requirement)}`,
    }))
  );
  const completion = law.completion_requirement;
  rows.push([{
    id: "complete",
    before: stagesNamed(completion),
    isEnd: true,
    needsAll: isConjunction(completion),
    title: `complete when ${plainRequirement(completion)}`,
  }]);
  const widths = rows.map((row) => row.reduce((sum, { id }) => sum + boxWidth(id) + GAP_X, -GAP_X));
  const widest = Math.max(...widths);
  return rows.flatMap((row, index) => {
    let x = MARGIN + (widest - (widths[index] ?? 0)) / 2;
    return row.map((one) => {
      const box = { ...one, x: Math.round(x), y: MARGIN + index * (HEIGHT + GAP_Y), width: boxWidth(one.id) };
      x += box.width + GAP_X;
      return box;
    });
  });
}

function label(id: string): string {
  const text = shown(id);
  return text.length <= LABEL_CHARACTERS ? text : `${text.slice(0, LABEL_CHARACTERS - 1)}…`;
}

function boxWidth(id: string): number {
  return Math.round(label(id).length * CHARACTER) + 28;
}

function drawBox({ id, x, y, width, isEnd, title }: Box): string {
  const [radius, fill, stroke] = isEnd ? [HEIGHT / 2, "#e6f4ea", "#1e7d34"] : [6, "#f3f5f9", "#44546a"];
  const middle = `x="${x + width / 2}" y="${y + HEIGHT / 2 + 4.5}"`;
  return `<g><title>${escape(title)}</title>` +
    `<rect x="${x}" y="${y}" width="${width}" height="${HEIGHT}" rx="${radius}" fill="${fill}" stroke="${stroke}"/>` +
    `<text ${middle} text-anchor="middle" fill="#1b2430">${escape(label(id))}</text></g>`;
}

function drawEdge(from: Box | undefined, to: Box): string[] {
  if (from === undefined) return [];
  const [x1, y1] = [from.x + from.width / 2, from.y + HEIGHT];
  const [x2, y2] = [to.x + to.width / 2, to.y];
  const bend = (y2 - y1) / 2;
  const dash = to.needsAll ? "" : ' stroke-dasharray="5 4"';
  const line = `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 6}`;
  return [
    `<path d="${line}" fill="none" stroke="#7a8699"${dash}/>`,
    `<path d="M${x2 - 4} ${y2 - 8} L${x2} ${y2} L${x2 + 4} ${y2 - 8} Z" fill="#7a8699"/>`,
  ];
}

function escape(text: string): string {
  return shown(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
