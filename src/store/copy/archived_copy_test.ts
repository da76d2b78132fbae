import assert from "node:assert/strict";

import { ARCHIVABLE, archiveRun } from "../../../tests/simulation/store/damage.ts";
import { appendTo, headAfter, LAW, makeSnapshot, runKey } from "../../../tests/simulation/store/fixture.ts";
import { IMPLEMENTATIONS, withOwnedStores } from "../../../tests/simulation/store/open.ts";
import { entryOfCreation } from "../run_index.ts";
import { materialNames } from "../seal.ts";
import { type ArchivedRun, type RunStore, StoreError } from "../types.ts";

const HEAD = headAfter(ARCHIVABLE);
const { run_key, scenario_id, scenario_law_identity, records } = ARCHIVABLE;
const RUN = { run_key, scenario_id, scenario_law_identity, head: HEAD };
const { state_identity, state } = makeSnapshot(HEAD);
const ARCHIVED: ArchivedRun = {
  run: RUN,
  entry: { ...entryOfCreation(RUN, records[0]?.record ?? ""), status: "complete" },
  receipts: records.map(({ revision, record_id, receipt, material }) => ({
    revision,
    record_id,
    receipt,
    material_names: materialNames(material),
  })),
  tombstone: { runpack_identity: "a".repeat(64), archived_instant: 1_000, state_identity, state },
};

/** Every answer of a store about the run. */
async function answersOf(runs: RunStore): Promise<unknown> {
  const query = { namespace_id: run_key.namespace_id, status: "complete", correlation_id: "y" } as const;
  const operations = records.map(({ receipt }) => receipt.operation);
  return {
    head: await runs.getHead(run_key),
    tombstone: await runs.archives.get(run_key),
    receipts: await runs.receipts.list(run_key, 0, 10),
    byOperation: await Promise.all(operations.map((operation) => runs.receipts.get(run_key, operation))),
    creation: await runs.receipts.ofCreation(run_key.namespace_id, operations[0]?.identity ?? ""),
    listed: (await runs.findRuns(query, null, 10)).runs,
    all: await runs.listRuns(null, 10),
    append: await runs.append(appendTo(run_key, HEAD, "late")),
    repeated: await runs.append(ARCHIVABLE),
    records: await runs.listRecords(run_key, 0, 10).catch((error) => error instanceof StoreError ? error.code : error),
  };
}

for (const implementation of IMPLEMENTATIONS) {
  const over = (name: string, run: (owned: RunStore) => Promise<void>): void =>
    Deno.test(`RunStore (${implementation.name}) ${name}`, () =>
      withOwnedStores(implementation, {}, async (_, openOwned) => run((await openOwned()).runs)));

  over("putArchived() stores a run that answers as the one that was archived", async (runs) => {
    await runs.laws.put(LAW);
    assert.equal(await runs.archives.put(ARCHIVED), "stored");
    const answers = await answersOf(runs);
    await withOwnedStores(implementation, {}, async (_, openOwned) => {
      const other = await openOwned();
      await other.runs.laws.put(LAW);
      await other.runs.append(ARCHIVABLE);
      await archiveRun(other);
      assert.deepEqual(answers, await answersOf(other.runs));
    });
  });

  over("putArchived() replaces no run of the same id, or of the same creation request", async (runs) => {
    await runs.append(ARCHIVABLE);
    assert.equal(await runs.archives.put(ARCHIVED), "exists");
    assert.deepEqual(await runs.listRecords(run_key, 0, 10), records);
    const other = { ...RUN, run_key: runKey("other") };
    const entry = { ...ARCHIVED.entry, run_key: other.run_key };
    assert.equal(await runs.archives.put({ ...ARCHIVED, run: other, entry }), "exists");
    assert.equal(await runs.getHead(other.run_key), null);
  });

  over("putArchived() rejects a state that is not the one at the head", async (runs) => {
    const tombstone = { ...ARCHIVED.tombstone, state_identity: "0".repeat(64) };
    await assert.rejects(
      Promise.resolve().then(() => runs.archives.put({ ...ARCHIVED, tombstone })),
      (error) => error instanceof StoreError && error.code === "corrupt",
    );
    assert.equal(await runs.getHead(run_key), null);
  });
}
