import assert from "node:assert/strict";
import { checkRealTime, type Observation } from "./real_time.ts";

type Call = readonly [revision: number, kind: "added" | "told", sent: number, answered: number];

function observed(calls: readonly Call[]): Observation[] {
  return calls.map(([revision, kind, sent, answered]) => ({
    ...{ run: "one", revision, isAdded: kind === "added" },
    ...{ sent, answered },
  }));
}

// The calls of one run; whether revisions and real time agree.
const rows: readonly (readonly [string, readonly Call[], boolean])[] = [
  ["one after the other", [[2, "added", 0, 1], [3, "added", 2, 3], [3, "told", 4, 5]], true],
  ["at once, in the other order", [[3, "added", 0, 9], [2, "added", 1, 8]], true],
  ["told of an older one while it is added", [[2, "added", 0, 9], [1, "told", 5, 6]], true],
  ["sent as the answer comes", [[2, "added", 0, 5], [1, "told", 5, 6]], true],
  ["added twice", [[2, "added", 0, 1], [2, "added", 2, 3]], false],
  ["added before an answer", [[3, "added", 0, 1], [2, "added", 2, 3]], false],
  ["told of an older one", [[3, "added", 0, 1], [2, "told", 2, 3]], false],
  ["told of an older one than told before", [[3, "told", 0, 1], [2, "told", 2, 3]], false],
  ["added what was told before", [[3, "told", 0, 1], [3, "added", 2, 3]], false],
  ["older after many", [[2, "added", 0, 1], [9, "added", 2, 3], [3, "added", 0, 20], [8, "told", 4, 5]], false],
];

for (const [name, calls, agrees] of rows) {
  Deno.test(`revisions and real time ${agrees ? "agree" : "differ"}: ${name}`, () => {
    const check = (): void => checkRealTime(observed(calls));
    if (agrees) check();
    else assert.throws(check, assert.AssertionError);
  });
}

Deno.test("revisions of different runs are not compared", () => {
  const [first] = observed([[3, "added", 0, 1]]);
  const [second] = observed([[2, "added", 2, 3]]);
  assert.ok(first !== undefined && second !== undefined);
  checkRealTime([first, { ...second, run: "two" }]);
});
