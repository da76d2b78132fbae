import assert from "node:assert/strict";
import { drawPlot, type LinePlot, numberText, SERIES_MAXIMUM } from "./plot.ts";

const LINES: LinePlot = {
  kind: "lines",
  title: "Calls <and> answers",
  description: 'One & "two"',
  x: { label: "callers", scale: "logarithmic" },
  y: { label: "milliseconds", scale: "linear" },
  series: [
    { name: "p50", points: [[1, 0], [10, 50], [100, 100]] },
    { name: "p99", points: [[1, 100], [100, 0]] },
  ],
};

/** A plot with one line of these values, and these scales. */
function plotOf(points: LinePlot["series"][number]["points"], x: "linear" | "logarithmic", y = x): string {
  return drawPlot({
    ...LINES,
    x: { label: "x", scale: x },
    y: { label: "y", scale: y },
    series: [{ name: "one", points }],
  });
}

/** The labels of the ticks: across first, then up. */
function ticks(svg: string): string[] {
  return [...svg.matchAll(/<line class="grid"[^>]*><text[^>]*>([^<]*)/g)].map(([, text]) => text ?? "");
}

/** Names the first element that is not closed, or closed without being open; empty for a text that nests. */
function wrongElement(svg: string): string {
  const open: string[] = [];
  for (const [, end, name = "", alone] of svg.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
    if (end === "/" && open.pop() !== name) return name;
    if (end === "" && alone === "") open.push(name);
  }
  return open.join(" ");
}

Deno.test("drawPlot() places points between the axes", () => {
  const svg = drawPlot(LINES);
  // From 84 to 696 across, from 340 up to 76.
  assert.deepEqual([...svg.matchAll(/<polyline[^>]* points="([^"]*)"/g)].map(([, points]) => points), [
    "84,340 390,208 696,76",
    "84,76 696,340",
    "84,52 112,52",
    "288,52 316,52",
  ]);
});

Deno.test("drawPlot() labels axes in decades, and in steps from zero", () => {
  // Points, the scale of both axes, and the labels of the ticks.
  const table: readonly [LinePlot["series"][number]["points"], "linear" | "logarithmic", string[]][] = [
    [[[1, 1]], "logarithmic", ["1", "10", "1", "10"]],
    [[[3, 20], [900, 2000]], "logarithmic", ["1", "10", "100", "1,000", "10", "100", "1,000", "10,000"]],
    [[[0.02, 1], [1, 1]], "logarithmic", ["0.01", "0.1", "1", "1", "10"]],
    [[[1, 7], [4, 4]], "linear", ["0", "1", "2", "3", "4", "0", "1", "2", "3", "4", "5", "6", "7"]],
    [[[0, 0]], "linear", ["0", "0.2", "0.4", "0.6", "0.8", "1", "0", "0.2", "0.4", "0.6", "0.8", "1"]],
    [[[30, 0.9]], "linear", ["0", "5", "10", "15", "20", "25", "30", "0", "0.2", "0.4", "0.6", "0.8", "1"]],
  ];
  for (const [points, scale, labels] of table) assert.deepEqual(ticks(plotOf(points, scale)), labels);
});

Deno.test("drawPlot() writes elements that nest, escaped texts, a title, a description and a legend", () => {
  const bars = [{ name: "a < b", value: 2, isPeer: false }, { name: "peer", value: 4, isPeer: true }];
  const plots = [LINES, { ...LINES, kind: "bars", label: "milliseconds", bars }] as const;
  for (const plot of plots) {
    const svg = drawPlot(plot);
    assert.equal(wrongElement(svg.replace(/<style>[^]*<\/style>/, "")), "");
    assert.match(svg, /role="img" aria-labelledby="title description"/);
    assert.match(
      svg,
      /<title id="title">Calls &lt;and&gt; answers<\/title>\n<desc id="description">One &amp; &quot;two&quot;</,
    );
    assert.match(svg, /@media \(prefers-color-scheme: dark\)/);
  }
  assert.match(drawPlot(LINES), />p50<\/text>[^]*>p99<\/text>/);
  assert.match(drawPlot(plots[1]), />a &lt; b<[^]*width="300"[^]*>2<[^]*>peer<[^]*width="600"[^]*>4</);
});

Deno.test("series differ by class, line and mark", () => {
  const series = Array.from(
    { length: SERIES_MAXIMUM },
    (_, index) => ({ name: `${index}`, points: [[1, 1]] as const }),
  );
  const groups = drawPlot({ ...LINES, series }).match(/<g class="s\d">.*/g)?.slice(0, SERIES_MAXIMUM) ?? [];
  for (
    const feature of [/class="s\d"/, /<polyline class="line"( stroke-dasharray="[^"]*")?/, /<(circle|polygon) [^/]*/]
  ) {
    const found = groups.map((group) => feature.exec(group)?.[0].replace(/ c[xy]="[^"]*"| transform=.*/g, ""));
    assert.equal(new Set(found).size, SERIES_MAXIMUM, `${feature}`);
  }
});

Deno.test("drawPlot() refuses what it cannot show", () => {
  const six = Array.from({ length: SERIES_MAXIMUM + 1 }, () => LINES.series[0]!);
  const refused: readonly (() => string)[] = [
    () => drawPlot({ ...LINES, series: [] }),
    () => drawPlot({ ...LINES, series: six }),
    () => plotOf([[0, 1]], "logarithmic"),
    () => plotOf([[1, -1]], "linear"),
    () => plotOf([[1, NaN]], "linear"),
    () => plotOf([[Infinity, 1]], "linear"),
    () => drawPlot({ ...LINES, kind: "bars", label: "", bars: [] }),
    () => drawPlot({ ...LINES, kind: "bars", label: "", bars: [{ name: "", value: NaN, isPeer: false }] }),
  ];
  for (const draw of refused) assert.throws(draw, RangeError);
});

Deno.test("numberText() gives three significant digits", () => {
  const table: readonly [number, string][] = [[0, "0"], [1234.5, "1,230"], [0.012345, "0.0123"], [1e6, "1,000,000"], [
    45.67,
    "45.7",
  ]];
  for (const [value, text] of table) assert.equal(numberText(value), text);
});
