import assert from "node:assert/strict";

import { corrupted, HEAD, READS, RUN } from "../../../tests/simulation/store/damage.ts";
import { LAW, makeSnapshot, sha256 } from "../../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../../tests/simulation/store/open.ts";
import { checkStore } from "./check.ts";
import { closeStores, openStores } from "../open.ts";

Deno.test("checkStore() reports every problem, and continues after each", () =>
  withFolder(async (folder) => {
    const path = await corrupted(
      folder,
      `UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 3;
      UPDATE records SET material = replace(material, 'json', 'jsom') WHERE revision = 2;
      UPDATE records SET result = result || ' ' WHERE revision < 3;
      UPDATE laws SET law = replace(law, 'release', 'Release'), graph_identity = '${"0".repeat(64)}';
      UPDATE artifacts SET body = replace(body, 'lanes', 'Lanes');
      UPDATE snapshots SET state = replace(state, 'note', 'Note');
      UPDATE schemas SET record = replace(record, 'object', 'Object')`,
    );
    const { problems, counts } = await checkStore(path, { sha256 });
    const subjects = new Set(problems.map((problem) => problem.what));
    assert.deepEqual([...subjects].sort(), ["artifact", "law", "record", "schema", "snapshot"]);
    assert.ok(problems.length >= 8, JSON.stringify(problems));
    const rows = { laws: 1, runs: 1, archived_runs: 0, records: 4, material: 1, artifacts: 1, snapshots: 1 };
    assert.deepEqual(counts, { ...rows, schemas: 1, typed_providers: 1 });
  }));

Deno.test("checkStore() rebuilds states and compares them with the snapshots", () =>
  withFolder(async (folder) => {
    const path = await corrupted(folder, "");
    const asWritten = (
      _law: string,
      records: readonly { readonly revision: number; readonly record_id: string }[],
    ): string => {
      const last = records.at(-1) ?? assert.fail();
      return makeSnapshot({ record_id: last.record_id, revision: last.revision }).state;
    };
    const sound = await checkStore(path, { sha256, fold: asWritten });
    assert.deepEqual([sound.sound, sound.states_rebuilt], [true, true]);
    const differing = await checkStore(path, { sha256, fold: (law, records) => `${asWritten(law, records)} ` });
    assert.deepEqual(differing.problems, [{
      what: "snapshot",
      ...RUN,
      revision: 3,
      message: "the snapshot is not the state that its records fold to",
    }]);
    const failing = await checkStore(path, {
      sha256,
      fold: (law, records) => {
        assert.equal(law, LAW.law);
        if (records.length === HEAD.revision) throw new Error("No such stage");
        return asWritten(law, records);
      },
    });
    assert.deepEqual(failing.problems, [{
      what: "run",
      ...RUN,
      revision: 4,
      message: "its records do not fold: No such stage",
    }]);
  }));

Deno.test("checkStore() reports foreign objects, and continues", () =>
  withFolder(async (folder) => {
    const path = await corrupted(folder, "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM laws; END");
    const { problems, counts } = await checkStore(path, { sha256 });
    assert.deepEqual(problems.map(({ what }) => what), ["file"]);
    assert.match(
      problems[0]?.message ?? "",
      /: its trigger "t" is not part of a gate store: drop it or restore a backup$/,
    );
    assert.equal(counts.records, 4);
  }));

Deno.test("A store that SQLite has analysed is opened", () =>
  withFolder(async (folder) => {
    await corrupted(folder, "ANALYZE");
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    for (const read of Object.values(READS)) await read(stores);
    await closeStores(stores);
  }));
