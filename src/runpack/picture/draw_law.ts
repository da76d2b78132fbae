/**
 * Draws the stages of a law as SVG, from top to bottom, with the conditions of each stage in its box. No line crosses a
 * box.
 *
 * A drawing has no script and loads nothing. Colours are attributes, so that every viewer shows them; the style sheet
 * overrides them by class. Browsers and pages may use this module: it needs nothing but the language.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { drawLaw } from "@/runpack/picture/draw_law.ts";
 *
 * const stage = { stage_id: "review", prerequisite: { kind: "root" }, completion_requirement: { Condition: "approved" } } as const;
 * const named = { scenario_id: "release", conditions: [], acquisition_bindings: [] };
 * const law = { ...named, stages: [stage], completion_requirement: { Condition: "review" } };
 * const { markup, hidden } = drawLaw(law, null);
 * assert.ok(markup.startsWith("<svg ") && markup.includes(">approved</text>"));
 * assert.equal(hidden, 0);
 * ```
 *
 * @module
 */

import { type Attributes, type Content, element, type Markup, styleElement } from "../view/markup.ts";
import {
  type Box,
  type BoxLine,
  type DrawnLaw,
  LINE,
  makeBoxes,
  MARK_SPACE,
  NAME_SIZE,
  PADDING,
  TEXT_SIZE,
} from "./boxes.ts";
import { isBelow, isLong, type Lane, lanesOf } from "./lanes.ts";
import { type Mark, MARK_ORDER, MARKS, type Tone } from "./marks.ts";
import { LIGHT, PICTURE_STYLE } from "./picture_style.ts";
import { placeBoxes, type Rows } from "./placing.ts";
import type { RunPicture } from "./run_picture.ts";
import { isPlain, textWidth } from "./text_width.ts";

const MARGIN = 20;
/** From the boxes to the first lane, and between two lanes. */
const LANE_GAP = 28;
const PITCH = 12;
/** What the tip of an arrow covers of its line. */
const TIP = 6;
/** Width that a legend may have where the boxes are narrower. */
const LEGEND_WIDTH = 440;
const LEGEND_LINE = 22;
const LEGEND_SPACE = 24;
/** Radius of the corners of a stage. */
const CORNER = 6;

/** How a law is drawn. */
export interface DrawOptions {
  /** `file` for a file of its own, which holds its style sheet; a page shows an `element` under {@link PICTURE_STYLE}. */
  readonly as?: "element" | "file";
  /** Overrides the preference of the reader. */
  readonly theme?: "light" | "dark";
  /** Lines that are drawn at most; all by default. */
  readonly maximumLines?: number;
}

/** A finished drawing, which can be content of {@link element}. */
export interface Drawing extends Markup {
  readonly width: number;
  readonly height: number;
  /** How many lines it leaves out. */
  readonly hidden: number;
}

/**
 * Draws a law, or a run of it.
 *
 * @param run The state of a run; null draws the law alone
 * @throws {RangeError} If the stages of the law have a cycle
 */
export function drawLaw(law: DrawnLaw, run: RunPicture | null, options: DrawOptions = {}): Drawing {
  const { layers, hidden } = makeBoxes(law, run, options.maximumLines ?? Infinity);
  const rows = placeBoxes(layers);
  const { boxes, bottoms } = rows;
  const lanes = lanesOf(boxes, { left: -LANE_GAP, right: rows.width + LANE_GAP, pitch: PITCH });
  const left = lanes.reduce((least, { x }) => Math.min(least, x), 0);
  const right = lanes.reduce((most, { x }) => Math.max(most, x), rows.width);
  const bottom = bottoms.at(-1) ?? 0;
  const legend = placeLegend(legendOf(boxes), Math.max(right - left, LEGEND_WIDTH));
  const width = Math.max(right - left, legend.width) + 2 * MARGIN;
  const height = bottom + (legend.height === 0 ? 0 : MARGIN + legend.height) + 2 * MARGIN;
  const { markup } = element(
    "svg",
    {
      ...options.as === "file" ? { xmlns: "http://www.w3.org/2000/svg" } : {},
      class: "gate-graph",
      role: "img",
      "data-theme": options.theme ?? null,
      width,
      height,
      viewBox: `${left - MARGIN} ${-MARGIN} ${width} ${height}`,
      "font-family": "ui-monospace, monospace",
      "font-size": TEXT_SIZE,
      fill: "none",
    },
    element("title", {}, `Stages of ${law.scenario_id}${givenText(law)}`),
    element("desc", {}, summaryOf(boxes)),
    options.as === "file" ? styleElement(PICTURE_STYLE) : "",
    element("rect", { class: "ground", x: left - MARGIN, y: -MARGIN, width, height, fill: LIGHT.ground }),
    boxes.flatMap((box) => box.from.filter((from) => !isLong(from, box)).map((from) => drawEdge(rows, from, box))),
    lanes.flatMap((lane) => drawLane(rows, lane)),
    boxes.filter(({ from }) => from.length > 0).map(drawTip),
    boxes.map(drawBox),
    drawLegend(legend.items, left, bottom + MARGIN),
  );
  return { markup, width, height, hidden };
}

/** The parameters whose values the start of a run gives. */
function givenText({ parameters }: DrawnLaw): string {
  if (parameters === undefined) return "";
  return ` with ${parameters.map(({ parameter_id }) => parameter_id).join(", ")}`;
}

/** The stages by their states, in words. */
function summaryOf(boxes: readonly Box[]): string {
  const stages = boxes.filter(({ stageId }) => stageId !== null);
  const marks = MARK_ORDER.flatMap((mark) => {
    const count = stages.filter((box) => box.mark === mark).length;
    return count === 0 ? [] : [`${count} ${MARKS[mark].word}`];
  });
  const end = boxes.at(-1)?.words ?? "";
  const states = marks.length === 0 ? "" : `: ${marks.join(", ")}; the end is ${end}`;
  return `${stages.length} ${stages.length === 1 ? "stage" : "stages"}${states}.`;
}

type LegendItem = { readonly mark: Mark | null; readonly text: string };

/** The states that the boxes show, and dashed lines. */
function legendOf(boxes: readonly Box[]): LegendItem[] {
  const shown = new Set(boxes.flatMap(({ mark, lines }) => [mark, ...lines.map((line) => line.mark)]));
  const marks = MARK_ORDER.filter((mark) => shown.has(mark)).map((mark): LegendItem => ({
    mark,
    text: `${MARKS[mark].word}: ${MARKS[mark].meaning}`,
  }));
  const dashed: LegendItem = { mark: null, text: "dashed: not all of these have to be complete" };
  return boxes.some(({ isDashed, from }) => isDashed && from.length > 0) ? [...marks, dashed] : marks;
}

interface PlacedItem extends LegendItem {
  readonly x: number;
  readonly y: number;
}

/** Places a legend in as many columns as a width holds, at least one. */
function placeLegend(items: readonly LegendItem[], maximum: number): {
  readonly items: readonly PlacedItem[];
  readonly width: number;
  readonly height: number;
} {
  const widest = items.reduce((most, { text }) => Math.max(most, MARK_SPACE + textWidth(text, TEXT_SIZE)), 0);
  const columns = Math.max(1, Math.min(items.length, Math.floor((maximum + LEGEND_SPACE) / (widest + LEGEND_SPACE))));
  const lines = Math.ceil(items.length / columns);
  return {
    items: items.map((item, index) => ({
      ...item,
      x: Math.floor(index / lines) * (widest + LEGEND_SPACE),
      y: (index % lines) * LEGEND_LINE,
    })),
    width: columns * (widest + LEGEND_SPACE) - LEGEND_SPACE,
    height: lines * LEGEND_LINE,
  };
}

function drawLegend(items: readonly PlacedItem[], left: number, top: number): Content {
  if (items.length === 0) return "";
  return element(
    "g",
    { class: "legend" },
    items.map(({ mark, text, x, y }) => {
      const [at, middle] = [left + x, top + y + LEGEND_LINE / 2];
      const dash = { class: "edge", d: `M${at} ${middle}H${at + 16}`, stroke: LIGHT.quiet, "stroke-dasharray": "5 4" };
      return [
        mark === null ? element("path", dash) : drawMark(mark, at + 7, middle),
        drawText(text, at + MARK_SPACE, middle + 4, { class: "quiet", fill: LIGHT.quiet }),
      ];
    }),
  );
}

/** A text that starts or ends at `x`. Text of other scripts gets the width that was kept for it. */
function drawText(text: string, x: number, y: number, attributes: Attributes): Markup {
  const size = Number(attributes["font-size"] ?? TEXT_SIZE);
  const fixed = isPlain(text) ? {} : { textLength: textWidth(text, size), lengthAdjust: "spacingAndGlyphs" };
  return element("text", { x, y, ...attributes, ...fixed }, text);
}

/** The shape of a mark, to stand beside its word in a page. It takes no part in what is read out. */
export function markIcon(mark: Mark): Markup {
  const attributes = { class: "gate-graph icon", viewBox: "-8 -8 16 16", width: 16, height: 16, fill: "none" };
  return element("svg", { ...attributes, "aria-hidden": "true" }, drawMark(mark, 0, 0));
}

/** The shape of a mark around a point. */
function drawMark(mark: Mark, x: number, y: number): Markup {
  const { tone, shape } = MARKS[mark];
  const [front] = LIGHT.tones[tone];
  const parts = shape.map(([kind, d]) =>
    kind === "fill" ? element("path", { class: kind, d, fill: front }) : element("path", {
      class: kind,
      d,
      stroke: kind === "cut" ? LIGHT.card : front,
      "stroke-width": kind === "cut" ? 2 : 1.5,
    })
  );
  return element("g", { class: tone, transform: `translate(${x} ${y})` }, parts);
}

function drawBox(box: Box): Markup {
  const { x, y, width, headHeight, height, mark, name, title, words, lines, stageId } = box;
  const tone: Tone = mark === null ? "plain" : MARKS[mark].tone;
  const [front, behind] = LIGHT.tones[tone];
  const rounding = stageId === null ? headHeight / 2 : CORNER;
  const indent = mark === null ? 0 : MARK_SPACE;
  const border = { "stroke-width": mark === "held" ? 2.5 : 1.2, "stroke-dasharray": mark === "blocked" ? "4 3" : null };
  const at = x + PADDING + indent;
  return element(
    "g",
    {
      class: `${stageId === null ? "end" : "stage"} ${tone}${mark === null ? "" : ` is-${mark}`}`,
      "data-stage": stageId,
    },
    element("title", {}, title),
    element("rect", { class: "box", x, y, width, height, rx: rounding, fill: LIGHT.card, stroke: front, ...border }),
    element("path", { class: "head", d: headPath(box, rounding), fill: behind }),
    mark === null ? "" : drawMark(mark, x + PADDING + 7, y + 16),
    drawText(name, at, y + 21, { "font-size": NAME_SIZE, "font-weight": "bold", fill: LIGHT.ink }),
    words === "" ? "" : drawText(words, at, y + 40, { class: "word", fill: front }),
    lines.map((line, index) => drawLine(line, box, y + headHeight + LINE * index + 19)),
  );
}

/** The upper part of a box, within its border. */
function headPath({ x, y, width, headHeight, lines }: Box, rounding: number): string {
  const r = rounding - 1;
  const across = width - 2 - 2 * r;
  const top = `M${x + 1} ${y + 1 + r}a${r} ${r} 0 0 1 ${r} ${-r}h${across}a${r} ${r} 0 0 1 ${r} ${r}`;
  if (lines.length > 0) return `${top}V${y + headHeight}H${x + 1}Z`;
  return `${top}V${y + headHeight - 1 - r}a${r} ${r} 0 0 1 ${-r} ${r}h${-across}a${r} ${r} 0 0 1 ${-r} ${-r}Z`;
}

/** A condition with its mark and word, or a remark. */
function drawLine({ text, mark, isRemark, title }: BoxLine, { x, width }: Box, y: number): Markup {
  const left = x + PADDING;
  if (mark === null) {
    const shown = drawText(text, left, y, isRemark ? { class: "quiet", fill: LIGHT.quiet } : { fill: LIGHT.ink });
    return element("g", { class: "condition" }, element("title", {}, title), shown);
  }
  const { tone, word } = MARKS[mark];
  return element(
    "g",
    { class: `condition ${tone} is-${mark}` },
    element("title", {}, title),
    drawMark(mark, left + 7, y - 4),
    drawText(text, left + MARK_SPACE, y, { fill: LIGHT.ink }),
    drawText(word, x + width - PADDING, y, { class: "word", "text-anchor": "end", fill: LIGHT.tones[tone][0] }),
  );
}

function middleOf({ x, width }: Box): number {
  return x + width / 2;
}

/** One path with the hub at one end of it, and one to each end of the other lines. */
function drawLane(rows: Rows, { hub, ends, first, last, x, isDashed }: Lane<Box>): Markup[] {
  const top = rows.tops[first] ?? 0;
  const bottom = rows.bottoms[last] ?? 0;
  const enter = (from: Box): string => `${startOf(rows, from)}${curve(rows, middleOf(from), x, from.row)}`;
  const leave = (to: Box): string => curve(rows, x, middleOf(to), to.row - 1, TIP);
  if (isBelow(hub, ends)) {
    const paths = [...ends.map((end) => enter(end)), `M${x} ${top}V${bottom}${leave(hub)}`];
    return paths.map((path) => drawPath(path, isDashed));
  }
  return [
    drawPath(`${enter(hub)}V${bottom}`, isDashed),
    ...ends.map((end) => drawPath(`M${x} ${rows.bottoms[end.row - 1] ?? 0}${leave(end)}`, end.isDashed)),
  ];
}

function drawPath(d: string, isDashed: boolean): Markup {
  const dashes = isDashed ? { "stroke-dasharray": "5 4" } : {};
  return element("path", { class: "edge", d, stroke: LIGHT.quiet, ...dashes });
}

function drawEdge(rows: Rows, from: Box, to: Box): Markup {
  return drawPath(`${startOf(rows, from)}${curve(rows, middleOf(from), middleOf(to), from.row, TIP)}`, to.isDashed);
}

/** From the lower edge of a box to that of its row. */
function startOf(rows: Rows, box: Box): string {
  const bottom = rows.bottoms[box.row] ?? 0;
  const own = box.y + box.height;
  return `M${middleOf(box)} ${own}${own === bottom ? "" : `V${bottom}`}`;
}

/** A curve through the gap below a row, which holds no box. */
function curve(rows: Rows, x1: number, x2: number, row: number, short = 0): string {
  const y1 = rows.bottoms[row] ?? 0;
  const y2 = rows.tops[row + 1] ?? 0;
  const bend = (y1 + y2) / 2;
  return `C${x1} ${bend} ${x2} ${bend} ${x2} ${y2 - short}`;
}

/** The tip of all arrows to a box. */
function drawTip(box: Box): Markup {
  const x = middleOf(box);
  const { y } = box;
  return element("path", { class: "tip", d: `M${x - 4} ${y - 8}L${x} ${y}L${x + 4} ${y - 8}Z`, fill: LIGHT.quiet });
}
