import assert from "node:assert/strict";

import { appendTo, headAfter, identified, LAW, makeLaw, runKey, sha256 } from "../store/fixture.ts";
import { IMPLEMENTATIONS, withStores } from "../store/open.ts";
import { verifyRun } from "./verify_run.ts";
import { type RunHead, type RunStore, type StoredRecord, StoreError } from "../../../src/store/types.ts";

const RUN = runKey("one");
const MATERIAL = [identified("payload", { kind: "json", value: [1, 2] })];
const APPEND = appendTo(RUN, null, "create", { operation: "a", material: MATERIAL }, "b", "c");
const HEAD: RunHead = {
  run_key: RUN,
  scenario_id: LAW.scenario_id,
  scenario_law_identity: LAW.scenario_law_identity,
  head: headAfter(APPEND),
};

for (const implementation of IMPLEMENTATIONS) {
  Deno.test(`verifyRun() (${implementation.name}) accepts a chain and reports its records`, () =>
    withStores(implementation, {}, async ({ runs }) => {
      const operations = Array.from({ length: 200 }, (_, index) => `op ${index}`);
      await runs.append(appendTo(RUN, null, "create", ...operations));
      const progress: number[] = [];
      let seen = 0;
      const head = await verifyRun(runs, RUN, {
        sha256,
        yieldEvery: 100,
        onRecords: (records) => seen += records.length,
        onProgress: (done, total) => progress.push(done, total),
      });
      assert.deepEqual(head, await runs.getHead(RUN));
      assert.equal(seen, 201);
      assert.deepEqual(progress, [100, 201, 200, 201, 201, 201]);
      assert.equal(await verifyRun(runs, runKey("two"), { sha256 }), null);
    }));
}

/** A store that returns the given head and records. */
function serving(head: RunHead, records: readonly StoredRecord[]): Pick<RunStore, "getHead" | "listRecords"> {
  return {
    getHead: () => Promise.resolve(head),
    listRecords: (_run, after, limit) => Promise.resolve(records.slice(after, after + limit)),
  };
}

/** The records with one of them changed. */
function changed(revision: number, change: (record: StoredRecord) => StoredRecord): StoredRecord[] {
  return APPEND.records.map((record) => record.revision === revision ? change(record) : record);
}

const [R1, R2, R3, R4] = APPEND.records;
assert.ok(R1 !== undefined && R2 !== undefined && R3 !== undefined && R4 !== undefined);
const OTHER = appendTo(RUN, null, "other", "a2", "b2", "c2").records;
const ELSEWHERE = appendTo(runKey("two"), null, "create", "a").records;
const OTHER_OPERATION = { family: "submit", identity: "0".repeat(32) } as const;

// The returned head and records, and the error of the verification.
const CORRUPTIONS: readonly [string, RunHead, readonly StoredRecord[], RegExp][] = [
  ["nothing", HEAD, [], /revision 1: the record is missing/],
  ["the last record left out", HEAD, [R1, R2, R3], /revision 4: the record is missing/],
  ["a record in the middle left out", HEAD, [R1, R3, R4, R4], /revision 2: revision is 3/],
  ["two records swapped", HEAD, [R1, R3, R2, R4], /revision 2: revision is 3/],
  ["a record of another chain", HEAD, [R1, R2, ...OTHER.slice(2)], /revision 3: previous record/],
  ["another chain", HEAD, OTHER, /revision 4: the head names another record/],
  ["records of another run", HEAD, ELSEWHERE, /revision 1: run of the record/],
  [
    "a record's text",
    HEAD,
    changed(2, (record) => ({ ...record, record: record.record.replace("submit", "Submit") })),
    /revision 2: record does not hash/,
  ],
  [
    "a record that is no JSON",
    HEAD,
    changed(2, (record) => ({ ...record, record: "{" })),
    /revision 2: record does not hash/,
  ],
  [
    "a record's identity",
    HEAD,
    changed(2, (record) => ({ ...record, record_id: R1.record_id })),
    /revision 2: record does not hash/,
  ],
  [
    "a piece of material",
    HEAD,
    changed(2, (record) => ({ ...record, material: MATERIAL.map((item) => ({ ...item, body: "1" })) })),
    /revision 2: material of kind "payload"/,
  ],
  [
    "the kind of material",
    HEAD,
    changed(2, (record) => ({ ...record, material: MATERIAL.map((item) => ({ ...item, kind: "gift" })) })),
    /revision 2: material of kind "gift"/,
  ],
  [
    "the operation of a receipt",
    HEAD,
    changed(3, (record) => ({ ...record, receipt: { ...record.receipt, operation: OTHER_OPERATION } })),
    /revision 3: operation of the record/,
  ],
  [
    "the invocation of a receipt",
    HEAD,
    changed(3, (record) => ({ ...record, receipt: { ...record.receipt, invocation_identity: R1.record_id } })),
    /revision 3: invocation of the record/,
  ],
  [
    "an older head",
    { ...HEAD, head: { record_id: R4.record_id, revision: 3 } },
    APPEND.records,
    /revision 3: the head names another/,
  ],
  [
    "the scenario of the run",
    { ...HEAD, scenario_id: "other" },
    APPEND.records,
    /revision 1: run is bound to scenario_id "other"/,
  ],
  [
    "the law of the run",
    { ...HEAD, scenario_law_identity: makeLaw("other").scenario_law_identity },
    APPEND.records,
    /revision 1: run is bound to scenario_law_identity/,
  ],
];

for (const [what, head, records, message] of CORRUPTIONS) {
  Deno.test(`verifyRun() rejects ${what}`, () =>
    assert.rejects(verifyRun(serving(head, records), RUN, { sha256 }), (error) => {
      assert.ok(error instanceof StoreError && error.code === "corrupt" && !error.retryable);
      assert.match(error.message, message);
      assert.ok(error.message.includes(RUN.run_id));
      return true;
    }));
}
