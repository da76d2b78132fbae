import assert from "node:assert/strict";
import { createLimits } from "./limits.ts";

Deno.test("admit() takes in max_inflight requests and no more, until one ends", () => {
  const limits = createLimits({ max_inflight: 3, rate_limit: null });
  assert.deepEqual([limits.admit("a"), limits.admit("a"), limits.isFull()], [null, null, false]);
  assert.deepEqual([limits.admit("b"), limits.isFull()], [null, true]);
  assert.equal(limits.admit("a")?.kind, "inflight_limit");
  limits.release();
  assert.equal(limits.admit("a"), null);
  assert.equal(limits.admit("a")?.kind, "inflight_limit");
});

const RATE = { max_requests: 2, window_ms: 100, max_entries: 2 };

/** Each row: the time, the caller, what becomes of the request. */
const WINDOW_ROWS: readonly (readonly [time: number, caller: string, outcome: string])[] = [
  [0, "a", "taken"],
  [10, "a", "taken"],
  [10, "a", "rate_limited 90"],
  [10, "b", "taken"],
  [99.5, "a", "rate_limited 1"],
  [100, "a", "taken"],
  [100, "a", "taken"],
  [100, "a", "rate_limited 100"],
  [109, "b", "taken"],
  [109, "b", "rate_limited 1"],
  [110, "b", "taken"],
];

Deno.test("admit() counts each caller's requests in windows of its own", () => {
  let time = 0;
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, () => time);
  const seen = WINDOW_ROWS.map(([at, caller]) => {
    time = at;
    const refusal = limits.admit(caller);
    return [at, caller, refusal === null ? "taken" : `${refusal.kind} ${refusal.retryAfterMs}`];
  });
  assert.deepEqual(seen, WINDOW_ROWS);
});

Deno.test("admit() counts max_entries callers, and forgets those who were idle for two windows", () => {
  let time = 0;
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, () => time);
  assert.equal(limits.admit("a"), null);
  time = 1;
  assert.equal(limits.admit("b"), null);
  assert.equal(limits.admit("c")?.kind, "inflight_limit");
  time = 200;
  assert.equal(limits.admit("c")?.kind, "inflight_limit");
  time = 201;
  assert.equal(limits.admit("c"), null);
  assert.equal(limits.admit("d")?.kind, "inflight_limit");
  assert.equal(limits.admit("b"), null);
});

Deno.test("admit() does not count a refused request as in work", () => {
  const limits = createLimits({ max_inflight: 2, rate_limit: { ...RATE, max_requests: 1 } }, () => 0);
  assert.equal(limits.admit("a"), null);
  for (let round = 0; round < 5; round++) assert.equal(limits.admit("a")?.kind, "rate_limited");
  assert.equal(limits.isFull(), false);
});

Deno.test("turnAway() counts strangers by address, apart from callers who are known", () => {
  let time = 0;
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, () => time);
  const kinds = (addresses: readonly string[]): unknown[] =>
    addresses.map((address) => limits.turnAway(address)?.kind ?? "counted");
  assert.deepEqual(kinds(["x", "x", "x", "y", "z"]), [
    "counted",
    "counted",
    "rate_limited",
    "counted",
    "inflight_limit",
  ]);
  assert.deepEqual([limits.admit("a"), limits.admit("b"), limits.inflight()], [null, null, 2]);
  time = 201;
  assert.deepEqual(kinds(["z"]), ["counted"]);
});

Deno.test("turnAway() counts nobody without a rate limit", () => {
  const limits = createLimits({ max_inflight: 1, rate_limit: null });
  for (let round = 0; round < 5; round++) assert.equal(limits.turnAway("x"), null);
});
