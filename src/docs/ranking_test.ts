import assert from "node:assert/strict";
import { gainOf, meanGain, readQueries } from "../../tests/bench/docs_queries.ts";
import { DEFAULT_SETTINGS } from "../config/defaults.ts";
import { openCatalogue } from "./catalogue.ts";
import { splitSections } from "./sections.ts";

/**
 * The ranking reached some hundredths more at the last measurement, and each new section moves it by a few thousandths.
 * A lower value means that the ranking or a page became worse. Row 11 of the benchmarks compares it with minisearch.
 */
const GAIN_FLOOR = 0.72;

Deno.test("the judged queries name existing sections", async () => {
  const { docs } = await openCatalogue(DEFAULT_SETTINGS.docs);
  const names = new Set(docs.flatMap(splitSections).map(({ doc, heading }) => `${doc.doc_id}#${heading}`));
  const queries = await readQueries();
  assert.equal(queries.length, 50);
  assert.equal(new Set(queries.map(({ query }) => query)).size, 50);
  for (const { query, relevant } of queries) {
    assert.ok(Object.values(relevant).includes(3), `something answers "${query}"`);
    for (const [name, grade] of Object.entries(relevant)) {
      assert.ok(names.has(name), `tests/vectors/docs/queries.json: there is no section "${name}"`);
      assert.ok([1, 2, 3].includes(grade), query);
    }
  }
});

Deno.test("Catalogue.search() ranks the judged queries at least as well as the floor", async () => {
  const { search } = await openCatalogue(DEFAULT_SETTINGS.docs);
  const find = (query: string): string[] =>
    search(query, 3).sections.map(({ doc_id, heading }) => `${doc_id}#${heading}`);
  const gain = meanGain(await readQueries(), find);
  assert.ok(gain >= GAIN_FLOOR, `nDCG@3 is ${gain.toFixed(3)}, at least ${GAIN_FLOOR}`);
});

Deno.test("gainOf() is 1 for the best order, and lower for any other", () => {
  const judged = { query: "q", relevant: { a: 3, b: 2, c: 1 } };
  const cases: [found: string[], gain: string][] = [
    [["a", "b", "c"], "1.00"],
    [["a", "b", "c", "x"], "1.00"],
    [["a", "a", "b", "c"], "1.00"],
    [["b", "a", "c"], "0.84"],
    [["a"], "0.75"],
    [["x", "y", "a"], "0.37"],
    [["x"], "0.00"],
    [[], "0.00"],
  ];
  for (const [found, gain] of cases) assert.equal(gainOf(judged, found).toFixed(2), gain, found.join());
});

/** Queries of provider authors, and the section that must come first. */
const OF_AUTHORS: readonly (readonly [query: string, first: string])[] = [
  ["how do I write a custom provider", "custom_provider#Writing a custom provider"],
  ["write my own evidence provider over MCP", "custom_provider#Writing a custom provider"],
  [
    "use a service with an OpenAPI description as evidence",
    "typed_openapi#HTTP services with OpenAPI as typed providers",
  ],
];

Deno.test("Catalogue.search() finds the pages about custom and typed providers first", async () => {
  const { search } = await openCatalogue(DEFAULT_SETTINGS.docs);
  for (const [query, first] of OF_AUTHORS) {
    const [found] = search(query, 3).sections;
    assert.equal(`${found?.doc_id}#${found?.heading}`, first, query);
  }
});
