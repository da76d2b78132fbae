import assert from "node:assert/strict";
import { createLimits, hasSeveralCallers } from "./limits.ts";

Deno.test("admit() accepts max_inflight requests and no more, until one ends", () => {
  const limits = createLimits({ max_inflight: 3, rate_limit: null });
  assert.deepEqual([limits.admit("a"), limits.admit("a"), limits.isFull()], [null, null, false]);
  assert.deepEqual([limits.admit("b"), limits.isFull()], [null, true]);
  assert.equal(limits.admit("a")?.kind, "inflight_limit");
  limits.release("a");
  assert.equal(limits.admit("a"), null);
  assert.equal(limits.admit("a")?.kind, "inflight_limit");
});

Deno.test("release() gives every place back, and the caller's share of the places with it", () => {
  const limits = createLimits({ max_inflight: 16, rate_limit: null }, { isShared: true });
  for (let round = 0; round < 3; round++) {
    const outcomes: boolean[] = [];
    for (let place = 0; place < 15; place++) outcomes.push(limits.enter("a") === null);
    assert.deepEqual([outcomes.filter(Boolean).length, limits.inflight()], [14, 14], "two places are kept for others");
    assert.deepEqual([limits.enter("b"), limits.enter("c")], [null, null]);
    for (const caller of [...new Array<string>(14).fill("a"), "b", "c"]) limits.release(caller);
    assert.equal(limits.inflight(), 0);
  }
  // Who gave all but one place back is a newcomer again: one of the kept places is free to it.
  for (const caller of ["a", "a", "a"]) assert.equal(limits.enter(caller), null);
  for (const caller of ["a", "a"]) limits.release(caller);
  for (let place = 0; place < 13; place++) assert.equal(limits.enter("b"), null);
  assert.deepEqual([limits.enter("b")?.kind, limits.enter("a")], ["inflight_limit", null]);
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
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, { now: () => time });
  const seen = WINDOW_ROWS.map(([at, caller]) => {
    time = at;
    const refusal = limits.admit(caller);
    return [at, caller, refusal === null ? "taken" : `${refusal.kind} ${refusal.retryAfterMs}`];
  });
  assert.deepEqual(seen, WINDOW_ROWS);
});

Deno.test("admit() counts max_entries callers, and forgets those who were idle for two windows", () => {
  let time = 0;
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, { now: () => time });
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
  const limits = createLimits({ max_inflight: 2, rate_limit: { ...RATE, max_requests: 1 } }, { now: () => 0 });
  assert.equal(limits.admit("a"), null);
  for (let round = 0; round < 5; round++) assert.equal(limits.admit("a")?.kind, "rate_limited");
  assert.equal(limits.isFull(), false);
});

Deno.test("turnAway() counts strangers by address, apart from callers who are known", () => {
  let time = 0;
  const limits = createLimits({ max_inflight: 100, rate_limit: RATE }, { now: () => time });
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

Deno.test("turnAway() accepts all without a rate limit", () => {
  const limits = createLimits({ max_inflight: 1, rate_limit: null });
  for (let round = 0; round < 5; round++) assert.equal(limits.turnAway("x"), null);
});

Deno.test("count() and enter() are the two halves of admit()", () => {
  const limits = createLimits({ max_inflight: 2, rate_limit: { ...RATE, max_requests: 1 } }, { now: () => 0 });
  assert.deepEqual([limits.count("a"), limits.count("a")?.kind, limits.inflight()], [null, "rate_limited", 0]);
  assert.deepEqual([limits.enter("a"), limits.enter("a"), limits.inflight()], [null, null, 2]);
  assert.equal(limits.enter("b")?.kind, "inflight_limit");
  assert.equal(limits.admit("b")?.kind, "inflight_limit");
  assert.equal(limits.count("b"), null, "where there was no room nothing was counted");
});

/** Each row: places, how many of them one caller gets, and how many another one gets then. */
const SHARED_ROWS: readonly (readonly [places: number, first: number, second: number])[] = [
  [1, 1, 0],
  [2, 1, 1],
  [7, 6, 1],
  [8, 7, 1],
  [15, 14, 1],
  [16, 14, 2],
  [17, 15, 2],
  [256, 224, 32],
];

for (const row of SHARED_ROWS) {
  const [places] = row;
  Deno.test(`enter() keeps some of ${places} places for callers who hold few`, () => {
    const limits = createLimits({ max_inflight: places, rate_limit: null }, { isShared: true });
    const fill = (caller: string): number => {
      let taken = 0;
      while (limits.enter(caller) === null) taken++;
      return taken;
    };
    assert.deepEqual([places, fill("a"), fill("b")], row);
    assert.equal(limits.isFull(), true);
    limits.release("a");
    if (places <= 2) return;
    assert.equal(limits.enter("a")?.kind, "inflight_limit", "who holds as much as is kept gets no more of it");
    assert.equal(limits.enter("c"), null, "who holds nothing does");
  });
}

Deno.test("release() gives a caller's place back, and forgets who holds none", () => {
  const limits = createLimits({ max_inflight: 2, rate_limit: null }, { isShared: true });
  for (let round = 0; round < 3; round++) {
    assert.equal(limits.enter("a"), null);
    assert.equal(limits.enter("a")?.kind, "inflight_limit");
    limits.release("a");
    assert.equal(limits.inflight(), 0);
  }
});

const AUTH = { bearer_tokens: ["a"], mtls_subjects: ["CN=a"], allowed_tools: [], principals: [] };

Deno.test("hasSeveralCallers() is false for servers whose callers are indistinguishable", () => {
  const rows: readonly (readonly [ReturnType<typeof hasSeveralCallers>, Parameters<typeof hasSeveralCallers>[0]])[] = [
    [false, { transport: "stdio", auth: { ...AUTH, mode: "mtls" } }],
    [false, { transport: "http", auth: null }],
    [false, { transport: "http", auth: { ...AUTH, mode: "local_only" } }],
    [false, { transport: "sse", auth: { ...AUTH, mode: "bearer_token" } }],
    [true, { transport: "sse", auth: { ...AUTH, mode: "bearer_token", bearer_tokens: ["a", "b"] } }],
    [true, { transport: "http", auth: { ...AUTH, mode: "mtls" } }],
    [true, { transport: "http", auth: { ...AUTH, mode: "bearer_token", oauth: true } }],
  ];
  for (const [several, server] of rows) assert.equal(hasSeveralCallers(server), several, JSON.stringify(server));
});
