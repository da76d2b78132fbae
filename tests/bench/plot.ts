/**
 * Plots as SVG: lines over two axes, and bars. Series differ by colour, by line and by mark, so that no reader depends on colour. A
 * style sheet of the picture follows the reader's choice of light or dark.
 *
 * @module
 */

/** One axis. */
export interface Axis {
  /** What it shows, with the unit. */
  readonly label: string;
  readonly scale: "linear" | "logarithmic";
}

/** Points that belong together. */
export interface Series {
  readonly name: string;
  /** In the order of `x`. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** Lines over two axes. */
export interface LinePlot {
  readonly kind: "lines";
  readonly title: string;
  /** What a reader who does not see the picture should know. */
  readonly description: string;
  readonly x: Axis;
  readonly y: Axis;
  /** At most {@link SERIES_MAXIMUM}. */
  readonly series: readonly Series[];
}

/** Horizontal bars from zero. */
export interface BarPlot {
  readonly kind: "bars";
  readonly title: string;
  readonly description: string;
  /** What the lengths mean, with the unit. */
  readonly label: string;
  readonly bars: readonly { readonly name: string; readonly value: number; readonly isPeer: boolean }[];
}

/** A plot. */
export type Plot = LinePlot | BarPlot;

/** Series that can be told apart. */
export const SERIES_MAXIMUM = 5;

const WIDTH = 720;
const HEIGHT = 400;
/** The area between the axes. */
const AREA = { left: 84, right: 696, top: 76, bottom: 340 };
/** The bars: each has its name above it. */
const BAR = { height: 20, distance: 52, left: 24, right: 624, top: 72 };

const DASHES = ["", "7 4", "2 4", "9 3 2 3", "1 2"];

const STYLE = `
:root { color-scheme: light dark; }
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 16px; font-weight: 600; }
.back { fill: #ffffff; }
.grid { stroke: #d1d9e0; }
.axis { stroke: #59636e; }
.s0 { --c: #0550ae; } .s1 { --c: #bc4c00; } .s2 { --c: #1a7f37; } .s3 { --c: #8250df; } .s4 { --c: #a40e26; }
.line { fill: none; stroke: var(--c); stroke-width: 2; }
.mark { fill: var(--c); }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; }
  .back { fill: #0d1117; }
  .grid { stroke: #30363d; }
  .axis { stroke: #9198a1; }
  .s0 { --c: #79c0ff; } .s1 { --c: #ffa657; } .s2 { --c: #7ee787; } .s3 { --c: #d2a8ff; } .s4 { --c: #ff7b72; }
}`;

/**
 * The text of a plot.
 *
 * @throws {RangeError} For a plot without points, with too many series, or with a value that its scale cannot show
 */
export function drawPlot(plot: Plot): string {
  return plot.kind === "lines" ? drawLines(plot) : drawBars(plot);
}

function drawLines(plot: LinePlot): string {
  const { x, y, series } = plot;
  const points = series.flatMap((one) => one.points);
  if (series.length > SERIES_MAXIMUM) {
    throw new RangeError(`Cannot draw ${series.length} series: at most ${SERIES_MAXIMUM}`);
  }
  if (points.length === 0) throw new RangeError(`Cannot draw "${plot.title}": it has no points`);
  const across = scaleOf(x, points.map(([at]) => at), AREA.left, AREA.right);
  const up = scaleOf(y, points.map(([, at]) => at), AREA.bottom, AREA.top);
  const parts = [
    ...across.ticks.map((tick) => {
      const at = coordinate(across.place(tick));
      return line("grid", at, AREA.top, at, AREA.bottom) + label(at, AREA.bottom + 20, numberText(tick), "middle");
    }),
    ...up.ticks.map((tick) => {
      const at = up.place(tick);
      return line("grid", AREA.left, coordinate(at), AREA.right, coordinate(at)) +
        label(AREA.left - 8, coordinate(at + 4), numberText(tick), "end");
    }),
    line("axis", AREA.left, AREA.bottom, AREA.right, AREA.bottom),
    line("axis", AREA.left, AREA.top, AREA.left, AREA.bottom),
    label((AREA.left + AREA.right) / 2, HEIGHT - 16, x.label, "middle"),
    `<text transform="translate(20 ${(AREA.top + AREA.bottom) / 2}) rotate(-90)" text-anchor="middle">${
      escaped(y.label)
    }</text>`,
    ...series.map((one, index) => drawSeries(one, index, (at) => across.place(at), (at) => up.place(at))),
    ...series.map(({ name }, index) => legend(name, index, series.length)),
  ];
  return picture(plot, HEIGHT, parts);
}

interface Scale {
  readonly ticks: readonly number[];
  /** The place of a value in the picture. */
  readonly place: (value: number) => number;
}

function scaleOf({ label, scale }: Axis, values: readonly number[], start: number, end: number): Scale {
  const isLogarithmic = scale === "logarithmic";
  const wrong = values.find((value) => !Number.isFinite(value) || value < 0 || (isLogarithmic && value === 0));
  if (wrong !== undefined) throw new RangeError(`Cannot draw ${wrong} on the axis "${label}"`);
  const ticks = isLogarithmic ? decades(values) : steps(Math.max(...values));
  const measure = isLogarithmic ? Math.log10 : (value: number): number => value;
  const [low, high] = [measure(ticks[0] ?? 0), measure(ticks.at(-1) ?? 1)];
  return { ticks, place: (value) => start + (measure(value) - low) / (high - low) * (end - start) };
}

/** Powers of ten that enclose the values; at least two. */
function decades(values: readonly number[]): number[] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  return Array.from({ length: high - low + 1 }, (_, index) => Number(`1e${low + index}`));
}

/** From zero to at least the most, in four to eight steps of 1, 2 or 5 times a power of ten. */
function steps(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10((most || 1) / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => (most || 1) / size <= 8) ?? 10 * power;
  return Array.from(
    { length: Math.ceil((most || 1) / step) + 1 },
    (_, index) => Number((index * step).toPrecision(12)),
  );
}

function drawSeries(
  { name, points }: Series,
  index: number,
  across: (value: number) => number,
  up: (value: number) => number,
): string {
  const places = points.map(([x, y]) => [coordinate(across(x)), coordinate(up(y))] as const);
  const marks = places.map(([x, y], at) => {
    const [valueX = 0, valueY = 0] = points[at] ?? [];
    return `<g><title>${escaped(name)}: ${numberText(valueX)}, ${numberText(valueY)}</title>${mark(index, x, y)}</g>`;
  });
  const path = places.map(([x, y]) => `${x},${y}`).join(" ");
  return `<g class="s${index}"><polyline class="line"${dash(index)} points="${path}"/>${marks.join("")}</g>`;
}

function dash(index: number): string {
  return DASHES[index] === "" ? "" : ` stroke-dasharray="${DASHES[index]}"`;
}

/** Each series has a mark of another shape. */
function mark(index: number, x: number, y: number): string {
  if (index === 0) return `<circle class="mark" cx="${x}" cy="${y}" r="4"/>`;
  const shapes = ["", "-4,-4 4,-4 4,4 -4,4", "0,-5 5,4 -5,4", "0,-6 6,0 0,6 -6,0", "-5,-4 5,-4 0,5"];
  return `<polygon class="mark" points="${shapes[index]}" transform="translate(${x} ${y})"/>`;
}

function legend(name: string, index: number, count: number): string {
  const x = coordinate(AREA.left + index * (AREA.right - AREA.left) / Math.max(3, count));
  return `<g class="s${index}"><polyline class="line"${dash(index)} points="${x},52 ${x + 28},52"/>${
    mark(index, x + 14, 52)
  }${label(x + 36, 56, name, "start")}</g>`;
}

function drawBars(plot: BarPlot): string {
  const { bars } = plot;
  if (bars.length === 0) throw new RangeError(`Cannot draw "${plot.title}": it has no bars`);
  const wrong = bars.find(({ value }) => !Number.isFinite(value) || value < 0);
  if (wrong !== undefined) throw new RangeError(`Cannot draw ${wrong.value} as a bar`);
  const most = Math.max(...bars.map(({ value }) => value)) || 1;
  const height = BAR.top + bars.length * BAR.distance + 24;
  const parts = bars.map(({ name, value, isPeer }, index) => {
    const y = BAR.top + index * BAR.distance;
    const width = coordinate(value / most * (BAR.right - BAR.left));
    return `<g class="s${isPeer ? 1 : 0}">${label(BAR.left, y - 8, name, "start")}` +
      `<rect class="mark" x="${BAR.left}" y="${y}" width="${width}" height="${BAR.height}"/>` +
      `${label(coordinate(BAR.left + width + 8), y + 15, numberText(value), "start")}</g>`;
  });
  return picture(plot, height, [
    ...parts,
    label(BAR.left, height - 16, plot.label, "start"),
  ]);
}

function picture({ title, description }: Plot, height: number, parts: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escaped(title)}</title>`,
    `<desc id="description">${escaped(description)}</desc>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="back" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="24" y="30">${escaped(title)}</text>`,
    ...parts,
    "</svg>\n",
  ].join("\n");
}

function line(kind: string, x1: number, y1: number, x2: number, y2: number): string {
  return `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;
}

function label(x: number, y: number, text: string, anchor: "start" | "middle" | "end"): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(text)}</text>`;
}

/** Tenths are fine enough, and make the same bytes everywhere. */
function coordinate(value: number): number {
  return Math.round(value * 10) / 10;
}

/** A number with three significant digits, its thousands separated. */
export function numberText(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 12 });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
