import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import {
  appendTo,
  headAfter,
  identified,
  LAW,
  makeSnapshot,
  runKey,
  sha256,
} from "../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../tests/simulation/store/open.ts";
import { checkStore } from "./check/check.ts";
import { migrateStore } from "./sqlite/open.ts";
import { closeStores, openStores } from "./open.ts";

const RUN = runKey("one");
const PAYLOAD = identified("payload", { kind: "json", value: "a secret of the payload" });
const COMPLETE = appendTo(RUN, null, "create", { operation: "submit", material: [PAYLOAD] }, {
  operation: "evaluate",
  family: "evaluate_stage",
  evaluates: "complete",
});
const HEAD = headAfter(COMPLETE);

/** Makes a file with one archived run and one other run; returns its path. */
async function makeArchived(folder: string): Promise<string> {
  const options = storesOptions(folder, WAL_FULL);
  const stores = await openStores(options, sha256);
  await stores.runs.laws.put(LAW);
  await stores.runs.append(COMPLETE);
  await stores.runs.append(appendTo(runKey("two"), null, "create 2"));
  const { state_identity, state } = makeSnapshot(HEAD);
  const tombstone = { runpack_identity: "a".repeat(64), archived_instant: 1, state_identity, state };
  assert.deepEqual(await stores.runs.archives.archive(RUN, HEAD, tombstone), { outcome: "archived" });
  await closeStores(stores);
  return `${folder}/gate.db`;
}

/** A change of the file, and what a check reports; null where the store stays sound. */
const DAMAGES: readonly (readonly [string, RegExp | null])[] = [
  ["SELECT 1", null],
  ["UPDATE archives SET runpack_identity = replace(runpack_identity, 'a', 'b')", /its tombstone differs/],
  ["UPDATE archives SET archived = 2", /its tombstone differs/],
  ["UPDATE archives SET state = replace(state, 'note', 'Note')", /its state does not hash/],
  ["UPDATE archives SET archive_seal = ''", /its tombstone differs/],
  ["DELETE FROM archives", /record does not hash/],
  ["UPDATE archives SET run_row = 99", /1 rows of "archives" belong to no run/],
  ["UPDATE records SET record = '{}' WHERE run_row = 1 AND revision = 2", /its texts are there/],
  ["UPDATE records SET result = '{}' WHERE run_row = 1 AND revision = 2", /its receipt differs/],
  ["DELETE FROM records WHERE run_row = 1 AND revision = 2", /its receipt is missing/],
  ["DELETE FROM records WHERE run_row = 1 AND revision = 3", /its receipts do not lead to the head/],
  ["UPDATE runs SET head = 'b' WHERE run_row = 1", /its tombstone differs/],
  ["UPDATE runs SET creation = 'b' WHERE run_row = 1", /it is not the creation of the run/],
  ["UPDATE run_index SET status = 'active' WHERE run_row = 1", /its entry in the index differs/],
  ["DELETE FROM run_index WHERE run_row = 1", /it is not in the index of runs/],
  ["INSERT INTO snapshots VALUES (1, 3, '', '{}')", /it has snapshots although it is archived/],
];

for (const [damage, reported] of DAMAGES) {
  Deno.test(`a check of a store with an archived run: ${damage.slice(0, 70)}`, () =>
    withFolder(async (folder) => {
      const path = await makeArchived(folder);
      const database = new DatabaseSync(path);
      database.exec(damage);
      database.close();
      const { problems, counts } = await checkStore(path, { sha256 });
      const known = problems.filter(({ run_id }) => run_id !== runKey("two").run_id).map(({ message }) => message);
      if (reported === null) {
        assert.deepEqual([problems, counts.runs, counts.archived_runs, counts.records], [[], 2, 1, 1]);
      } else assert.ok(known.some((message) => reported.test(message)), JSON.stringify(known));
    }));
}

Deno.test("a start after runs were archived reports no loss", () =>
  withFolder(async (folder) => {
    await makeArchived(folder);
    const notices: string[] = [];
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256, (message) => void notices.push(message));
    assert.deepEqual([notices, (await stores.runs.getHead(RUN))?.head], [[], HEAD]);
    await closeStores(stores);
  }));

Deno.test("a store of format 4 is raised to format 7 by its next start, and keeps every record", () =>
  withFolder(async (folder) => {
    const options = storesOptions(folder, WAL_FULL);
    const path = `${folder}/gate.db`;
    const written = new DatabaseSync(path);
    written.exec(await Deno.readTextFile(new URL("../../tests/vectors/store/format_4.sql", import.meta.url)));
    const texts = written.prepare("SELECT * FROM records ORDER BY record_row").all();
    written.close();
    assert.deepEqual((await checkStore(path, { sha256 })).problems, []);

    assert.equal(await migrateStore(options.run, sha256), 0);
    const { problems, counts } = await checkStore(path, { sha256 });
    assert.deepEqual([problems, counts.runs, counts.records], [[], 1, 5]);
    using raised = new DatabaseSync(path);
    assert.equal(raised.prepare("PRAGMA user_version").get()?.["user_version"], 7);
    assert.deepEqual(raised.prepare("SELECT * FROM records ORDER BY record_row").all(), texts);

    const stores = await openStores(options, sha256);
    const [run] = await stores.runs.listRuns(null, 10);
    assert.ok(run !== undefined);
    const { state_identity, state } = makeSnapshot(run.head);
    const tombstone = { runpack_identity: "a".repeat(64), archived_instant: 1, state_identity, state };
    assert.deepEqual(await stores.runs.archives.archive(run.run_key, run.head, tombstone), { outcome: "archived" });
    await closeStores(stores);
    assert.deepEqual((await checkStore(path, { sha256 })).problems, []);
  }));
