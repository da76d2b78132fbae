import assert from "node:assert/strict";
import { createLimits } from "../process/limits.ts";
import { createResponseBackpressure, limitsWithBackpressure } from "./response_backpressure.ts";

const BOUNDS = { callerBytes: 100, allBytes: 250 };

/** Each row: bytes that callers hold, and who of a, b and z has to read first. */
const ROWS: readonly (readonly [held: readonly (readonly [caller: string, bytes: number])[], full: string])[] = [
  [[], ""],
  [[["a", 99]], ""],
  [[["a", 100]], "a"],
  [[["a", 101]], "a"],
  [[["a", 50], ["a", 50]], "a"],
  [[["a", 1_000]], "abz"],
  [[["a", 99], ["b", 99], ["c", 51]], ""],
  [[["a", 99], ["b", 99], ["c", 52]], "abz"],
];

for (const [held, full] of ROWS) {
  Deno.test(`isFull() with ${JSON.stringify(held)}: ${full || "none"}`, () => {
    const unread = createResponseBackpressure(BOUNDS);
    const letGo = held.map(([caller, bytes]) => unread.hold(caller, bytes));
    assert.equal([..."abz"].filter(unread.isFull).join(""), full);
    // Once too often takes nothing away from others.
    for (const done of [...letGo, ...letGo]) done();
    assert.equal(unread.bytes(), 0);
    assert.equal([..."abz"].filter(unread.isFull).join(""), "");
  });
}

Deno.test("limitsWithBackpressure() reject a caller that must read first, and do not count its request", () => {
  const inner = createLimits({ max_inflight: 2, rate_limit: { max_requests: 2, window_ms: 100, max_entries: 2 } }, {
    now: () => 0,
  });
  const unread = createResponseBackpressure(BOUNDS);
  const limits = limitsWithBackpressure(inner, unread);
  const read = unread.hold("a", 100);
  for (const take of [limits.count, limits.enter, limits.admit]) {
    assert.deepEqual(take("a"), {
      kind: "inflight_limit",
      message: "Server overloaded: too many answers are not read yet",
    });
  }
  assert.equal(limits.inflight(), 0);
  assert.equal(limits.admit("b"), null);
  read();
  assert.equal(limits.admit("a"), null);
});
