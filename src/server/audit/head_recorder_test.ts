import assert from "node:assert/strict";
import { createHeadRecorder, type HeadStore } from "./head_recorder.ts";
import type { ChainState } from "./line.ts";

/** A store that can fail, and what it received. */
interface Recorded {
  readonly sequences: number[];
  readonly logged: string[];
  opened: number;
  closed: number;
  isDown: boolean;
}

function chain(sequence: number): ChainState {
  return { chain_id: "0".repeat(32), sequence, head: String(sequence) };
}

function recorderOn(recorded: Recorded, interval: number): ReturnType<typeof createHeadRecorder> {
  const store: HeadStore = {
    record: ({ sequence }) => {
      if (recorded.isDown) return Promise.reject(new Error("down"));
      recorded.sequences.push(sequence);
      return Promise.resolve();
    },
    close: () => {
      recorded.closed += 1;
      return Promise.resolve();
    },
  };
  return createHeadRecorder({
    path: "/audit.jsonl",
    interval,
    open: () => {
      recorded.opened += 1;
      return Promise.resolve(store);
    },
    log: (level, message) => void recorded.logged.push(`${level} ${message}`),
  });
}

function empty(): Recorded {
  return { sequences: [], logged: [], opened: 0, closed: 0, isDown: false };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("a recorder records the first head at once, and within the interval only the last one at the end", async () => {
  const recorded = empty();
  const recorder = recorderOn(recorded, 3_600_000);
  recorder.record(chain(1));
  await until(() => recorded.sequences.length === 1);
  for (const sequence of [2, 3, 4]) recorder.record(chain(sequence));
  await recorder.close();
  assert.deepEqual(recorded, { ...empty(), sequences: [1, 4], opened: 1, closed: 1 });
});

Deno.test("a recorder records the newest head after each interval, and nothing where no line was added", async () => {
  const recorded = empty();
  const recorder = recorderOn(recorded, 1);
  for (const sequence of [1, 2, 3]) {
    recorder.record(chain(sequence));
    await until(() => recorded.sequences.at(-1) === sequence);
  }
  await recorder.close();
  assert.deepEqual(recorded.sequences, [1, 2, 3]);
});

Deno.test("a recorder without its store tries again, and logs the failure and its end once", async () => {
  const recorded = { ...empty(), isDown: true };
  const recorder = recorderOn(recorded, 1);
  recorder.record(chain(1));
  await until(() => recorded.logged.length === 1);
  await new Promise((resolve) => setTimeout(resolve, 10));
  recorded.isDown = false;
  await until(() => recorded.sequences.length === 1);
  await recorder.close();
  assert.deepEqual(recorded.logged, [
    "warn Cannot record the head of the audit log in the database",
    "info The head of the audit log is recorded again",
  ]);
});

Deno.test("a recorder that recorded nothing opens no store", async () => {
  const recorded = empty();
  await recorderOn(recorded, 1).close();
  assert.deepEqual(recorded, empty());
});
