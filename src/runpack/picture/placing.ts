/** Places boxes: the order in each row, rows of bounded width, and positions without overlap. */

import type { Box } from "./boxes.ts";

const GAP_X = 28;
/** Space between two rows, and how much each line through it adds. */
const GAP_Y = 46;
const GAP_LINE = 2;
const GAP_LINES = 90;
/** Width from which a layer becomes several rows. */
const ROW_WIDTH = 1500;

/** The rows of a drawing. Box positions begin at 0. */
export interface Rows {
  readonly boxes: readonly Box[];
  readonly width: number;
  /** By row. */
  readonly tops: readonly number[];
  readonly bottoms: readonly number[];
}

/** Orders the boxes of each layer, splits wide layers into rows, and places every box. */
export function placeBoxes(layers: readonly Box[][]): Rows {
  orderLayers(layers);
  const rows = layers.flatMap(splitLayer);
  rows.forEach((row, index) => row.forEach((box) => box.row = index));
  const boxes = rows.flat();
  const width = Math.max(...rows.map(widthOf));
  for (const row of rows) placeRow(row, width);
  const lines = rows.map(() => 0);
  for (const box of boxes) {
    for (const gap of new Set(box.from.flatMap((from) => [from.row, box.row - 1]))) {
      lines[gap] = (lines[gap] ?? 0) + 1;
    }
  }
  const tops: number[] = [];
  const bottoms: number[] = [];
  let y = 0;
  rows.forEach((row, index) => {
    for (const box of row) box.y = y;
    const bottom = y + row.reduce((most, { height }) => Math.max(most, height), 0);
    tops.push(y);
    bottoms.push(bottom);
    y = bottom + GAP_Y + Math.min(GAP_LINES, GAP_LINE * (lines[index] ?? 0));
  });
  return { boxes, width, tops, bottoms };
}

/** Orders each layer by the mean position of the boxes that its boxes are connected with: from above, below and above. */
function orderLayers(layers: readonly Box[][]): void {
  const lines = layers.flat().flatMap((box) => box.from.map((from) => ({ from, box })));
  const below = Map.groupBy(lines, ({ from }) => from);
  const position = new Map<Box, number>();
  const settle = (layer: readonly Box[]): void =>
    layer.forEach((box, index) => position.set(box, index - (layer.length - 1) / 2));
  layers.forEach(settle);
  const sweep = (layer: Box[], neighbours: (box: Box) => readonly Box[]): void => {
    const wish = new Map(layer.map((box) => [box, mean(neighbours(box), position) ?? position.get(box) ?? 0]));
    layer.sort((a, b) => (wish.get(a) ?? 0) - (wish.get(b) ?? 0));
    settle(layer);
  };
  for (const layer of layers) sweep(layer, ({ from }) => from);
  for (const layer of layers.toReversed()) sweep(layer, (box) => below.get(box)?.map((line) => line.box) ?? []);
  for (const layer of layers) sweep(layer, ({ from }) => from);
}

function mean(boxes: readonly Box[], position: ReadonlyMap<Box, number>): number | null {
  if (boxes.length === 0) return null;
  return boxes.reduce((sum, box) => sum + (position.get(box) ?? 0), 0) / boxes.length;
}

function widthOf(row: readonly Box[]): number {
  return row.reduce((sum, { width }) => sum + width + GAP_X, -GAP_X);
}

/** Rows of about equal width, none of them much wider than the bound. */
function splitLayer(layer: Box[]): Box[][] {
  const count = Math.ceil(widthOf(layer) / ROW_WIDTH);
  if (count <= 1) return [layer];
  const size = Math.ceil(layer.length / count);
  return Array.from({ length: Math.ceil(layer.length / size) }, (_, row) => layer.slice(row * size, (row + 1) * size));
}

/**
 * Places a row as near as possible to the boxes above it: the least squares of all distances, without overlap. Boxes
 * that would overlap move together as one block.
 */
function placeRow(row: readonly Box[], width: number): void {
  const blocks: { sum: number; count: number; offsets: number[] }[] = [];
  let offset = 0;
  for (const box of row) {
    const wish = (wishOf(box) ?? width / 2) - box.width / 2 - offset;
    blocks.push({ sum: wish, count: 1, offsets: [offset] });
    offset += box.width + GAP_X;
    for (
      let [before, last] = blocks.slice(-2);
      before !== undefined && last !== undefined;
      [before, last] = blocks.slice(-2)
    ) {
      if (before.sum / before.count < last.sum / last.count) break;
      blocks.pop();
      before.sum += last.sum;
      before.count += last.count;
      for (const one of last.offsets) before.offsets.push(one);
    }
  }
  const most = width - (offset - GAP_X);
  const places = blocks.flatMap(({ sum, count, offsets }) =>
    offsets.map((one) => Math.round(Math.max(0, Math.min(most, sum / count))) + one)
  );
  row.forEach((box, index) => box.x = places[index] ?? 0);
}

/** The mean of the middles of the boxes above; null without any. */
function wishOf({ from }: Box): number | null {
  return from.length === 0 ? null : from.reduce((sum, { x, width }) => sum + x + width / 2, 0) / from.length;
}
