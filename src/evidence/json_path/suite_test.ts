/**
 * The compliance test suite of RFC 9535, from the sources of the package `jsonpath-rfc9535`.
 */

import assert from "node:assert/strict";
// Imported only to have the package installed.
import "npm:jsonpath-rfc9535@1.3.0";
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
  /** Replaces `result` where members may come in any order. */
  readonly results?: readonly (readonly JsonValue[])[];
}

const SUITE_PATH = "../../src/__tests__/jsonpath-compliance-test-suite/cts.json";
const SUITE = new URL(SUITE_PATH, import.meta.resolve("npm:jsonpath-rfc9535@1.3.0"));

const { tests } = JSON.parse(await Deno.readTextFile(SUITE)) as { readonly tests: readonly SuiteTest[] };

/** The accepted answers: the value of a singular query, otherwise the array of values. */
function answersOf({ selector, invalid_selector, result, results }: SuiteTest): readonly string[] {
  if (invalid_selector === true) return ["invalid_jsonpath"];
  const isSingular = new JSONPathEnvironment().compile(selector).singularQuery();
  return (results ?? [result ?? []]).map((found) =>
    found.length === 0 ? "jsonpath_not_found" : canonicalize(isSingular ? found[0] ?? null : [...found])
  );
}

Deno.test("selectJson() passes the compliance test suite of RFC 9535", async (t) => {
  assert.ok(tests.length > 600, "the suite is incomplete");
  for (const test of tests) {
    await t.step(test.name, () => {
      const answer = selectJson(test.document ?? null, test.selector);
      assert.ok(answersOf(test).includes("found" in answer ? answer.found : answer.error.code), test.selector);
    });
  }
});
