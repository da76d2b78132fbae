import assert from "node:assert/strict";

import {
  appendTo,
  headAfter,
  identified,
  makeLaw,
  makeSnapshot,
  type RecordChoices,
  runKey,
} from "../../tests/simulation/store/fixture.ts";
import { type Implementation, IMPLEMENTATIONS, withOwnedStores } from "../../tests/simulation/store/open.ts";
import type { Stores } from "./open.ts";
import { type Append, type ArchiveResult, StoreError, type Tombstone } from "./types.ts";

type OpenOwned = () => Promise<Stores>;

/** Runs a case over every implementation. */
function overAll(name: string, run: (stores: Stores, openOwned: OpenOwned) => Promise<void>): void {
  for (const implementation of IMPLEMENTATIONS) testCase(implementation, name, run);
}

function testCase(
  implementation: Implementation,
  name: string,
  run: (stores: Stores, openOwned: OpenOwned) => Promise<void>,
): void {
  Deno.test(`RunStore (${implementation.name}) ${name}`, () => withOwnedStores(implementation, {}, run));
}

const RUN = runKey("one");
const PAYLOAD = identified("payload", { kind: "json", value: "kept in the runpack" });
const COMPLETION: RecordChoices = { operation: "evaluate", family: "evaluate_stage", evaluates: "complete" };
const COMPLETE = appendTo(RUN, null, "create", { operation: "submit", material: [PAYLOAD] }, COMPLETION);
const HEAD = headAfter(COMPLETE);

/** A tombstone whose state is at a head. */
function tombstoneAt(append: Append, runpack = "a".repeat(64), archived_instant = 1_000): Tombstone {
  const { state_identity, state } = makeSnapshot(headAfter(append));
  return { runpack_identity: runpack, archived_instant, state_identity, state };
}

const TOMBSTONE = tombstoneAt(COMPLETE);
const ARCHIVED = { runpack_identity: TOMBSTONE.runpack_identity, archived_instant: TOMBSTONE.archived_instant };

function isArchived(error: unknown): boolean {
  return error instanceof StoreError && error.code === "archived";
}

function shown(result: ArchiveResult): string {
  return "head" in result ? `${result.outcome} ${result.head.revision}` : result.outcome;
}

const ACTIVE = appendTo(runKey("active"), null, "create active");

// A run, the head and the tombstone to archive it with, and the outcome.
const OUTCOMES: readonly [string, Append | null, Append, Tombstone, string][] = [
  ["a complete run at its head", COMPLETE, COMPLETE, TOMBSTONE, "archived"],
  ["a run that is not complete", ACTIVE, ACTIVE, tombstoneAt(ACTIVE), "run_active"],
  ["a run that is not there", null, COMPLETE, TOMBSTONE, "run_not_found"],
];

for (const [what, stored, append, tombstone, outcome] of OUTCOMES) {
  overAll(`archive() of ${what}: ${outcome}`, async ({ runs }, openOwned) => {
    if (stored !== null) await runs.append(stored);
    const owned = await openOwned();
    assert.equal(shown(await owned.runs.archives.archive(append.run_key, headAfter(append), tombstone)), outcome);
    const [found] = await runs.listRuns(null, 10);
    assert.equal(found?.archived !== undefined, outcome === "archived");
    if (stored === ACTIVE) assert.deepEqual(await runs.listRecords(ACTIVE.run_key, 0, 10), ACTIVE.records);
  });
}

overAll("archive() at a head that was left removes nothing: stale", async ({ runs }, openOwned) => {
  await runs.append(COMPLETE);
  await runs.append(appendTo(RUN, HEAD, "late"));
  const owned = await openOwned();
  assert.equal(shown(await owned.runs.archives.archive(RUN, HEAD, TOMBSTONE)), "stale 4");
  assert.equal((await runs.listRecords(RUN, 0, 10)).length, 4);
});

overAll("archive() a second time changes nothing: already_archived", async ({ runs }, openOwned) => {
  await runs.append(COMPLETE);
  const owned = await openOwned();
  await owned.runs.archives.archive(RUN, HEAD, TOMBSTONE);
  const again = await owned.runs.archives.archive(RUN, HEAD, tombstoneAt(COMPLETE, "b".repeat(64)));
  assert.deepEqual(again, { outcome: "already_archived", archived: ARCHIVED });
  assert.deepEqual(await runs.archives.get(RUN), TOMBSTONE);
});

overAll("archive() rejects a state of another head, and one that does not hash", async ({ runs }, openOwned) => {
  await runs.append(COMPLETE);
  const owned = await openOwned();
  const wrong = [tombstoneAt(ACTIVE), { ...TOMBSTONE, state_identity: "0".repeat(64) }];
  for (const tombstone of wrong) {
    const rejected = owned.runs.archives.archive(RUN, HEAD, tombstone);
    await assert.rejects(rejected, (error) => error instanceof StoreError && error.code === "corrupt");
  }
  assert.deepEqual(await runs.listRecords(RUN, 0, 10), COMPLETE.records);
});

overAll("an archived run keeps head, list entry and receipts, and has no record", async ({ runs }, openOwned) => {
  await runs.append(COMPLETE);
  const before = await runs.getHead(RUN);
  assert.equal(await runs.archives.get(RUN), null);
  const owned = await openOwned();
  await owned.runs.archives.archive(RUN, HEAD, TOMBSTONE);

  assert.deepEqual(await runs.getHead(RUN), { ...before, archived: ARCHIVED });
  assert.deepEqual(await runs.listRuns(null, 10), [{ ...before, archived: ARCHIVED }]);
  assert.deepEqual(await runs.archives.get(RUN), TOMBSTONE);
  const { runs: listed } = await runs.findRuns({ namespace_id: 2, status: "complete" }, null, 10);
  assert.deepEqual(listed.map(({ run_key, head, archived }) => [run_key, head, archived]), [[RUN, HEAD, ARCHIVED]]);

  const receipts = COMPLETE.records.map(({ revision, record_id, receipt }) => ({ revision, record_id, receipt }));
  assert.deepEqual(await runs.receipts.list(RUN, 0, 10), receipts);
  assert.deepEqual(await runs.receipts.list(RUN, 1, 1), receipts.slice(1, 2));
  for (const { revision, receipt } of receipts) {
    assert.deepEqual(await runs.receipts.get(RUN, receipt.operation), { ...receipt, run_key: RUN, revision });
  }
  const [creation] = receipts;
  const created = await runs.receipts.ofCreation(2, creation?.receipt.operation.identity ?? "");
  assert.deepEqual(created, { ...creation?.receipt, run_key: RUN, revision: 1 });

  await assert.rejects(runs.listRecords(RUN, 0, 10), isArchived);
  await assert.rejects(runs.listRecords(RUN, 2, 1), isArchived);
});

// An append to an archived run with three records, and its outcome.
const APPENDS: readonly [string, Append, string][] = [
  ["a record at its head", appendTo(RUN, HEAD, "late"), "archived"],
  ["a record at an older head", appendTo(RUN, { ...HEAD, revision: 2 }, "late"), "stale"],
  ["an accepted operation", appendTo(RUN, HEAD, { operation: "submit", family: "submit" }), "operation_exists"],
  ["its creation", appendTo(RUN, null, "create"), "operation_exists"],
  ["another creation of it", appendTo(RUN, null, "create 2"), "run_exists"],
];

for (const [what, append, outcome] of APPENDS) {
  overAll(`append() to an archived run, ${what}: ${outcome}`, async ({ runs }, openOwned) => {
    await runs.append(COMPLETE);
    await (await openOwned()).runs.archives.archive(RUN, HEAD, TOMBSTONE);
    const result = await runs.append(append);
    assert.equal(result.outcome, outcome);
    if (result.outcome === "archived") assert.deepEqual(result.archived, ARCHIVED);
    assert.deepEqual((await runs.getHead(RUN))?.head, HEAD);
    assert.equal((await runs.receipts.list(RUN, 0, 10)).length, 3);
  });
}

overAll("archive() and append() at one head: exactly one is accepted", async ({ runs }, openOwned) => {
  const owned = await openOwned();
  for (let round = 0; round < 10; round++) {
    const key = runKey(`rival ${round}`);
    const complete = appendTo(key, null, `create ${round}`, { ...COMPLETION, operation: `evaluate ${round}` });
    await runs.append(complete);
    const head = headAfter(complete);
    const [archived, appended] = await Promise.all([
      owned.runs.archives.archive(key, head, tombstoneAt(complete)),
      runs.append(appendTo(key, head, `late ${round}`)),
    ]);
    const outcomes = [archived.outcome, appended.outcome];
    const now = await runs.getHead(key);
    if (archived.outcome === "archived") {
      assert.deepEqual([...outcomes, now?.head.revision], ["archived", "archived", 2]);
    } else {
      assert.deepEqual([...outcomes, now?.head.revision], ["stale", "accepted", 3]);
      assert.equal((await runs.listRecords(key, 0, 10)).length, 3);
    }
  }
});

overAll("archive() removes the snapshots, and none is stored afterwards", async ({ runs }, openOwned) => {
  await runs.append(COMPLETE);
  await runs.snapshots.put(RUN, makeSnapshot(HEAD));
  await (await openOwned()).runs.archives.archive(RUN, HEAD, TOMBSTONE);
  assert.equal(await runs.snapshots.get(RUN, 3), null);
  await runs.snapshots.put(RUN, makeSnapshot(HEAD));
  assert.equal(await runs.snapshots.get(RUN, 3), null);
});

overAll("archive() leaves other runs as they are", async ({ runs }, openOwned) => {
  const other = appendTo(runKey("two", 3), null, { operation: "create", law: makeLaw("two") }, {
    ...COMPLETION,
    law: makeLaw("two"),
  });
  await runs.append(COMPLETE);
  await runs.append(other);
  await (await openOwned()).runs.archives.archive(RUN, HEAD, TOMBSTONE);
  assert.deepEqual(await runs.listRecords(other.run_key, 0, 10), other.records);
  assert.equal((await runs.getHead(other.run_key))?.archived, undefined);
  assert.equal(await runs.archives.get(other.run_key), null);
});
