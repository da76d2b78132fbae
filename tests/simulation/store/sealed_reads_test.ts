/** Reads of a run from its snapshot: what is compared at once, what is verified afterwards, and what a decision waits for. */

import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { DatabaseSync } from "node:sqlite";
import { canonicalize } from "../../../src/canonical/canonicalize.ts";
import { identifyCanonical } from "../../../src/canonical/identity.ts";
import type { JsonObject } from "../../../src/canonical/json.ts";
import { HOST_PRIMITIVES, sha256 } from "../../../src/evidence/host_primitives.ts";
import { runKeyOf } from "../../../src/run/command.ts";
import { checkStore } from "../../../src/store/check/check.ts";
import { type Projections, projectRuns } from "../../../src/store/projection.ts";
import { type RunStore, StoreError } from "../../../src/store/types.ts";
import { BUILD, type Scene, scene, SUBMIT } from "../../../src/tools/tests/outcome_case_fixture.ts";
import { type Bench, id, withTools } from "../../../src/tools/tests/tools_fixture.ts";

/** The head of the run of every case. Its snapshots are at 64 and 128. */
const HEAD = 150;
const SNAPSHOT = 128;
/** The record that a snapshot names, and the records after it. */
const TAIL = HEAD - SNAPSHOT + 1;
/** Records of one read of a fold. */
const PAGE = 64;

/** A change of the file by another program: SQL, or what makes hashes fit that would show the change. */
type Change = string | ((database: DatabaseSync) => void);

/** Changes the newest snapshot and makes its hash fit. */
function forge(change: (state: JsonObject) => JsonObject): Change {
  return (database) => {
    const row = database.prepare("SELECT state FROM snapshots WHERE revision = ?").get(SNAPSHOT);
    const state = canonicalize(change(JSON.parse(String(row?.["state"]))));
    database.prepare("UPDATE snapshots SET state = ?, state_identity = ? WHERE revision = ?")
      .run(state, identifyCanonical(sha256, "run-state", state), SNAPSHOT);
  };
}

const OTHER = "0".repeat(64);

/**
 * What was done to the file; the status that a first read shows, or its error; the records that are read for it; what is reported
 * afterwards; the status at which a decision is made, or its error.
 */
const CASES: readonly (readonly [
  what: string,
  change: Change,
  shown: string,
  read: number,
  reported: RegExp | null,
  decided: string,
])[] = [
  ["nothing", "SELECT 1", "active", TAIL, null, "active"],
  ["the snapshots deleted", "DELETE FROM snapshots", "active", HEAD, null, "active"],
  [
    "a byte of the snapshot",
    "UPDATE snapshots SET state = replace(state, 'active', 'activf')",
    "active",
    HEAD,
    /the snapshot does not hash/,
    "active",
  ],
  [
    "the snapshot's revision",
    "UPDATE snapshots SET revision = 129 WHERE revision = 128",
    "active",
    HEAD,
    /the snapshot is of another revision/,
    "active",
  ],
  [
    "a snapshot beyond the head",
    "UPDATE snapshots SET revision = 151 WHERE revision = 128",
    "active",
    HEAD - 64 + 1,
    null,
    "active",
  ],
  [
    "the snapshot of another head, its hash made to fit",
    forge((state) => ({ ...state, head: { record_id: OTHER, revision: SNAPSHOT } })),
    "active",
    HEAD + 1,
    /is not the state that its records fold to/,
    "active",
  ],
  [
    "the snapshot of another run, its hash made to fit",
    forge((state) => ({ ...state, run_key: { namespace_id: 2, run_id: id(99) } })),
    "active",
    HEAD,
    /is not the state that its records fold to/,
    "active",
  ],
  [
    "the snapshot of another law, its hash made to fit",
    forge((state) => ({ ...state, scenario_law_identity: OTHER })),
    "active",
    HEAD,
    /is not the state that its records fold to/,
    "active",
  ],
  [
    "the snapshot of other stages, its hash made to fit",
    forge((state) => ({ ...state, stages: [] })),
    "active",
    HEAD,
    /is not the state that its records fold to/,
    "active",
  ],
  [
    "the status in the snapshot, its hash made to fit",
    forge((state) => ({ ...state, status: "complete" })),
    "complete",
    TAIL,
    /is not the state that its records fold to/,
    "active",
  ],
  [
    "a byte of a record before the snapshot",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 5",
    "active",
    TAIL,
    /at revision 5: record does not hash/,
    "corrupt",
  ],
  [
    "a record before the snapshot deleted",
    "DELETE FROM records WHERE revision = 5",
    "active",
    TAIL,
    /at revision 5/,
    "corrupt",
  ],
  [
    "a byte of the record that the snapshot names",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 128",
    "corrupt",
    0,
    null,
    "corrupt",
  ],
  [
    "the scenario of the run",
    "UPDATE runs SET scenario_id = 'other'",
    "corrupt",
    PAGE,
    null,
    "corrupt",
  ],
  [
    "a byte of a record after the snapshot",
    "UPDATE records SET record = replace(record, 'artifact_s', 'artifact_S') WHERE revision = 140",
    "corrupt",
    1,
    null,
    "corrupt",
  ],
];

/** A process that has read nothing of a store yet. */
interface Cold {
  readonly projections: Projections;
  readonly read: { records: number };
  readonly notices: string[];
}

function openCold(store: RunStore): Cold {
  const read = { records: 0 };
  const notices: string[] = [];
  const listRecords: RunStore["listRecords"] = async (...args) => {
    const records = await store.listRecords(...args);
    read.records += records.length;
    return records;
  };
  const notice = (message: string): void => void notices.push(message);
  const projections = projectRuns({ ...store, listRecords }, HOST_PRIMITIVES.sha256, { notice });
  return { projections, read, notices };
}

/** The status of a run, or the code of the error. */
async function statusBy(load: Promise<{ readonly state: { readonly status: string } } | null>): Promise<string> {
  try {
    return (await load)?.state.status ?? "none";
  } catch (error) {
    assert.ok(error instanceof StoreError, String(error));
    return error.code;
  }
}

/** Lets the background check go on until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; !holds(); turn++) {
    assert.ok(turn < 100_000, "the background check ends");
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A run with a stage that is open, and submissions up to a head. */
async function grow(s: Scene, revisions: number): Promise<void> {
  await s.accept("scenario_open_stage", 1, BUILD);
  for (let revision = 3; revision <= revisions; revision++) await s.accept("scenario_submit", 1000 + revision, SUBMIT);
}

function applyTo(bench: Bench, change: Change): void {
  const database = new DatabaseSync(bench.storePath ?? assert.fail());
  if (typeof change === "string") database.exec(change);
  else change(database);
  database.close();
}

for (const [what, change, shown, records, reported, decided] of CASES) {
  Deno.test(`a cold read with ${what} changed shows ${shown} after ${records} records; a decision sees ${decided}`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, {});
      await grow(s, HEAD);
      applyTo(bench, change);
      const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
      const { projections, read, notices } = openCold(bench.services.runs);
      const first = projections.read(runKey);
      // The first turn of the background check follows the answer.
      const seen = first.then(() => read.records, () => read.records);
      assert.equal(await statusBy(first), shown);
      assert.equal(await seen, records);
      if (reported !== null) {
        await until(() => notices.length > 0);
        assert.match(notices.join("\n"), reported);
        assert.equal(await statusBy(projections.read(runKey)), decided);
      }
      assert.equal(await statusBy(projections.load(runKey)), decided);
      assert.equal(await statusBy(projections.read(runKey)), decided);
      if (reported === null) assert.deepEqual(notices, []);
    }, { store: "sqlite" }));
}

Deno.test("a read of a run that is being verified for a decision does not wait for it", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    await grow(s, HEAD);
    const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
    const { projections, read } = openCold(bench.services.runs);
    const decision = projections.load(runKey);
    assert.equal((await projections.read(runKey))?.state.head.revision, HEAD);
    assert.ok(read.records < HEAD, "the read was answered first");
    assert.equal((await decision)?.state.head.revision, HEAD);
  }, { store: "sqlite" }));

Deno.test("a run that was read is verified once, and all later reads and decisions have that state", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    await grow(s, HEAD);
    const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
    const { projections, read } = openCold(bench.services.runs);
    const first = await projections.read(runKey);
    const again = await projections.read(runKey);
    const decision = await projections.load(runKey);
    assert.equal(read.records, TAIL + HEAD);
    assert.deepEqual([again?.state, decision?.state], [first?.state, first?.state]);
    await s.accept("scenario_submit", 1, SUBMIT);
    assert.equal((await projections.read(runKey))?.state.head.revision, HEAD + 1);
    assert.equal(read.records, TAIL + HEAD + 1);
  }, { store: "sqlite" }));

Deno.test("a run without a snapshot gets one at its first read, and store check finds it sound", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    await grow(s, HEAD);
    applyTo(bench, "DELETE FROM snapshots");
    const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
    await openCold(bench.services.runs).projections.read(runKey);
    const { projections, read } = openCold(bench.services.runs);
    await bench.services.runs.ready();
    assert.equal((await projections.read(runKey))?.state.head.revision, HEAD);
    assert.equal(read.records, 1);
    const report = await checkStore(bench.storePath ?? assert.fail(), { sha256 });
    assert.deepEqual([report.sound, report.counts.snapshots], [true, 1]);
  }, { store: "sqlite" }));
