import assert from "node:assert/strict";
import { ROOT_URL } from "../checks/tree.ts";
import { type BenchReport, type BenchRow, makeReport, makeRow } from "./harness.ts";
import { pageFiles, RESULTS, RESULTS_FOLDER } from "./page.ts";

const SPEC = { row: "1", peer_name: "peer", unit: "ms", must: 2, goal: 1, direction: "lower" } as const;

function rowOf(name: string, ours: number): BenchRow {
  return makeRow({ ...SPEC, name }, { ours: [ours], peer: [1] });
}

const RUN = { rows: [], curves: {}, quick: false, failed: [], load: 0 };

const CURVES = { throughput: [{ name: "scenario_submit", points: [[1, 100], [16, 900]] }] } as const;

Deno.test("the page and its plots are what the results of the last run draw, and no other files", async () => {
  const report = JSON.parse(await Deno.readTextFile(new URL(RESULTS, ROOT_URL))) as BenchReport;
  const files = pageFiles(report);
  for (const { path, text } of files) {
    const written = await Deno.readTextFile(new URL(path, ROOT_URL)).catch(() => "");
    assert.equal(written, text, `${path} is stale: run deno task bench --page`);
  }
  const found = [...Deno.readDirSync(new URL(RESULTS_FOLDER, ROOT_URL))].map(({ name }) => `${RESULTS_FOLDER}/${name}`);
  const expected = files.map(({ path }) => path).filter((path) => path.endsWith(".svg"));
  assert.deepEqual(found.sort(), [...expected, RESULTS].sort());
});

Deno.test("pageFiles() says of each row whether it misses, holds or reaches its goal", () => {
  // The value of gate beside 1, at most 2, better at most 1; and the last column.
  const table: readonly [number, string][] = [[3, "missed"], [2.01, "missed"], [2, "holds"], [1, "goal"], [
    NaN,
    "missed",
  ]];
  for (const [ours, result] of table) {
    const [page] = pageFiles(makeReport({ ...RUN, rows: [rowOf("start", ours)] }));
    const line = page?.text.split("\n").find((text) => text.startsWith("| 1 ")) ?? "";
    assert.equal(line.split("|").at(-2)?.trim(), result, `${ours}`);
  }
});

Deno.test("pageFiles() writes packages as code, which no renderer takes for a mail address", () => {
  const row = { ...rowOf("start", 1), peer_name: "@a/server@1.2.3 on Node, b@2.0.0, initialize" };
  const [page] = pageFiles(makeReport({ ...RUN, rows: [row] }));
  assert.match(page?.text ?? "", /1\.00 ms, `@a\/server@1\.2\.3` on Node, `b@2\.0\.0`, initialize \|/);
});

Deno.test("pageFiles() draws what was measured, and names what was not", () => {
  const rows = [rowOf("start", 2), rowOf("other", 3)];
  const files = pageFiles(
    makeReport({ ...RUN, rows, curves: CURVES, quick: true, failed: ["postgres"], minutes: 19.2 }),
  );
  assert.deepEqual(files.map(({ path }) => path), [
    "docs/benchmarks.md",
    "docs/benchmarks/throughput.svg",
    "docs/benchmarks/start.svg",
  ]);
  const [page] = files;
  assert.match(page?.text ?? "", /Not measured: postgres\./);
  assert.match(page?.text ?? "", /The run took 20 minutes\. It was a quick run/);
  assert.match(page?.text ?? "", /1 of 2 rows miss/);
  assert.match(page?.text ?? "", /!\[Throughput by callers\..*\]\(benchmarks\/throughput\.svg\)/);
});
