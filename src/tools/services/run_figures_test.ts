import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import type { RunFigures } from "../../store/types.ts";
import { runFigures } from "../runtime.ts";

const MINUTE = 60_000;

Deno.test("the figures of runs are read once in 15 seconds, after the scrape, and ages go on meanwhile", async () => {
  let now = 10 * MINUTE;
  let reads = 0;
  let answer: () => Promise<RunFigures> = () => Promise.resolve({ active: 2, complete: 3, oldestOpened: 9 * MINUTE });
  const measures = runFigures({
    figures: () => {
      reads += 1;
      return answer();
    },
  }, () => now);
  const shown = (): string =>
    measures().map(({ name, labels, value }) => `${name}${JSON.stringify(labels)} ${value}`).join("; ");
  assert.equal(shown(), "");
  await turn();
  const counts =
    'gate_runs{"status":"active"} 2; gate_runs{"status":"complete"} 3; gate_oldest_waiting_stage_seconds{}';
  assert.equal(shown(), `${counts} 60`);
  now += 14_999;
  assert.equal(shown(), `${counts} 74.999`);
  assert.equal(reads, 1);
  now += 1;
  answer = () => Promise.reject(new Error("the store does not answer"));
  shown();
  await turn();
  assert.equal(shown(), "", "a read that failed leaves no figures");
  assert.equal(reads, 2);
  now += 15_000;
  answer = () => Promise.resolve({ active: 2, complete: 3, oldestOpened: null });
  shown();
  await turn();
  const { promise, resolve } = Promise.withResolvers<RunFigures>();
  answer = () => promise;
  now += 15_000;
  assert.equal(shown(), `${counts} 0`, "the read goes on");
  now += 15_000;
  assert.equal(shown(), "", "a read that goes on when the next one is due leaves no figures");
  assert.equal(reads, 4, "no second read begins beside it");
  resolve({ active: 1, complete: 4, oldestOpened: null });
  await turn();
  assert.match(shown(), /"active"} 1; .* 4;/);
  await turn();
  answer = () => Promise.resolve({ active: 0, complete: 5, oldestOpened: null });
  now += 15_000;
  shown();
  await turn();
  assert.match(shown(), /"active"} 0; .* 5; gate_oldest_waiting_stage_seconds\{\} 0$/);
});
