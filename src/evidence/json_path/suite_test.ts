/**
 * The compliance test suite of RFC 9535, as the package `jsonpath-rfc9535` brings it beside its own code.
 */

import assert from "node:assert/strict";
// Named so that the package is there; of its code nothing is asked.
import "jsonpath-rfc9535";
import { JSONPathEnvironment } from "json-p3";
import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonValue } from "../../canonical/json.ts";
import { selectJson } from "./json_path.ts";

interface SuiteTest {
  readonly name: string;
  readonly selector: string;
  readonly document?: JsonValue;
  readonly invalid_selector?: true;
  readonly result?: readonly JsonValue[];
  /** In place of `result` where members may come in any order. */
  readonly results?: readonly (readonly JsonValue[])[];
}

const PLACE = "../../src/__tests__/jsonpath-compliance-test-suite/cts.json";
const SUITE = new URL(PLACE, import.meta.resolve("jsonpath-rfc9535"));

const { tests } = JSON.parse(await Deno.readTextFile(SUITE)) as { readonly tests: readonly SuiteTest[] };

/** What gate may answer: the value of a query for one, else the array of what is found. */
function answersOf({ selector, invalid_selector, result, results }: SuiteTest): readonly string[] {
  if (invalid_selector === true) return ["invalid_jsonpath"];
  const isForOne = new JSONPathEnvironment().compile(selector).singularQuery();
  return (results ?? [result ?? []]).map((found) =>
    found.length === 0 ? "jsonpath_not_found" : canonicalize(isForOne ? found[0] ?? null : [...found])
  );
}

Deno.test("selectJson() passes the compliance test suite of RFC 9535", async (t) => {
  assert.ok(tests.length > 600, "the suite is there");
  for (const test of tests) {
    await t.step(test.name, () => {
      const answer = selectJson(test.document ?? null, test.selector);
      assert.ok(answersOf(test).includes("found" in answer ? answer.found : answer.error.code), test.selector);
    });
  }
});
