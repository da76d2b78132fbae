import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

import { checkStore } from "../../../src/store/check/check.ts";
import { closeStores, openStores } from "../../../src/store/open.ts";
import type { AppendResult, RunStore } from "../../../src/store/types.ts";
import { appendTo, headAfter, LAW, runKey, sha256 } from "./fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "./open.ts";
import { verifyRun } from "../runpack/verify_run.ts";

const WRITER = fileURLToPath(new URL("./writer.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../../deno.json", import.meta.url));

/** Rounds of killing, each a little later in the load. */
const KILL_ROUNDS = 10;

function startWriter(...args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", "--config", CONFIG, WRITER, ...args],
    env: { NO_COLOR: "1", RUST_BACKTRACE: "0" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** The lines of a writer, each an accepted append; `onLine` is told how many there are so far. */
async function acceptedLines(writer: Deno.ChildProcess, onLine: (count: number) => void = () => {}): Promise<string[]> {
  let rest = "";
  const lines: string[] = [];
  for await (const chunk of writer.stdout.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + chunk).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    onLine(lines.length);
  }
  return lines;
}

async function errorsOf(writer: Deno.ChildProcess): Promise<string> {
  return await new Response(writer.stderr).text();
}

Deno.test("Two stores on one file race for a head: exactly one wins, each round", () =>
  withFolder(async (folder) => {
    const [first, second] = [
      await openStores(storesOptions(folder, WAL_FULL), sha256),
      await openStores(storesOptions(folder, WAL_FULL), sha256),
    ];
    const run = runKey("one");
    await first.runs.append(appendTo(run, null, "create"));
    for (let round = 0; round < 50; round++) {
      const head = (await second.runs.getHead(run))?.head ?? null;
      const rivals: [RunStore, string][] = [[first.runs, "first"], [second.runs, "second"]];
      const racing = rivals.map(([runs, name]) => runs.append(appendTo(run, head, `${name} ${round}`)));
      const outcomes = (await Promise.all(racing)).map((result: AppendResult) => result.outcome).sort();
      assert.deepEqual(outcomes, ["accepted", "stale"]);
    }
    assert.equal((await first.runs.getHead(run))?.head.revision, 51);
    await verifyRun(second.runs, run, { sha256 });
    await closeStores(first);
    await closeStores(second);
  }));

Deno.test("Two processes append to one file, to runs of their own and to one run together", () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.laws.put(LAW);
    await stores.runs.append(appendTo(runKey("contended"), null, "create contended"));
    const writers = ["together 1", "together 2"].map((name) => startWriter(folder, name, "4", "30"));
    const [lines, errors, statuses] = await Promise.all([
      Promise.all(writers.map((writer) => acceptedLines(writer))),
      Promise.all(writers.map(errorsOf)),
      Promise.all(writers.map((writer) => writer.status)),
    ]);
    assert.deepEqual(statuses.map((status) => status.code), [0, 0], errors.join("\n"));
    const contended = lines.flat().filter((line) => line.startsWith("contended "));
    const revisions = contended.map((line) => Number(line.split(" ")[1])).sort((a, b) => a - b);
    assert.deepEqual(revisions, Array.from({ length: 60 }, (_, index) => index + 2));
    for (const run of await stores.runs.listRuns(null, 100)) await verifyRun(stores.runs, run.run_key, { sha256 });
    await closeStores(stores);
    const report = await checkStore(`${folder}/gate.db`, { sha256 });
    assert.deepEqual(report.problems, []);
    assert.deepEqual([report.counts.runs, report.counts.records], [9, 61 + 2 * 4 * 40]);
  }));

/** What a writer was told is accepted: the highest revision of each run. */
function acceptedRevisions(lines: readonly string[]): Map<number, number> {
  const highest = new Map<number, number>();
  for (const line of lines) {
    const [run = NaN, revision = NaN] = line.split(" ").map(Number);
    highest.set(run, Math.max(revision, highest.get(run) ?? 0));
  }
  return highest;
}

Deno.test(`A writer killed in the middle of its load loses nothing accepted, ${KILL_ROUNDS} times`, () =>
  withFolder(async (folder) => {
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await stores.runs.laws.put(LAW);
    await closeStores(stores);
    let killed = 0;
    for (let round = 0; round < KILL_ROUNDS; round++) {
      const name = `round ${round}`;
      const writer = startWriter(folder, name, "16", "5000");
      const killAt = 40 + round * 97;
      let told = false;
      const errors = errorsOf(writer);
      const lines = await acceptedLines(writer, (count) => {
        if (count < killAt || told) return;
        told = true;
        writer.kill("SIGKILL");
      });
      const status = await writer.status;
      if (status.signal === "SIGKILL") killed += 1;
      assert.ok(lines.length >= killAt, await errors);
      await errors;
      await proveRound(folder, name, acceptedRevisions(lines));
    }
    assert.equal(killed, KILL_ROUNDS);
    assert.deepEqual((await checkStore(`${folder}/gate.db`, { sha256 })).problems, []);
  }));

/** After a kill: each accepted append is there, each other one is absent or whole, and the store goes on. */
async function proveRound(folder: string, name: string, accepted: ReadonlyMap<number, number>): Promise<void> {
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  for (const [run, revision] of accepted) {
    const key = runKey(`${name} ${run}`);
    const head = await verifyRun(stores.runs, key, { sha256 });
    assert.ok(head !== null && head.head.revision >= revision, `Run ${run} of "${name}" lost revision ${revision}`);
    // Every third append is of two records: of each three appends four records, and never a third one without its fourth.
    assert.notEqual(head.head.revision % 4, 3, `Run ${run} of "${name}" has half an append`);
    const next = appendTo(key, head.head, `${name} ${run} after`);
    assert.deepEqual(await stores.runs.append(next), { outcome: "accepted" });
    assert.deepEqual((await stores.runs.getHead(key))?.head, headAfter(next));
  }
  await closeStores(stores);
}
