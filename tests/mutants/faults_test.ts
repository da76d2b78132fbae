import assert from "node:assert/strict";
import { draw, faultsOf, withFault } from "./faults.ts";

/** A line, and the lines that its faults make of it. */
const ROWS: readonly (readonly [text: string, faults: readonly string[]])[] = [
  ["if (a <= b) c();", ["if (a < b) c();"]],
  ["if (a === b && !c) d();", ["if (a !== b && !c) d();", "if (a === b || !c) d();", "if (a === b && c) d();"]],
  ["const all = list.every((one) => one);", ["const all = list.some((one) => one);"]],
  ["count = count - 1;", ["count = count + 1;", "count = count - 2;"]],
  ["let done = false;", ["let done = true;"]],
  ['say("a <= b"); // true', []],
  ["type Found = Map<string, true>;", []],
  ["  readonly ok: true;", []],
  ["const wide = 10;", []],
];

for (const [text, faults] of ROWS) {
  Deno.test(`faultsOf() ${text}: ${faults.length} faults`, () => {
    assert.deepEqual(faultsOf({ path: "a.ts", text }).map((fault) => withFault(text, fault)), faults);
  });
}

Deno.test("faultsOf() names the line", () => {
  assert.deepEqual(faultsOf({ path: "a.ts", text: "\n\na = true;" }).map(({ line }) => line), [3]);
});

Deno.test("draw() gives the same ones for a seed, each once, and others for another seed", () => {
  const items = Array.from({ length: 100 }, (_, index) => index);
  const drawn = draw(items, 20, 7);
  assert.equal(new Set(drawn).size, 20);
  assert.deepEqual(draw(items, 20, 7), drawn);
  assert.notDeepEqual(draw(items, 20, 8), drawn);
  assert.equal(draw(items, 200, 7).length, 100);
});
