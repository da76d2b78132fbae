import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import { appendTo, headAfter, LAW, type RecordChoices, runKey, sha256 } from "../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, storesOptions, WAL_FULL, withFolder, withStores } from "../../tests/simulation/store/open.ts";
import { checkStore } from "./check/check.ts";
import { closeStores, openStores, type Stores } from "./open.ts";

type Step = readonly [run: string, ...records: readonly RecordChoices[]];

const opens = (stage: string, created: number): RecordChoices => ({
  operation: `open ${stage}`,
  opens: stage,
  created,
});
const completes = (stage: string, evaluates: "active" | "complete" = "active"): RecordChoices => ({
  operation: `complete ${stage}`,
  completes: stage,
  evaluates,
});

// Appends, and the figures after them: active runs, complete runs, the instant of the oldest opening.
const ROWS: readonly (readonly [what: string, steps: readonly Step[], figures: string])[] = [
  ["no run", [], "0 0 null"],
  ["a run without an open stage", [["a"]], "1 0 null"],
  ["two open stages", [["a"], ["a", opens("s", 7)], ["b"], ["b", opens("s", 5)]], "2 0 5"],
  ["the oldest one complete", [["a"], ["a", opens("s", 5), opens("t", 6)], ["a", completes("s")]], "1 0 6"],
  ["opened and complete in one append", [["a"], ["a", opens("s", 5), completes("s")]], "1 0 null"],
  ["a complete run with another stage open", [["a"], ["a", opens("s", 5), opens("t", 6)], [
    "a",
    completes("s", "complete"),
  ]], "0 1 null"],
  ["one of two runs complete", [["a"], ["a", opens("s", 5)], ["b"], ["b", opens("s", 9)], [
    "a",
    completes("s", "complete"),
  ]], "1 1 9"],
  ["all in one append", [["a"], ["a", opens("s", 5), opens("t", 6), completes("t", "complete")]], "0 1 null"],
];

async function appendAll({ runs }: Stores, steps: readonly Step[]): Promise<void> {
  for (const [run, ...records] of steps) {
    const known = await runs.getHead(runKey(run));
    const append = records.length === 0
      ? appendTo(runKey(run), null, `create ${run}`)
      : appendTo(runKey(run), known?.head ?? null, ...records);
    assert.deepEqual(await runs.append(append), { outcome: "accepted" });
  }
}

async function figuresOf({ runs }: Stores): Promise<string> {
  const { active, complete, oldestOpened } = await runs.figures();
  return `${active} ${complete} ${oldestOpened}`;
}

for (const implementation of IMPLEMENTATIONS) {
  for (const [what, steps, figures] of ROWS) {
    Deno.test(`figures() (${implementation.name}) ${what}: ${figures}`, () =>
      withStores(implementation, {}, async (stores) => {
        await appendAll(stores, steps);
        assert.equal(await figuresOf(stores), figures);
      }));
  }

  Deno.test(`figures() (${implementation.name}) an append that is refused changes nothing`, () =>
    withStores(implementation, {}, async (stores) => {
      await appendAll(stores, [["a"], ["a", opens("s", 5)]]);
      const first = headAfter(appendTo(runKey("a"), null, "create a"));
      const { outcome } = await stores.runs.append(appendTo(runKey("a"), first, opens("t", 1)));
      assert.deepEqual([outcome, await figuresOf(stores)], ["stale", "1 0 5"]);
    }));
}

for (const [what, steps, figures] of ROWS) {
  Deno.test(`a file of format 5 gets its open stages at the next start: ${what}`, () =>
    withFolder(async (folder) => {
      const options = storesOptions(folder, WAL_FULL);
      const before = await openStores(options, sha256);
      await appendAll(before, steps);
      await closeStores(before);
      const database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(
        "DROP TABLE outbox_targets; DROP TABLE open_stages; DROP INDEX records_of_creation; " +
          "DROP INDEX tenants_of_schema; PRAGMA user_version = 5",
      );
      database.close();
      const after = await openStores(options, sha256);
      assert.equal(await figuresOf(after), figures);
      await closeStores(after);
    }));
}

const TWO: readonly Step[] = [["a"], ["a", opens("s", 5), opens("t", 6)]];

// Appends, a change to the file, and whether the check names the open stages of the run.
const CHECKS: readonly (readonly [what: string, steps: readonly Step[], sql: string, isNamed: boolean])[] = [
  ...ROWS.map(([what, steps]) => [what, steps, "", false] as const),
  ["a stage forgotten", TWO, "DELETE FROM open_stages WHERE stage_id = 't'", true],
  ["an instant changed", TWO, "UPDATE open_stages SET opened = 4 WHERE stage_id = 's'", true],
  ["a stage renamed", TWO, "UPDATE open_stages SET stage_id = 'u' WHERE stage_id = 's'", true],
  [
    "a stage that is complete",
    [...TWO, ["a", completes("s")]],
    "INSERT INTO open_stages SELECT run_row, 's', 5 FROM runs",
    true,
  ],
];

for (const [what, steps, sql, isNamed] of CHECKS) {
  Deno.test(`gate store check ${isNamed ? "names" : "accepts"} open stages: ${what}`, () =>
    withFolder(async (folder) => {
      const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
      await stores.runs.laws.put(LAW);
      await appendAll(stores, steps);
      await closeStores(stores);
      const database = new DatabaseSync(`${folder}/gate.db`);
      database.exec(sql);
      database.close();
      const { problems } = await checkStore(`${folder}/gate.db`, { sha256 });
      assert.deepEqual(
        problems.map(({ message }) => message),
        isNamed ? ["its open stages differ from its records"] : [],
      );
    }));
}
