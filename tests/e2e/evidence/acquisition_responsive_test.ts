import assert from "node:assert/strict";
import {
  acquiredCondition,
  attemptOf,
  binding,
  evaluate,
  type Gate,
  oneStage,
  openAnother,
  type OpenRun,
  openRun,
  serveGate,
} from "./acquisition_serve.ts";
import { inFolder } from "../gate_command.ts";

/** Evaluations in flight, and milliseconds that the provider takes for each. */
const IN_FLIGHT = 64;
const SLOW_MILLISECONDS = 100;
/** Repetitions of each evaluation, which give the measurement time. */
const ROUNDS = 8;
/** The factor by which `scenario_status` may slow down. */
const RATIO_MAXIMUM = 3;

const CONFIG = `
[[providers]]
name = "http"
type = "builtin"
config = { allow_http = true, allow_private_networks = true, allowed_hosts = ["127.0.0.1"] }
`;

/** The median time of `scenario_status` in milliseconds, called repeatedly until stopped. */
async function medianStatus(
  gate: Gate,
  { run }: OpenRun,
  until: () => boolean,
): Promise<{ median: number; count: number }> {
  const times: number[] = [];
  while (!until()) {
    const started = performance.now();
    await gate.call("scenario_status", run);
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1] ?? Infinity, count: times.length };
}

/** The median time of `scenario_status` during the evaluations, divided by the median of an idle server. */
async function busyOverIdle(gate: Gate, runs: readonly OpenRun[]): Promise<number> {
  const [first] = runs;
  assert.ok(first !== undefined);
  let idleCalls = 0;
  const idle = await medianStatus(gate, first, () => idleCalls++ >= 300);
  let done = false;
  const work = Promise.all(runs.map(async (run) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { outcome, result } = await evaluate(gate, run);
      assert.equal(outcome, "accepted", JSON.stringify(result));
      assert.equal(attemptOf(result).outcome, "false");
    }
  })).finally(() => done = true);
  const busy = await medianStatus(gate, first, () => done);
  await work;
  console.log(`scenario_status: idle ${idle.median} ms, busy ${busy.median} ms over ${busy.count} calls`);
  assert.ok(busy.count > 50, `${busy.count} calls`);
  return busy.median / idle.median;
}

Deno.test("scenario_status stays responsive while 64 evaluations wait for a slow provider", () =>
  inFolder(async (folder) => {
    let waiting = 0;
    let most = 0;
    const slow = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
      most = Math.max(most, ++waiting);
      await new Promise((resolve) => setTimeout(resolve, SLOW_MILLISECONDS));
      waiting--;
      return new Response(null, { status: 204 });
    });
    try {
      await using gate = await serveGate(folder, CONFIG);
      const url = `http://127.0.0.1:${slow.addr.port}/`;
      // Never true, so the stage stays open.
      const condition = acquiredCondition("c", { domain: "Integer" }, {
        predicate: "Equals",
        expected: { value: 200, value_type: "Integer" },
      });
      const first = await openRun(gate, oneStage([condition], [binding("b", "c", "http", "status", { url })]));
      const runs: OpenRun[] = [first];
      for (let number = 2; number <= IN_FLIGHT; number++) runs.push(await openAnother(gate, first.law, number));
      // Work that happens once, such as starting workers, precedes the measurement.
      await Promise.all(runs.map((run) => evaluate(gate, run)));
      const ratios: number[] = [];
      // Other work on the machine slows the two sides unevenly, so one measurement within the limit suffices.
      while (ratios.length < 3 && !ratios.some((ratio) => ratio <= RATIO_MAXIMUM)) {
        ratios.push(await busyOverIdle(gate, runs));
      }
      assert.equal(most, IN_FLIGHT);
      assert.ok(ratios.some((ratio) => ratio <= RATIO_MAXIMUM), `busy over idle: ${ratios}`);
    } finally {
      await slow.shutdown();
    }
  }));
