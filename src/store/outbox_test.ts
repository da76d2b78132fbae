import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";

import { appendTo, headAfter, makeSnapshot, runKey } from "../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, withOwnedStores, withStores } from "../../tests/simulation/store/open.ts";
import type { OutboxEntry } from "./outbox.ts";
import type { Append, RunStore } from "./types.ts";

const NONE = { after: null, open: [] };
const RUN = runKey("one");
const CREATE = appendTo(RUN, null, "create");
const LATER = appendTo(RUN, headAfter(CREATE), { operation: "a", family: "open_stage" }, {
  operation: "b",
  family: "submit",
});

function shown(entries: readonly OutboxEntry[]): string {
  return entries.map(({ run_key, revision, family }) =>
    `${run_key.run_id === RUN.run_id ? "one" : "two"} ${revision} ${family}`
  )
    .join(", ");
}

async function appendAll({ append }: RunStore, ...all: readonly Append[]): Promise<void> {
  for (const one of all) assert.deepEqual(await append(one), { outcome: "accepted" });
}

for (const implementation of IMPLEMENTATIONS) {
  const test = (what: string, run: (runs: RunStore) => Promise<void>): void =>
    Deno.test(`Outbox (${implementation.name}) ${what}`, () => withStores(implementation, {}, ({ runs }) => run(runs)));

  test("has the records that were accepted since a target was registered, in their order, until they are settled", async (runs) => {
    const { outbox } = runs;
    await appendAll(runs, CREATE);
    assert.deepEqual(await outbox.pending("t", NONE, 10), []);
    await outbox.register("t");
    await appendAll(runs, LATER, appendTo(runKey("two"), null, "create 2"));
    const all = await outbox.pending("t", NONE, 10);
    assert.equal(shown(all), "one 2 open_stage, one 3 submit, two 1 create_run");
    assert.deepEqual(all.map(({ record_id, result }) => [record_id, result]), [
      ...LATER.records.map(({ record_id, receipt }) => [record_id, receipt.result]),
      ...appendTo(runKey("two"), null, "create 2").records.map(({ record_id, receipt }) => [record_id, receipt.result]),
    ]);
    await outbox.register("t");
    assert.equal((await outbox.pending("t", NONE, 2)).length, 2);
    assert.equal(await outbox.lease("t", "a", 60_000), true);
    const [first, second, third] = all.map(({ place }) => place) as [number, number, number];
    // What was read is not read again, whether it is settled or open.
    assert.equal(shown(await outbox.pending("t", { after: second, open: [first, second] }, 10)), "two 1 create_run");
    assert.equal(await outbox.settle("t", "a", [first], { after: third, open: [second, third] }), true);
    assert.equal(shown(await outbox.pending("t", NONE, 10)), "one 3 submit, two 1 create_run");
    assert.equal(await outbox.settle("t", "a", [second, third], { after: third, open: [] }), true);
    assert.deepEqual(await outbox.pending("t", NONE, 10), []);
  });

  test("loses nothing above an open place", async (runs) => {
    const { outbox } = runs;
    await outbox.register("t");
    await appendAll(runs, CREATE, LATER);
    await outbox.lease("t", "a", 60_000);
    const [first, second, third] = (await outbox.pending("t", NONE, 10)).map(({ place }) => place) as [
      number,
      number,
      number,
    ];
    assert.equal(await outbox.settle("t", "a", [second, third], { after: third, open: [first] }), true);
    assert.match(shown(await outbox.pending("t", NONE, 10)), /^one 1 create_run/);
  });

  test("has one holder at a time, and another one once the lease has ended", async (runs) => {
    const { outbox } = runs;
    await outbox.register("t");
    await appendAll(runs, CREATE);
    const [{ place } = { place: 0 }] = await outbox.pending("t", NONE, 1);
    assert.equal(await outbox.lease("t", "a", 60_000), true);
    assert.equal(await outbox.lease("t", "b", 60_000), false);
    assert.equal(await outbox.lease("t", "a", 60_000), true);
    assert.equal(await outbox.settle("t", "b", [place], { after: place, open: [] }), false);
    assert.equal((await outbox.pending("t", NONE, 1)).length, 1);
    await outbox.release("t", "b");
    assert.equal(await outbox.lease("t", "b", 60_000), false);
    await outbox.release("t", "a");
    assert.equal(await outbox.lease("t", "b", 1), true);
    await pause(20);
    assert.equal(await outbox.lease("t", "a", 60_000), true);
    assert.equal(await outbox.settle("t", "b", [place], { after: place, open: [] }), false);
    assert.equal(await outbox.lease("unknown", "a", 60_000), false);
  });

  Deno.test(`Outbox (${implementation.name}) has the records of a run that was archived before they were announced`, () =>
    withOwnedStores(implementation, {}, async ({ runs }, openOwned) => {
      await runs.outbox.register("t");
      const last = appendTo(RUN, headAfter(CREATE), {
        operation: "a",
        family: "evaluate_stage",
        evaluates: "complete",
      });
      await appendAll(runs, CREATE, last);
      const before = await runs.outbox.pending("t", NONE, 10);
      const { state_identity, state } = makeSnapshot(headAfter(last));
      const tombstone = { runpack_identity: "a".repeat(64), archived_instant: 1, state_identity, state };
      const owned = (await openOwned()).runs;
      assert.deepEqual(await owned.archives.archive(RUN, headAfter(last), tombstone), { outcome: "archived" });
      assert.deepEqual(await runs.outbox.pending("t", NONE, 10), before);
      assert.equal(shown(before), "one 1 create_run, one 2 evaluate_stage");
    }));

  test("keeps a place for each target", async (runs) => {
    const { outbox } = runs;
    await outbox.register("one");
    await appendAll(runs, CREATE);
    await outbox.register("two");
    await appendAll(runs, LATER);
    assert.equal(shown(await outbox.pending("two", NONE, 10)), "one 2 open_stage, one 3 submit");
    await outbox.lease("two", "a", 60_000);
    const places = (await outbox.pending("two", NONE, 10)).map(({ place }) => place);
    await outbox.settle("two", "a", places, { after: places.at(-1) ?? 0, open: [] });
    assert.deepEqual(await outbox.pending("two", NONE, 10), []);
    assert.equal(shown(await outbox.pending("one", NONE, 10)), "one 1 create_run, one 2 open_stage, one 3 submit");
  });
}
