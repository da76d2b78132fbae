import assert from "node:assert/strict";
import type { JsonObject } from "../../canonical/json.ts";
import { type Bench, envelope, evidence, id, startRun, STORES, withTools } from "./tools_fixture.ts";

for (const store of STORES) {
  Deno.test(`the tools move a run from law to completion (${store})`, () =>
    withTools(async (bench) => {
      const { run, head, law, start } = await startRun(bench);
      const listed = await bench.call("scenarios_list", { namespace_id: 2 });
      assert.deepEqual(listed, {
        items: [{ namespace_id: 2, scenario_id: "release", scenario_law_identity: law }],
        next_token: null,
      });

      await checkStarted(bench, run, head);

      let at = head;
      let operation = 1;
      const mutate = async (tool: string, change: JsonObject): Promise<JsonObject> => {
        const answer = await bench.call(tool, { ...run, expected_head: at, operation_id: id(operation++), ...change });
        const { outcome, result } = envelope(answer);
        assert.equal(outcome, "accepted", JSON.stringify(answer));
        at = result["accepted_head"] as JsonObject;
        return result;
      };

      const opened = await mutate("scenario_open_stage", { stage_id: "build" });
      assert.deepEqual(opened["ready_frontier"], []);
      const submitted = await mutate("scenario_submit", {
        content_type: "application/json",
        payload: { kind: "json", value: { log: "ok" } },
        scope: {
          kind: "stage_open",
          stage_id: "build",
          stage_open_record_id: opened["stage_open_record_id"] as string,
        },
      });
      assert.equal((submitted["submission"] as JsonObject)["content_type"], "application/json");

      const missing = await mutate("scenario_evaluate_stage", { stage_id: "build" });
      assert.equal((missing["attempt"] as JsonObject)["outcome"], "unknown");
      const failed = await mutate("scenario_evaluate_stage", {
        stage_id: "build",
        caller_evidence: [evidence("built", false)],
      });
      assert.equal((failed["attempt"] as JsonObject)["outcome"], "false");
      const passed = await mutate("scenario_evaluate_stage", {
        stage_id: "build",
        caller_evidence: [evidence("built", true)],
      });
      assert.equal((passed["attempt"] as JsonObject)["completed"], true);
      assert.deepEqual(passed["ready_frontier"], ["deploy"]);
      assert.equal(passed["run_status"], "active");

      await mutate("scenario_open_stage", { stage_id: "deploy" });
      const done = await mutate("scenario_evaluate_stage", {
        stage_id: "deploy",
        caller_evidence: [evidence("deployed", true)],
      });
      assert.equal(done["run_status"], "complete");

      await checkCompleted(bench, run, at);

      const again = await bench.call("scenario_start", start);
      assert.deepEqual((envelope(again).result["run_key"] as JsonObject)["run_id"], run.run_id);
    }, { store }));
}

Deno.test("scenario_history() goes page by page, each revision once", () =>
  withTools(async (bench) => {
    const { run, head } = await startRun(bench);
    let at = head;
    for (let count = 1; count <= 4; count++) {
      const answer = await bench.call("scenario_submit", {
        ...run,
        expected_head: at,
        operation_id: id(count),
        content_type: "application/json",
        payload: { kind: "json", value: count },
        scope: { kind: "run_wide" },
      });
      at = envelope(answer).result["accepted_head"] as JsonObject;
    }
    const revisions: number[][] = [];
    let after: number | null = null;
    do {
      const page = await bench.call("scenario_history", { ...run, after_revision: after, limit: 2 }) as {
        records: { record: { revision: number } }[];
        next_after_revision: number | null;
      };
      revisions.push(page.records.map(({ record }) => record.revision));
      after = page.next_after_revision;
    } while (after !== null);
    assert.deepEqual(revisions, [[1, 2], [3, 4], [5]]);
    const beyond = await bench.call("scenario_history", { ...run, after_revision: 99 });
    assert.deepEqual(beyond, { records: [], next_after_revision: null });
  }));

Deno.test("a repeated mutation returns its original answer at any later head", () =>
  withTools(async (bench) => {
    const { run, head } = await startRun(bench);
    const open = { ...run, stage_id: "build", expected_head: head, operation_id: id(7) };
    const [first, second] = await Promise.all([
      bench.call("scenario_open_stage", open),
      bench.call("scenario_open_stage", open),
    ]);
    assert.deepEqual(first, second);
    const { result } = envelope(first as JsonObject);
    const accepted = result["accepted_head"] as JsonObject;
    await bench.call("scenario_evaluate_stage", {
      ...run,
      stage_id: "build",
      expected_head: accepted,
      operation_id: id(8),
    });
    assert.deepEqual(await bench.call("scenario_open_stage", open), first);
    const resolved = await bench.call("scenario_resolve_mutation", {
      namespace_id: 2,
      run_id: run.run_id,
      operation_id: { family: "open_stage", identity: id(7) },
      invocation_identity: result["invocation_identity"] as string,
    });
    assert.deepEqual(resolved, first);
  }));

async function checkStarted(bench: Bench, run: JsonObject, head: JsonObject): Promise<void> {
  const before = await bench.call("scenario_status", run);
  assert.deepEqual(before, {
    accepted_head: head,
    committed_intent_count: 0,
    ready_frontier: ["build"],
    recent_attempts: [],
    stages: [
      { stage_id: "build", classification: "ready_unopened" },
      { stage_id: "deploy", classification: "blocked" },
    ],
    status: "active",
  });
}

async function checkCompleted(bench: Bench, run: JsonObject, at: JsonObject): Promise<void> {
  const after = await bench.call("scenario_status", run) as { status: string; recent_attempts: JsonObject[] };
  assert.equal(after.status, "complete");
  assert.deepEqual(after.recent_attempts.map(({ outcome }) => outcome), ["unknown", "false", "true", "true"]);

  const history = await bench.call("scenario_history", run) as { records: JsonObject[] };
  assert.deepEqual(history.records.map(({ record }) => (record as JsonObject)["record_kind"]), [
    "run_created",
    "stage_opened",
    "artifact_submitted",
    "stage_evaluated",
    "stage_evaluated",
    "stage_evaluated",
    "stage_opened",
    "stage_evaluated",
  ]);
  assert.deepEqual(history.records.at(-1)?.["record_id"], at["record_id"]);
}
