import assert from "node:assert/strict";
import {
  createWorkerHost,
  type WorkerAnswer,
  type WorkerHost,
  type WorkerLimits,
} from "../../../src/evidence/sandbox/worker_host.ts";
import { createWorkerPool, type WorkerPool } from "../../../src/evidence/sandbox/worker_pool.ts";
import type { Attempt, Outcome } from "./probe.ts";

const MODULE = new URL("./probe.ts", import.meta.url);
const NEVER = new AbortController().signal;

interface HostPlan {
  readonly concurrency?: number;
  readonly limits?: WorkerLimits;
  readonly module?: URL;
}

async function withHost(plan: HostPlan, use: (host: WorkerHost) => Promise<void>): Promise<void> {
  const { concurrency = 1, limits = {}, module = MODULE } = plan;
  const host = createWorkerHost({ name: "probe", module, permissions: {}, setup: null, concurrency }, limits);
  try {
    await use(host);
  } finally {
    host.close();
  }
}

function ask(
  host: WorkerHost,
  attempt: Attempt,
  limitMillis = 120_000,
  signal = NEVER,
): Promise<WorkerAnswer<Outcome>> {
  return host.ask<Outcome>(attempt, { limitMillis, signal });
}

function codeOf(answer: WorkerAnswer<Outcome>): string {
  return answer.ok ? answer.answer.outcome : answer.code;
}

Deno.test("WorkerHost.ask() matches answers to questions in any order", () =>
  withHost({ concurrency: 8 }, async (host) => {
    const slow = ask(host, { try: "wait", millis: 60 });
    const quick = await Promise.all([1, 2, 3].map((value) => ask(host, { try: "echo", value })));
    assert.deepEqual(
      quick.map((one) => one.ok && one.answer),
      [1, 2, 3].map((value) => ({ outcome: "allowed", value })),
    );
    assert.equal(codeOf(await slow), "allowed");
    assert.equal(host.load(), 0);
  }));

Deno.test("WorkerHost.ask() ends a worker that spins and answers the next question", () =>
  withHost({}, async (host) => {
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 })), "allowed");
    const spinning = ask(host, { try: "spin" }, 200);
    const next = ask(host, { try: "echo", value: 2 });
    assert.equal(codeOf(await spinning), "timeout");
    assert.equal(codeOf(await next), "allowed");
  }));

Deno.test("WorkerHost.ask() applies to each question its own limit", () =>
  withHost({}, async (host) => {
    await ask(host, { try: "echo", value: 1 });
    // The outcome of this question does not matter: its limit ends while the next one runs.
    await ask(host, { try: "echo", value: 2 }, 100);
    assert.equal(codeOf(await ask(host, { try: "wait", millis: 300 })), "allowed");
    await ask(host, { try: "echo", value: 3 }, 100);
    assert.equal(codeOf(await ask(host, { try: "spin" }, 400)), "timeout");
  }));

Deno.test("WorkerHost.ask() fails the other questions of an ended worker as worker_died", () =>
  withHost({ concurrency: 2 }, async (host) => {
    await ask(host, { try: "echo", value: 1 });
    const other = ask(host, { try: "wait", millis: 120_000 });
    assert.equal(codeOf(await ask(host, { try: "spin" }, 200)), "timeout");
    assert.equal(codeOf(await other), "worker_died");
  }));

Deno.test("WorkerHost.ask() ends the question of a worker that dies or closes itself", () =>
  withHost({ concurrency: 2 }, async (host) => {
    const wait = ask(host, { try: "wait", millis: 120_000 });
    await ask(host, { try: "die" });
    assert.equal(codeOf(await wait), "worker_died");
    // A worker that closes itself sends no message: the limit of this question or of the next one detects it.
    const found = [await ask(host, { try: "exit" }, 300), await ask(host, { try: "echo", value: 1 }, 300)];
    assert.ok(found.map(codeOf).includes("timeout"), found.map(codeOf).join(" "));
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 })), "allowed");
  }));

Deno.test("WorkerHost.ask() a question that throws does not affect others", () =>
  withHost({}, async (host) => {
    assert.equal(codeOf(await ask(host, { try: "throw" })), "failed");
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 })), "allowed");
  }));

Deno.test("WorkerHost.ask() restarts after crashes with backoff, and at once after an answer", () =>
  withHost({ concurrency: 2, limits: { backOffMillis: 100, backOffMaximumMillis: 300 } }, async (host) => {
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      const wait = ask(host, { try: "wait", millis: 120_000 });
      const started = performance.now();
      void ask(host, { try: "die" });
      assert.equal(codeOf(await wait), "worker_died");
      pauses.push(performance.now() - started);
    }
    // Each round except the first waits for the backoff of the crash before it: 100, 200, 300 ms.
    assert.ok((pauses[1] ?? 0) >= 90 && (pauses[2] ?? 0) >= 190 && (pauses[3] ?? 0) >= 290, pauses.join(" "));
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 })), "allowed");
  }));

Deno.test("WorkerHost.ask() a module that does not load is worker_died, not a hang", () =>
  withHost({ module: new URL("./no_such_worker.ts", import.meta.url) }, async (host) => {
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 })), "worker_died");
  }));

/** Less than the module of the slow worker takes to load, and room for its answers. */
const LIMIT = 4_000;

Deno.test("WorkerHost.ask() does not count the start of the worker towards the limit", () =>
  withHost({ module: new URL("./slow_worker.ts", import.meta.url) }, async (host) => {
    const both = [ask(host, { try: "echo", value: 1 }, LIMIT), ask(host, { try: "echo", value: 2 }, LIMIT)];
    assert.deepEqual((await Promise.all(both)).map(codeOf), ["allowed", "allowed"]);
  }));

Deno.test("WorkerPool.start() resolves when the worker is ready, cannot load, or is closed", async () => {
  for (const module of [MODULE, new URL("./no_such_worker.ts", import.meta.url)]) {
    const pool = createWorkerPool({ name: "probe", module, setup: null, concurrency: 1, workersMaximum: 1 });
    await pool.start({});
    const closing = pool.start({ env: ["A"] });
    pool.close();
    await closing;
    await pool.start({});
    assert.equal(pool.size(), 0);
  }
});

Deno.test("WorkerHost.ask() cancels an aborted question; a running one keeps its time limit", () =>
  withHost({ concurrency: 1 }, async (host) => {
    const aborted = new AbortController();
    aborted.abort();
    assert.equal(codeOf(await ask(host, { try: "echo", value: 1 }, 5000, aborted.signal)), "cancelled");
    await ask(host, { try: "echo", value: 1 });
    const controller = new AbortController();
    const spinning = ask(host, { try: "spin" }, 300, controller.signal);
    const waiting = ask(host, { try: "echo", value: 2 }, 5000, controller.signal);
    const next = ask(host, { try: "echo", value: 3 });
    controller.abort();
    assert.equal(codeOf(await spinning), "cancelled");
    assert.equal(codeOf(await waiting), "cancelled");
    assert.equal(codeOf(await next), "allowed");
  }));

for (const [waiting, expected] of [[2, "allowed"], [3, "provider_unreachable"]] as const) {
  Deno.test(`WorkerHost.ask() with ${waiting} waiting questions of 2: ${expected}`, () =>
    withHost({ limits: { waitingMaximum: 2 } }, async (host) => {
      await ask(host, { try: "echo", value: 0 });
      // The first is sent at once and does not wait.
      const all = Array.from({ length: waiting + 1 }, (_, value) => ask(host, { try: "echo", value }));
      assert.equal(codeOf((await Promise.all(all)).at(-1) as WorkerAnswer<Outcome>), expected);
    }));
}

Deno.test("WorkerHost.close() cancels open and later questions", async () => {
  const host = createWorkerHost({ name: "probe", module: MODULE, permissions: {}, setup: null, concurrency: 1 });
  const open = [ask(host, { try: "echo", value: 1 }), ask(host, { try: "echo", value: 2 })];
  host.close();
  for (const one of [...open, ask(host, { try: "echo", value: 3 })]) assert.equal(codeOf(await one), "cancelled");
});

function poolOf(workersMaximum: number): WorkerPool {
  return createWorkerPool({ name: "probe", module: MODULE, setup: null, concurrency: 1, workersMaximum });
}

Deno.test("WorkerPool.ask() has one worker for each grant, up to the maximum", async () => {
  const pool = poolOf(2);
  try {
    for (const name of ["A", "B", "C", "A"]) {
      const own = await pool.ask<Outcome>({ env: [name] }, { try: "env", name }, {
        limitMillis: 20_000,
        signal: NEVER,
      });
      assert.equal(codeOf(own), "allowed");
      const other = { try: "env", name: "OTHER" };
      const foreign = await pool.ask<Outcome>({ env: [name] }, other, { limitMillis: 20_000, signal: NEVER });
      assert.equal(codeOf(foreign), "refused");
      assert.ok(pool.size() <= 2);
    }
  } finally {
    pool.close();
  }
});

Deno.test("WorkerPool.ask() waits for an idle worker within its limit", async () => {
  const pool = poolOf(1);
  const options = { limitMillis: 20_000, signal: NEVER };
  try {
    const busy = pool.ask<Outcome>({ env: ["A"] }, { try: "wait", millis: 2000 }, options);
    const soon = pool.ask<Outcome>({ env: ["B"] }, { try: "echo", value: 1 }, { limitMillis: 60, signal: NEVER });
    const controller = new AbortController();
    const off = pool.ask<Outcome>({ env: ["C"] }, { try: "echo", value: 1 }, { ...options, signal: controller.signal });
    const later = pool.ask<Outcome>({ env: ["D"] }, { try: "echo", value: 1 }, options);
    setTimeout(() => controller.abort(), 20);
    assert.deepEqual((await Promise.all([busy, soon, off, later])).map(codeOf), [
      "allowed",
      "timeout",
      "cancelled",
      "allowed",
    ]);
    assert.equal(pool.size(), 1);
  } finally {
    pool.close();
  }
});
