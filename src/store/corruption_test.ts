import assert from "node:assert/strict";

import { type Change, corrupted, forgeLaw, forgeSchema, READS, RUN } from "../../tests/simulation/store/damage.ts";
import { makeSchema, sha256 } from "../../tests/simulation/store/fixture.ts";
import { storesOptions, WAL_FULL, withFolder } from "../../tests/simulation/store/open.ts";
import { checkStore } from "./check/check.ts";
import type { StoreProblem } from "./check/check_types.ts";
import { closeStores, openStores } from "./open.ts";
import { StoreError } from "./types.ts";

const SWAP = `UPDATE records SET revision = -1 WHERE revision = 2; UPDATE records SET revision = 2 WHERE revision = 3;
  UPDATE records SET revision = 3 WHERE revision = -1`;
const HEX = "0".repeat(64);

// The change to the file; the reads that fail as corrupt; the kind, revision and message of the problem that the check
// reports.
const CORRUPTIONS: readonly [string, Change, readonly string[], StoreProblem["what"], number | null, RegExp][] = [
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
    /receipt differs from the written one/,
  ],
  [
    "a byte of an answer",
    "UPDATE records SET result = replace(result, 'second', 'Second') WHERE revision = 2",
    ["records", "receipt", "repeat"],
    "record",
    2,
    /receipt differs from the written one/,
  ],
  [
    "a byte of the creation's answer",
    "UPDATE records SET result = result || ' ' WHERE revision = 1",
    ["records", "creation", "again"],
    "record",
    1,
    /receipt differs from the written one/,
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
    /receipt differs from the written one/,
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
    "the head, taken back",
    "UPDATE runs SET (revision, head) = (SELECT revision, record_id FROM records WHERE revision = 3)",
    ["head", "records", "tail"],
    "record",
    4,
    /beyond the head/,
  ],
  [
    "the head's revision forward",
    "UPDATE runs SET revision = 5",
    ["head", "records", "tail"],
    "run",
    5,
    /record 5 is missing/,
  ],
  [
    "the law of a run",
    `UPDATE runs SET law_identity = '${HEX}'`,
    [],
    "record",
    1,
    /run is bound to scenario_law_identity/,
  ],
  [
    "the name of a run",
    `UPDATE runs SET run_id = '${HEX.slice(32)}'`,
    ["creation", "again"],
    "record",
    1,
    /run of the record/,
  ],
  [
    "the creation of a run",
    `UPDATE runs SET creation = '${HEX.slice(32)}'`,
    ["creation", "again"],
    "record",
    1,
    /not the creation of the run/,
  ],
  [
    "the last record deleted",
    "DELETE FROM records WHERE revision = 4",
    ["head", "records", "tail"],
    "run",
    4,
    /record 4 is missing/,
  ],
  [
    "a record deleted",
    "DELETE FROM records WHERE revision = 3",
    ["records", "tail"],
    "run",
    3,
    /record 3 is missing/,
  ],
  [
    "the first record deleted",
    "DELETE FROM records WHERE revision = 1",
    ["records", "creation", "again"],
    "run",
    1,
    /record 1 is missing/,
  ],
  ["two records swapped", SWAP, ["records", "tail", "receipt", "repeat"], "record", 2, /revision of the record/],
  ["a run deleted", "DELETE FROM runs", ["again"], "record", null, /4 rows of "records" belong to no run/],
  [
    "a byte of a law",
    "UPDATE laws SET law = replace(law, 'release', 'Release')",
    ["law"],
    "law",
    null,
    /does not hash/,
  ],
  [
    "a law's scenario",
    "UPDATE laws SET scenario_id = 'other'",
    ["law", "laws"],
    "law",
    null,
    /differ from the written ones/,
  ],
  ["a law's scenario, sealed again,", forgeLaw, ["law"], "law", null, /the law states another scenario_id/],
  [
    "a law's graph",
    `UPDATE laws SET graph_identity = '${HEX}'`,
    ["law", "laws", "scenario"],
    "law",
    null,
    /differ from the written ones/,
  ],
  ["a law deleted", "DELETE FROM laws", [], "run", null, /law ".*" is missing/],
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
    ["schema", "tenants", "schemas"],
    "schema",
    null,
    /differs from the written one/,
  ],
  [
    "a schema's document, sealed again,",
    forgeSchema({ record: makeSchema("report", "1").record.replace("object", "null") }),
    ["schema", "tenants"],
    "schema",
    null,
    /does not hash/,
  ],
  [
    "a schema's version, sealed again,",
    forgeSchema({ record: makeSchema("report", "2").record }),
    ["schema", "tenants"],
    "schema",
    null,
    /states other names/,
  ],
  [
    "material of more pieces than any call leaves",
    `UPDATE records SET material = replace(hex(zeroblob(200000)), '0', char(10)) WHERE revision = 2`,
    ["records"],
    "record",
    2,
    /2 pieces of material, expected 1/,
  ],
  [
    "the tenants of a schema",
    "INSERT INTO schema_tenants SELECT namespace_id, schema_id, version, 7 FROM schemas",
    ["schema", "tenants", "schemas"],
    "schema",
    null,
    /differs from the written one/,
  ],
  [
    "a schema's size",
    "UPDATE schemas SET schema_bytes = 1",
    ["schema", "tenants", "schemas"],
    "schema",
    null,
    /differs from the written one/,
  ],
  [
    "a byte of a typed provider",
    "UPDATE typed_providers SET body = replace(body, 'profile', 'profilf')",
    ["typed"],
    "typed_provider",
    null,
    /differs from the written one/,
  ],
  [
    "the checks of a typed provider",
    "UPDATE typed_providers SET checks = 2",
    ["typed", "typed_list"],
    "typed_provider",
    null,
    /differs from the written one/,
  ],
  [
    "the state of a typed provider",
    "UPDATE typed_providers SET state = 'deprecated'",
    ["typed_list"],
    "typed_provider",
    null,
    /differs from the written one/,
  ],
];

for (const [what, change, refused, subject, revision, message] of CORRUPTIONS) {
  Deno.test(`A store with ${what} changed rejects ${refused.join(", ") || "no point read"}, and the check reports it`, () =>
    withFolder(async (folder) => {
      const path = await corrupted(folder, change);
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

Deno.test("a run that was moved to another namespace in the file cannot be read there", () =>
  withFolder(async (folder) => {
    await corrupted(folder, "UPDATE runs SET namespace_id = 3");
    const stores = await openStores(storesOptions(folder, WAL_FULL), sha256);
    await assert.rejects(stores.runs.getHead({ ...RUN, namespace_id: 3 }), /its record is of another run/);
    await closeStores(stores);
  }));
