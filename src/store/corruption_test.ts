import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";

import {
  appendTo,
  headAfter,
  headOf,
  identified,
  LAW,
  makeSchema,
  makeSnapshot,
  runKey,
  sha256,
} from "../../tests/simulation/store_fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../tests/simulation/store_open.ts";
import { checkStore } from "./check.ts";
import type { StoreProblem } from "./check_types.ts";
import { closeStores, openStores, type Stores } from "./open.ts";
import { StoreError } from "./types.ts";

const RUN = runKey("one");
const PROFILE = { ...identified("operator-profile", { lanes: [] }), kind: "operator-profile" } as const;
const PAYLOAD = identified("payload", { kind: "json", value: "payload" });
const APPEND = {
  ...appendTo(RUN, null, "create", { operation: "second", material: [PAYLOAD] }, "third", "fourth"),
  artifacts: [PROFILE],
};
const RECORDS = APPEND.records;
const HEAD = headAfter(APPEND);
const SNAPSHOT = makeSnapshot(headOf(RECORDS[2] ?? assert.fail()));

async function fill({ runs, schemas }: Stores): Promise<void> {
  await runs.putLaw(LAW);
  await runs.append(APPEND);
  await runs.putSnapshot(RUN, SNAPSHOT);
  await schemas.register(makeSchema("report", "1"));
}

/** Every read of the suite; each name is what may be refused. */
const READS: Readonly<Record<string, (stores: Stores) => Promise<unknown>>> = {
  head: ({ runs }) => runs.getHead(RUN),
  records: ({ runs }) => runs.listRecords(RUN, 0, 10),
  tail: ({ runs }) => runs.listRecords(RUN, 2, 10),
  receipt: ({ runs }) => runs.getReceipt(RUN, RECORDS[1]?.receipt.operation ?? assert.fail()),
  creation: ({ runs }) => runs.getCreationReceipt(2, RECORDS[0]?.receipt.operation.identity ?? assert.fail()),
  repeat: ({ runs }) => runs.append(appendTo(RUN, headOf(RECORDS[0] ?? assert.fail()), "second")),
  law: ({ runs }) => runs.getLaw(2, LAW.scenario_law_identity),
  artifact: ({ runs }) => runs.getArtifact(PROFILE.identity),
  snapshot: ({ runs }) => runs.getSnapshot(RUN, 9),
  schema: ({ schemas }) => schemas.get(2, "report", "1"),
  schemas: ({ schemas }) => schemas.list(2, null, 10),
};

const SWAP = `UPDATE records SET revision = -1 WHERE revision = 2; UPDATE records SET revision = 2 WHERE revision = 3;
  UPDATE records SET revision = 3 WHERE revision = -1`;
const HEX = "0".repeat(64);

// What somebody does to the file; the reads that are refused as corrupt; what the check says, of what, at which revision.
const CORRUPTIONS: readonly [string, string, readonly string[], StoreProblem["what"], number | null, RegExp][] = [
  [
    "a byte of a record",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 3",
    ["records", "tail"],
    "record",
    3,
    /does not hash/,
  ],
  [
    "a record's identity",
    `UPDATE records SET record_id = '${HEX}' WHERE revision = 2`,
    ["records", "receipt", "repeat"],
    "record",
    2,
    /does not hash/,
  ],
  [
    "a byte of material",
    "UPDATE records SET material = replace(material, 'json', 'jsom') WHERE revision = 2",
    ["records"],
    "record",
    2,
    /material of kind "payload" does not hash/,
  ],
  [
    "material taken away",
    "UPDATE records SET material = '' WHERE revision = 2",
    ["records"],
    "record",
    2,
    /0 pieces of material, expected 1/,
  ],
  [
    "material forgotten",
    "UPDATE records SET material = '', material_names = '' WHERE revision = 2",
    ["records", "receipt", "repeat"],
    "record",
    2,
    /receipt is not the one/,
  ],
  [
    "a byte of an answer",
    "UPDATE records SET result = replace(result, 'second', 'Second') WHERE revision = 2",
    ["records", "receipt", "repeat"],
    "record",
    2,
    /receipt is not the one/,
  ],
  [
    "a byte of the creation's answer",
    "UPDATE records SET result = result || ' ' WHERE revision = 1",
    ["records", "creation"],
    "record",
    1,
    /receipt is not the one/,
  ],
  [
    "an invocation",
    `UPDATE records SET invocation_identity = '${HEX}' WHERE revision = 2`,
    ["records", "receipt", "repeat"],
    "record",
    2,
    /invocation of the record/,
  ],
  [
    "an operation",
    `UPDATE records SET operation = '${HEX.slice(32)}' WHERE revision = 3`,
    ["records", "tail"],
    "record",
    3,
    /operation of the record/,
  ],
  [
    "a seal",
    `UPDATE records SET seal = '${HEX}' WHERE revision = 2`,
    ["records", "receipt", "repeat"],
    "record",
    2,
    /receipt is not the one/,
  ],
  [
    "the head's record",
    `UPDATE runs SET head = '${HEX}'`,
    ["head", "records", "tail"],
    "run",
    4,
    /head names another record/,
  ],
  ["the head's revision", "UPDATE runs SET revision = 3", ["head", "records", "tail"], "record", 4, /beyond the head/],
  [
    "the head's revision forward",
    "UPDATE runs SET revision = 5",
    ["head", "records", "tail"],
    "run",
    5,
    /record 5 is not there/,
  ],
  [
    "the law of a run",
    `UPDATE runs SET law_identity = '${HEX}'`,
    [],
    "record",
    1,
    /run is bound to scenario_law_identity/,
  ],
  ["the name of a run", `UPDATE runs SET run_id = '${HEX.slice(32)}'`, ["creation"], "record", 1, /run of the record/],
  [
    "the creation of a run",
    `UPDATE runs SET creation = '${HEX.slice(32)}'`,
    [],
    "record",
    1,
    /not the creation that the run is found by/,
  ],
  [
    "the last record deleted",
    "DELETE FROM records WHERE revision = 4",
    ["head", "records", "tail"],
    "run",
    4,
    /record 4 is not there/,
  ],
  [
    "a record deleted",
    "DELETE FROM records WHERE revision = 3",
    ["records", "tail"],
    "run",
    3,
    /record 3 is not there/,
  ],
  [
    "the first record deleted",
    "DELETE FROM records WHERE revision = 1",
    ["records", "creation"],
    "run",
    1,
    /record 1 is not there/,
  ],
  ["two records swapped", SWAP, ["records", "tail", "receipt", "repeat"], "record", 2, /revision of the record/],
  ["a run deleted", "DELETE FROM runs", [], "record", null, /4 rows of "records" belong to no run/],
  [
    "a byte of a law",
    "UPDATE laws SET law = replace(law, 'release', 'Release')",
    ["law"],
    "law",
    null,
    /does not hash/,
  ],
  ["a law's scenario", "UPDATE laws SET scenario_id = 'other'", ["law"], "law", null, /not those that were written/],
  ["a law's graph", `UPDATE laws SET graph_identity = '${HEX}'`, ["law"], "law", null, /not those that were written/],
  ["a law deleted", "DELETE FROM laws", [], "run", null, /law ".*" is not there/],
  [
    "a byte of an artifact",
    "UPDATE artifacts SET body = replace(body, 'lanes', 'Lanes')",
    ["artifact"],
    "artifact",
    null,
    /does not hash/,
  ],
  [
    "a byte of a snapshot",
    "UPDATE snapshots SET state = replace(state, 'note', 'Note')",
    ["snapshot"],
    "snapshot",
    3,
    /does not hash/,
  ],
  ["a snapshot's revision", "UPDATE snapshots SET revision = 2", ["snapshot"], "snapshot", 2, /of another revision/],
  [
    "a byte of a schema",
    "UPDATE schemas SET record = replace(record, 'object', 'Object')",
    ["schema", "schemas"],
    "schema",
    null,
    /not what was written/,
  ],
  [
    "a schema's size",
    "UPDATE schemas SET schema_bytes = 1",
    ["schema", "schemas"],
    "schema",
    null,
    /not what was written/,
  ],
];

async function corrupted(folder: string, sql: string): Promise<string> {
  const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
  await fill(stores);
  for (const read of Object.values(READS)) await read(stores);
  await closeStores(stores);
  const path = `${folder}/gate.db`;
  assert.equal((await checkStore(path, { sha256 })).sound, true);
  const database = new DatabaseSync(path);
  database.exec(sql);
  database.close();
  return path;
}

for (const [what, sql, refused, subject, revision, message] of CORRUPTIONS) {
  Deno.test(`A store with ${what} changed refuses ${refused.join(", ") || "no point read"}, and the check tells`, () =>
    withFolder(async (folder) => {
      const path = await corrupted(folder, sql);
      const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
      const found: string[] = [];
      for (const [name, read] of Object.entries(READS)) {
        await read(stores).catch((error) => {
          assert.ok(error instanceof StoreError && error.code === "corrupt", String(error));
          found.push(name);
        });
      }
      await closeStores(stores);
      assert.deepEqual(found, refused);
      const report = await checkStore(path, { sha256 });
      assert.equal(report.sound, false);
      const hit = report.problems.find((problem) =>
        problem.what === subject && problem.revision === revision && message.test(problem.message)
      );
      assert.ok(hit !== undefined, JSON.stringify(report.problems, null, 1));
    }));
}

Deno.test("checkStore() reports every problem, and goes on after each", () =>
  withFolder(async (folder) => {
    const all = CORRUPTIONS.filter(([what]) => /^a byte|^a law's graph|^a seal/.test(what)).map(([, sql]) => sql);
    const path = await corrupted(folder, all.join(";"));
    const { problems, counts } = await checkStore(path, { sha256 });
    const subjects = new Set(problems.map((problem) => problem.what));
    assert.deepEqual([...subjects].sort(), ["artifact", "law", "record", "schema", "snapshot"]);
    assert.ok(problems.length >= 8, JSON.stringify(problems));
    assert.deepEqual(counts, { laws: 1, runs: 1, records: 4, material: 1, artifacts: 1, snapshots: 1, schemas: 1 });
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
