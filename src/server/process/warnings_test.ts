import assert from "node:assert/strict";
import process from "node:process";
import type { LogLevel } from "./log.ts";
import { createWarnings, DISTINCT_KINDS, redirectWarnings } from "./warnings.ts";

interface Recorder {
  readonly lines: string[];
  readonly log: (level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>) => void;
}

function createRecorder(): Recorder {
  const lines: string[] = [];
  return { lines, log: (level, message, fields) => void lines.push(`${level} ${message} ${JSON.stringify(fields)}`) };
}

function warning(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}

Deno.test("createWarnings() logs the first of a kind at once, and later ones once a minute with their number", () => {
  const { lines, log } = createRecorder();
  let minuteIsOver = (): void => {};
  const take = createWarnings({ log, after: (_, run) => minuteIsOver = run });
  for (const message of ["one", "two", "three"]) take(warning("A", message));
  take(warning("B", "other"));
  assert.deepEqual(lines.splice(0), [
    'warn Warning of the runtime {"detail":"A: one"}',
    'warn Warning of the runtime {"detail":"B: other"}',
  ]);
  minuteIsOver();
  assert.deepEqual(lines.splice(0), ['warn Warnings of the runtime {"detail":"A: three","count":2}']);
  take(warning("A", "four"));
  assert.deepEqual(lines.splice(0), ['warn Warning of the runtime {"detail":"A: four"}']);
});

for (
  const [kinds, entries] of [[DISTINCT_KINDS - 1, DISTINCT_KINDS - 1], [DISTINCT_KINDS, DISTINCT_KINDS], [
    DISTINCT_KINDS + 1,
    DISTINCT_KINDS + 1,
  ], [DISTINCT_KINDS + 9, DISTINCT_KINDS + 1]] as const
) {
  Deno.test(`createWarnings() logs ${kinds} kinds in ${entries} entries`, () => {
    const { lines, log } = createRecorder();
    const take = createWarnings({ log, after: () => {} });
    for (let kind = 0; kind < kinds; kind++) take(warning(`Kind${kind}`, "m"));
    assert.equal(lines.length, entries);
  });
}

Deno.test("redirectWarnings() takes what the runtime would print, and gives it back", async () => {
  const { lines, log } = createRecorder();
  const before = process.listenerCount("warning");
  const restore = redirectWarnings(log, () => {});
  process.emitWarning("text\nin two lines", "SomeWarning");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual(lines, ['warn Warning of the runtime {"detail":"SomeWarning: text\\nin two lines"}']);
  restore();
  assert.equal(process.listenerCount("warning"), before);
});
