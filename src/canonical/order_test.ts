import assert from "node:assert/strict";
import fc from "../../tests/packages/fast_check.ts";
import { compareCodePoints, sortedBy } from "./order.ts";

/** The reference: compare the code points as numbers. */
function reference(a: string, b: string): number {
  const left = [...a].map((character) => character.codePointAt(0) ?? 0);
  const right = [...b].map((character) => character.codePointAt(0) ?? 0);
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(left.length - right.length);
}

const texts = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.array(fc.constantFrom("a", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "\u{10ffff}"), { maxLength: 4 })
    .map((all) => all.join("")),
);

Deno.test("compareCodePoints() orders as the code points do", () => {
  fc.assert(
    fc.property(texts, texts, (a, b) => {
      assert.equal(Math.sign(compareCodePoints(a, b)), reference(a, b));
    }),
    { numRuns: 3000 },
  );
});

Deno.test("compareCodePoints() is a total order over all strings, lone surrogates included", () => {
  const any = fc.string({ unit: fc.constantFrom("a", "\ud800", "\udbff", "\udc00", "\udfff", "\ue000", "\uffff") });
  fc.assert(
    fc.property(any, any, any, (a, b, c) => {
      assert.equal(compareCodePoints(a, b) === 0, a === b);
      assert.equal(Math.sign(compareCodePoints(a, b)), -Math.sign(compareCodePoints(b, a)) + 0);
      if (compareCodePoints(a, b) <= 0 && compareCodePoints(b, c) <= 0) assert.ok(compareCodePoints(a, c) <= 0);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("sortedBy() orders by key, keeps the order of equal keys, and does not change the input", () => {
  const items = [["b", 1], ["\u{10000}", 2], ["\uffff", 3], ["b", 4], ["", 5]] as const;
  assert.deepEqual(sortedBy(items, (item) => item[0]).map((item) => item[1]), [5, 1, 4, 3, 2]);
  assert.deepEqual(items.map((item) => item[1]), [1, 2, 3, 4, 5]);
});
