import assert from "node:assert/strict";
import { canonicalize } from "../../canonical/canonicalize.ts";
import { identifyCanonical } from "../../canonical/identity.ts";
import { HOST_PRIMITIVES } from "../../evidence/host_primitives.ts";
import { runKeyOf } from "../../run/command.ts";
import { asJson } from "../../run/primitives.ts";
import { projectRuns, stateAt } from "../../store/projection.ts";
import { type RunStore, type Snapshot, type StoredRecord, StoreError } from "../../store/types.ts";
import { type Bench, id, LOCAL, STORES, withTools } from "./tools_fixture.ts";
import { BUILD, type Scene, scene, SUBMIT } from "./outcome_case_fixture.ts";
import { createTools } from "../table.ts";

/** A store that counts reads of runs' histories. */
function noting(
  store: RunStore,
  change: Partial<RunStore> = {},
): { store: RunStore; read: { records: number; pages: number } } {
  const read = { records: 0, pages: 0 };
  const listRecords: RunStore["listRecords"] = async (...args) => {
    const records = await store.listRecords(...args);
    read.pages++;
    read.records += records.length;
    return records;
  };
  return { store: { ...store, listRecords, ...change }, read };
}

/** Grows a run to some revisions with submissions. */
async function grow(s: Scene, revisions: number): Promise<void> {
  for (let revision = 2; revision <= revisions; revision++) await s.accept("scenario_submit", 1000 + revision, SUBMIT);
}

const SUBMITTED = 150;

/** A change of a run's snapshot, and the records that are read for a state that is no longer in memory. */
const SNAPSHOTS: readonly (readonly [what: string, change: (snapshot: Snapshot) => Snapshot | null, read: number])[] = [
  ["as it was written", (snapshot) => snapshot, SUBMITTED - 128],
  ["taken away", () => null, SUBMITTED],
  ["changed, its hash made to fit", (snapshot) => {
    const state = canonicalize({ ...JSON.parse(snapshot.state), status: "complete" });
    return { ...snapshot, state, state_identity: identifyCanonical(HOST_PRIMITIVES.sha256, "run-state", state) };
  }, SUBMITTED],
];

for (const [what, change, records] of SNAPSHOTS) {
  Deno.test(`a state is read back from a snapshot ${what}: ${records} records are folded`, () =>
    withTools(async (bench: Bench) => {
      const { runs } = bench.services;
      const getSnapshot: RunStore["snapshots"]["get"] = async (...args) => {
        const snapshot = await runs.snapshots.get(...args);
        assert.equal(snapshot?.revision, 128);
        return snapshot === null ? null : change(snapshot);
      };
      const { store: noted, read } = noting(runs, { snapshots: { ...runs.snapshots, get: getSnapshot } });
      const projections = projectRuns(noted, HOST_PRIMITIVES.sha256, { statesKept: 1 });
      const tools = createTools({ ...bench.services, projections });
      const call: Bench["call"] = async (name, input) => {
        const context = { principal: LOCAL, correlationId: null, signal: new AbortController().signal };
        const answer = await tools.get(name)?.handle(input, context);
        assert.ok(answer?.ok);
        return answer.result;
      };
      const s = await scene({ ...bench, call }, {});
      await grow(s, SUBMITTED);
      const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
      const before = await projections.load(runKey);
      // Another run takes the only place in memory.
      await call("scenario_start", { ...s.start, creation_request_id: id(2) });
      read.records = 0;
      const after = await projections.load(runKey);
      assert.deepEqual(after?.state, before?.state);
      assert.equal(after?.state.status, "active");
      assert.equal(read.records, records);
    }));
}

Deno.test("records that lead to no state are a corrupt store, at the head and at an earlier revision", () =>
  withTools(async (bench: Bench) => {
    const s = await scene(bench, {});
    await grow(s, 3);
    const { runs, projections } = bench.services;
    const runKey = runKeyOf(s.run.namespace_id, s.run.run_id);
    const run = await projections.load(runKey);
    assert.ok(run);
    const isCorrupt = (error: unknown): boolean => error instanceof StoreError && error.code === "corrupt";
    // The records that a damaged store returns for a request.
    const rows: readonly (readonly [string, (after: number) => Promise<readonly StoredRecord[]>])[] = [
      ["nothing", () => Promise.resolve([])],
      ["the first one for each", () => runs.listRecords(runKey, 0, 1)],
      ["the last one for each", () => runs.listRecords(runKey, 2, 1)],
      ["the one after", (after) => runs.listRecords(runKey, (after + 1) % 3, 1)],
    ];
    for (const [name, listed] of rows) {
      const listRecords: RunStore["listRecords"] = async (_run, after) => [...await listed(after)];
      await assert.rejects(stateAt({ listRecords }, run, 2), isCorrupt, name);
      const damaged = projectRuns({ ...runs, listRecords }, HOST_PRIMITIVES.sha256);
      await assert.rejects(damaged.load(runKey), isCorrupt, name);
    }
    assert.equal((await stateAt(runs, run, 2)).head.revision, 2);
  }));

for (const store of STORES) {
  Deno.test(`a read never folds history (${store})`, () =>
    withTools(async (bench: Bench) => {
      const s = await scene(bench, {});
      await grow(s, SUBMITTED);
      const { store: noted, read } = noting(bench.services.runs);
      const projections = projectRuns(noted, HOST_PRIMITIVES.sha256);
      const first = await projections.load(runKeyOf(s.run.namespace_id, s.run.run_id));
      assert.equal(read.records, SUBMITTED, "first touch verifies every record, once");
      for (let turn = 0; turn < 100; turn++) {
        assert.equal(await projections.load(runKeyOf(s.run.namespace_id, s.run.run_id)), first);
      }
      assert.equal(read.records, SUBMITTED, "a later read looks at no record");
      await s.accept("scenario_submit", 1, SUBMIT);
      const next = await projections.load(runKeyOf(s.run.namespace_id, s.run.run_id));
      assert.equal(read.records, SUBMITTED + 1, "another's record is folded alone");
      assert.equal(next?.state.head.revision, SUBMITTED + 1);
    }, { store }));

  Deno.test(`a projection equals a fold from the first record (${store})`, () =>
    withTools(async (bench: Bench) => {
      const s = await scene(bench, {});
      await s.accept("scenario_open_stage", 1, BUILD);
      await grow(s, SUBMITTED);
      const live = await bench.services.projections.load(runKeyOf(s.run.namespace_id, s.run.run_id));
      const fresh = await projectRuns(bench.services.runs, HOST_PRIMITIVES.sha256).load(
        runKeyOf(s.run.namespace_id, s.run.run_id),
      );
      assert.ok(live && fresh);
      assert.equal(canonicalize(asJson(live.state)), canonicalize(asJson(fresh.state)));
    }, { store }));

  Deno.test(`every process answers scenario_status with the same bytes (${store})`, () =>
    withTools(async (bench: Bench) => {
      const s = await scene(bench, {});
      await s.accept("scenario_open_stage", 1, BUILD);
      await s.accept("scenario_evaluate_stage", 2, BUILD);
      const projections = projectRuns(bench.services.runs, HOST_PRIMITIVES.sha256);
      const elsewhere = createTools({ ...bench.services, projections });
      const texts = [bench.tools, elsewhere].map(async (tools) => {
        const call = { principal: LOCAL, correlationId: null, signal: new AbortController().signal };
        const answer = await tools.get("scenario_status")?.handle({ ...s.run, include: ["missing"] }, call);
        assert.ok(answer?.ok);
        return answer.text;
      });
      const [here, there] = await Promise.all(texts);
      assert.match(here ?? "", /"reason":"no_evidence"/);
      assert.equal(there, here);
    }, { store }));

  Deno.test(`a damaged snapshot costs a fold, not an answer (${store})`, () =>
    withTools(async (bench: Bench) => {
      const s = await scene(bench, {});
      await grow(s, SUBMITTED);
      const getSnapshot = () => Promise.reject(new StoreError("corrupt", "Cannot read snapshot: its hash differs"));
      const { store: noted } = noting(bench.services.runs, {
        snapshots: { ...bench.services.runs.snapshots, get: getSnapshot },
      });
      const run = await projectRuns(noted, HOST_PRIMITIVES.sha256).load(runKeyOf(s.run.namespace_id, s.run.run_id));
      assert.equal(run?.state.head.revision, SUBMITTED);
    }, { store }));

  Deno.test(`many reads of one cold run fold it once (${store})`, () =>
    withTools(async (bench: Bench) => {
      const s = await scene(bench, {});
      await grow(s, SUBMITTED);
      const { store: noted, read } = noting(bench.services.runs);
      const projections = projectRuns(noted, HOST_PRIMITIVES.sha256);
      await Promise.all(Array.from({ length: 16 }, () => projections.load(runKeyOf(s.run.namespace_id, s.run.run_id))));
      assert.equal(read.records, SUBMITTED);
    }, { store }));
}
