import assert from "node:assert/strict";
import { canonicalize } from "../canonical/canonicalize.ts";
import { HOST_PRIMITIVES } from "../evidence/host_primitives.ts";
import { runKeyOf } from "../run/command.ts";
import { asJson } from "../run/primitives.ts";
import { projectRuns } from "../store/projection.ts";
import { type RunStore, StoreError } from "../store/types.ts";
import { type Bench, LOCAL, STORES, withTools } from "./fixture_test.ts";
import { BUILD, type Scene, scene, SUBMIT } from "./outcome_case_test.ts";
import { createTools } from "./table.ts";

/** A store that notes what is read of runs' histories. */
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

  Deno.test(`a projection says what a fold from nothing says (${store})`, () =>
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
      const { store: noted } = noting(bench.services.runs, { getSnapshot });
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
