import assert from "node:assert/strict";
import { countOf } from "./count.ts";

const ROWS: readonly (readonly [count: number, outcome: string])[] = [
  [0, "0 questions"],
  [1, "1 question"],
  [2, "2 questions"],
];

for (const [count, outcome] of ROWS) {
  Deno.test(`countOf() ${outcome}`, () => assert.equal(countOf(count, "question"), outcome));
}
