/**
 * Lanes of a stage graph: a line that passes a row runs in a lane, between the boxes of the row or beside all of them.
 */

/** The part of a placed box that the lanes need. */
export interface Placed<Box> {
  readonly row: number;
  readonly x: number;
  readonly width: number;
  /** Whether the lines to it are dashed. */
  readonly isDashed: boolean;
  /** The boxes at which its lines begin. */
  readonly from: readonly Box[];
}

/** A lane, with the box that all its lines begin or end at. */
export interface Lane<Box> {
  readonly hub: Box;
  /** The other ends of its lines: all above the hub, or all below it. */
  readonly ends: readonly Box[];
  /** The rows that it passes. */
  readonly first: number;
  readonly last: number;
  /** One position in all of its rows, so that a lane is one line however long it is. */
  readonly x: number;
  readonly isDashed: boolean;
}

/** Space between a lane and a box. */
const CLEARANCE = 9;
/** Rows that a lane between boxes passes at most. Longer ones run beside all boxes, where they are easier to follow. */
const INNER_ROWS = 12;

/** The space for lanes beside the boxes: left of one edge and right of the other, at a distance. */
export interface Edges {
  readonly left: number;
  readonly right: number;
  readonly pitch: number;
}

type Group<Box> = Pick<Lane<Box>, "hub" | "ends" | "first" | "last">;

/** Whether a line passes a row. */
export function isLong(from: { readonly row: number }, to: { readonly row: number }): boolean {
  return to.row - from.row > 1;
}

/** The lanes of all lines that pass a row: between boxes where there is space nearby, else on the nearer side. */
export function lanesOf<Box extends Placed<Box>>(boxes: readonly Box[], { left, right, pitch }: Edges): Lane<Box>[] {
  const middle = (left + right) / 2;
  const sides = { left: new Tracks(), right: new Tracks() };
  const inner = new Corridors(boxes, pitch);
  const groups = groupsOf(boxes).sort((a, b) => a.first - b.first || a.last - b.last);
  return groups.map(({ hub, ends, first, last }) => {
    const met = [hub, ...ends];
    const center = met.reduce((sum, { x, width }) => sum + x + width / 2, 0) / met.length;
    const isLeft = center < middle;
    const isDashed = isBelow(hub, ends) ? hub.isDashed : ends.every((end) => end.isDashed);
    const between = inner.reserve(first, last, center, isLeft ? center - left : right - center);
    if (between !== null) return { hub, ends, first, last, isDashed, x: between };
    const track = sides[isLeft ? "left" : "right"].reserve(first, last);
    return { hub, ends, first, last, isDashed, x: isLeft ? left - track * pitch : right + track * pitch };
  });
}

/** Whether the lines of a lane end at its hub. */
export function isBelow({ row }: { readonly row: number }, ends: readonly { readonly row: number }[]): boolean {
  return ends.every((end) => end.row < row);
}

/** Each long line is grouped with the end that has more long lines, so that few lanes are needed. */
function groupsOf<Box extends Placed<Box>>(boxes: readonly Box[]): Group<Box>[] {
  const lines = boxes.flatMap((to) => to.from.filter((from) => isLong(from, to)).map((from) => ({ from, to })));
  const starting = Map.groupBy(lines, ({ from }) => from);
  const ending = Map.groupBy(lines, ({ to }) => to);
  const isOfStart = ({ from, to }: typeof lines[number]): boolean =>
    (starting.get(from)?.length ?? 0) > (ending.get(to)?.length ?? 0);
  const down = Map.groupBy(lines.filter(isOfStart), ({ from }) => from);
  const up = Map.groupBy(lines.filter((line) => !isOfStart(line)), ({ to }) => to);
  return [
    ...[...down].map(([hub, of]): Group<Box> => {
      const ends = of.map(({ to }) => to);
      return { hub, ends, first: hub.row + 1, last: ends.reduce((most, { row }) => Math.max(most, row), 0) - 1 };
    }),
    ...[...up].map(([hub, of]): Group<Box> => {
      const ends = of.map(({ from }) => from);
      return {
        hub,
        ends,
        first: ends.reduce((least, { row }) => Math.min(least, row), hub.row) + 1,
        last: hub.row - 1,
      };
    }),
  ];
}

/** Tracks on one side, numbered outwards. */
class Tracks {
  /** The last occupied row of each track. */
  readonly #taken: number[] = [];

  /** Reserves the nearest track that is free in the rows and in the gaps beside them. */
  reserve(first: number, last: number): number {
    const free = this.#taken.findIndex((row) => row < first - 1);
    const track = free < 0 ? this.#taken.length : free;
    this.#taken[track] = last;
    return track;
  }
}

type Interval = readonly [from: number, to: number];

/** Free space between the boxes of rows. */
class Corridors<Box extends Placed<Box>> {
  /** What boxes and lanes occupy, by row. */
  readonly #taken = new Map<number, Interval[]>();
  readonly #pitch: number;
  readonly #end: number;

  constructor(boxes: readonly Box[], pitch: number) {
    this.#pitch = pitch;
    this.#end = boxes.reduce((most, { x, width }) => Math.max(most, x + width), 0);
    for (const { row, x, width } of boxes) this.#take(row, [x - CLEARANCE, x + width + CLEARANCE]);
  }

  /** Reserves the free position nearest to a wish; null where none is nearer than a distance. */
  reserve(first: number, last: number, wish: number, distance: number): number | null {
    if (last - first >= INNER_ROWS) return null;
    const rows = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const taken = rows.flatMap((row) => this.#taken.get(row) ?? []).sort(([a], [b]) => a - b);
    let nearest: number | null = null;
    let from = 0;
    for (const [start, end] of [...taken, [this.#end, Infinity] as const]) {
      const x = Math.round(Math.max(from, Math.min(start, wish)));
      const isFree = from <= x && x <= start;
      if (isFree && Math.abs(x - wish) < Math.abs((nearest ?? Infinity) - wish)) nearest = x;
      from = Math.max(from, end);
    }
    if (nearest === null || Math.abs(nearest - wish) >= distance) return null;
    // The rows beside it too, since its line bends in the gaps to them.
    for (let row = first - 1; row <= last + 1; row++) this.#take(row, [nearest - this.#pitch, nearest + this.#pitch]);
    return nearest;
  }

  #take(row: number, interval: Interval): void {
    const known = this.#taken.get(row);
    if (known === undefined) this.#taken.set(row, [interval]);
    else known.push(interval);
  }
}
