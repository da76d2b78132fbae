import assert from "node:assert/strict";
import fc from "../../../tests/packages/fast_check.ts";
import { NATIVE_SEARCH_LIMIT, substringTest } from "./text_search.ts";

Deno.test("substringTest() agrees with the native search on both sides of its limit", () => {
  for (const length of [NATIVE_SEARCH_LIMIT - 1, NATIVE_SEARCH_LIMIT, NATIVE_SEARCH_LIMIT + 1]) {
    const needle = "ab".repeat(length).slice(0, length);
    const test = substringTest(needle);
    for (
      const text of [needle, `b${needle}a`, needle.slice(1), `${needle.slice(1)}${needle}`, "", "ab".repeat(length)]
    ) {
      assert.equal(test(text), text.includes(needle), `${length} in ${text.length}`);
    }
  }
});

Deno.test("substringTest() agrees with the native search on repetitive texts", () => {
  const part = fc.constantFrom("a", "b", "aab", "a".repeat(40));
  const text = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, text, text, (before, long, after) => {
      const needle = `${long}${"a".repeat(NATIVE_SEARCH_LIMIT)}`;
      const test = substringTest(needle);
      assert.ok(test(`${before}${needle}${after}`));
      for (const haystack of [`${before}${needle.slice(1)}${after}`, `${before}${needle.slice(0, -1)}b${after}`]) {
        assert.equal(test(haystack), haystack.includes(needle));
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("substringTest() compares each text unit a bounded number of times", () => {
  const test = substringTest(`${"a".repeat(500_000)}b${"a".repeat(499_999)}`);
  const start = performance.now();
  assert.ok(!test("a".repeat(10_000_000)));
  // The native search would need a quarter of an hour here.
  assert.ok(performance.now() - start < 60_000);
});
