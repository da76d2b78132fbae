import assert from "node:assert/strict";
import type { PlayedRun } from "../../../tests/simulation/runpack/run.ts";
import { packOf, statusesOf, verifyWhole } from "../../../tests/simulation/runpack/memory.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { runCreated } from "../mutation/bound_run.ts";
import { projectRuns } from "../../store/projection.ts";
import {
  type Bench,
  booleanCondition,
  envelope,
  evidence,
  id,
  LOCAL,
  stage,
  STORES,
  withTools,
} from "./tools_fixture.ts";
import { KeyedLock } from "../services/keyed_lock.ts";
import { JSON_PAYLOAD, type Scene, scene } from "./outcome_case_fixture.ts";
import { next, scanBinding, SCANNED, scannedCondition, scanner, trigger } from "./step_fixture.ts";
import { createTools } from "../table.ts";

const HIDDEN = "found a value that is hidden from callers of the server (evidence.allow_raw_values) ✗";

/** `build` discloses a packet; `deploy` follows it. */
const WITH_PACKET = {
  stages: [{
    ...stage("build", "built"),
    entry_packets: [{ packet_id: "brief", schema_id: "b", content_type: "application/json", payload: JSON_PAYLOAD }],
  }, stage("deploy", "deployed", "build")],
};

/** Three stages that are open together, two of them with bindings; `c` completes the run. */
const SIDE_BY_SIDE = {
  conditions: [scannedCondition("x"), scannedCondition("y"), scannedCondition("z"), booleanCondition("w")],
  acquisition_bindings: [scanBinding("x"), scanBinding("y"), scanBinding("z")],
  stages: [stage("a", "x"), stage("b", "w"), stage("c", "y"), stage("d", "z")],
  completion_requirement: { Condition: "c" },
};

async function take(s: Scene, tool: string, input: JsonObject): Promise<JsonObject> {
  const { outcome, result } = envelope(await s.bench.call(tool, input));
  assert.equal(outcome, "accepted", JSON.stringify(result));
  s.head = result["accepted_head"] as JsonObject;
  return result;
}

async function history({ bench, run }: Scene): Promise<{ record_id: string; record: JsonObject }[]> {
  const { records } = await bench.call("scenario_history", run);
  return records as { record_id: string; record: JsonObject }[];
}

async function openAll(s: Scene, ...stages: string[]): Promise<void> {
  for (const [index, stage_id] of stages.entries()) await s.accept("scenario_open_stage", 20 + index, { stage_id });
}

for (const store of STORES) {
  Deno.test(`scenario_next() alone completes a run (${store})`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, WITH_PACKET);
      const first = await take(s, "scenario_next", next(s));
      assert.deepEqual(first["decision"], {
        kind: "hold",
        stage_id: "build",
        unmet: ["built"],
        sentences: ["built: nothing known yet ?"],
      });
      const { entry_intents } = first["opened"] as { entry_intents: JsonObject[] };
      assert.deepEqual(entry_intents.map(({ packet_id, payload }) => [packet_id, payload]), [["brief", JSON_PAYLOAD]]);
      const second = await take(
        s,
        "scenario_next",
        next(s, { request_id: id(2), caller_evidence: [evidence("built", true)] }),
      );
      assert.deepEqual(second["decision"], { kind: "advance", stage_id: "build", unmet: [] });
      assert.deepEqual([second["opened"], second["ready_frontier"]], [undefined, ["deploy"]]);
      const third = await take(
        s,
        "scenario_next",
        next(s, { request_id: id(3), caller_evidence: [evidence("deployed", true)] }),
      );
      assert.deepEqual(third["decision"], { kind: "complete", stage_id: "deploy", unmet: [] });
      assert.deepEqual([third["run_status"], third["ready_frontier"]], ["complete", []]);
      assert.deepEqual((await history(s)).map(({ record }) => record["record_kind"]), [
        "run_created",
        "stage_opened",
        "stage_evaluated",
        "stage_evaluated",
        "stage_opened",
        "stage_evaluated",
      ]);
    }, { store }));

  Deno.test(`a repeated step returns its original answer, byte for byte, at any later head (${store})`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, SCANNED);
      const input = next(s);
      const [first, twin] = await Promise.all([
        bench.call("scenario_next", input),
        bench.call("scenario_next", input),
      ]);
      assert.equal(JSON.stringify(twin), JSON.stringify(first));
      s.head = envelope(first).result["accepted_head"] as JsonObject;
      const sent = trigger(s, { trigger_id: id(5), payload: JSON_PAYLOAD });
      const triggered = await bench.call("scenario_trigger", sent);
      s.head = envelope(triggered).result["accepted_head"] as JsonObject;
      await take(s, "scenario_next", next(s, { request_id: id(6), caller_evidence: [evidence("deployed", false)] }));
      assert.equal(JSON.stringify(await bench.call("scenario_next", input)), JSON.stringify(first));
      const again = await bench.call("scenario_trigger", sent);
      assert.equal(JSON.stringify(again), JSON.stringify(triggered));
      assert.deepEqual(envelope(again).result["ready_frontier"], ["deploy"]);
      assert.equal((await history(s)).length, 6);
    }, { store, ...scanner(true) }));

  Deno.test(`scenario_trigger() records payload and evaluations at once, each an operation of its own (${store})`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, SIDE_BY_SIDE);
      await openAll(s, "a", "b", "d");
      const result = await take(s, "scenario_trigger", trigger(s, { payload: JSON_PAYLOAD }));
      assert.deepEqual(result["decisions"], [
        { kind: "advance", stage_id: "a", unmet: [] },
        { kind: "hold", stage_id: "d", unmet: ["z"], sentences: [`z: ${HIDDEN}`] },
      ]);
      assert.equal((result["submission"] as JsonObject)["content_type"], "application/json");
      const records = (await history(s)).slice(4);
      assert.deepEqual(records.map(({ record }) => record["record_kind"]), [
        "artifact_submitted",
        "stage_evaluated",
        "stage_evaluated",
      ]);
      const operations = result["operations"] as { family: string; identity: string; record_id: string }[];
      assert.deepEqual(operations.map(({ record_id }) => record_id), records.map(({ record_id }) => record_id));
      for (const [index, { record }] of records.entries()) {
        const { family, identity } = operations[index] ?? { family: "", identity: "" };
        assert.deepEqual(record["operation"], { family, identity });
        assert.equal((record["admission"] as JsonObject)["kind"], "derived");
        assert.equal(record["invocation_identity"], result["invocation_identity"]);
        const resolved = envelope(
          await bench.call("scenario_resolve_mutation", {
            namespace_id: 2,
            run_id: s.run.run_id,
            operation_id: { family, identity },
            invocation_identity: result["invocation_identity"] as string,
          }),
        );
        assert.equal(resolved.outcome, "accepted");
        assert.equal((resolved.result["accepted_head"] as JsonObject)["record_id"], operations[index]?.record_id);
      }
      assert.equal(new Set(operations.map(({ identity }) => identity)).size, 3);
    }, { store, ...scanner({ x: true, y: true, z: false }) }));
}

/** The tools of another process: on the same store, with nothing shared in memory. */
function otherProcess({ services }: Bench): ReturnType<typeof createTools> {
  const { runs, environment } = services;
  const projections = projectRuns(runs, environment.primitives.sha256);
  return createTools({
    ...services,
    environment,
    projections,
    operationLock: new KeyedLock(),
    storedArtifacts: new Set(),
  });
}

for (const store of STORES) {
  Deno.test(`a step that two processes take together is taken once (${store})`, () =>
    withTools(async (bench) => {
      const s = await scene(bench, SCANNED);
      const other = otherProcess(bench).get("scenario_next");
      const call = { principal: LOCAL, signal: new AbortController().signal, correlationId: null };
      const [here, there] = await Promise.all([bench.call("scenario_next", next(s)), other?.handle(next(s), call)]);
      assert.ok(there?.ok === true);
      assert.equal(JSON.stringify(there.result), JSON.stringify(here));
      assert.equal((await history(s)).length, 3);
      const late = await other?.handle(next(s, { request_id: id(2) }), call);
      assert.ok(late?.ok === true);
      const { outcome, result } = envelope(late.result);
      assert.deepEqual([outcome, result], ["stale", envelope(here).result["accepted_head"]]);
    }, { store, ...scanner(true) }));
}

Deno.test("scenario_trigger() evaluates no stage after the one that completes the run", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SIDE_BY_SIDE);
    await openAll(s, "a", "b", "c", "d");
    const result = await take(s, "scenario_trigger", trigger(s));
    assert.deepEqual((result["decisions"] as JsonObject[]).map(({ kind, stage_id }) => `${kind} ${stage_id}`), [
      "advance a",
      "complete c",
    ]);
    assert.deepEqual([result["run_status"], result["ready_frontier"]], ["complete", []]);
  }, scanner({ x: true, y: true, z: true })));

Deno.test("scenario_trigger() records nothing where one acquisition fails", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SIDE_BY_SIDE);
    await openAll(s, "a", "d");
    const before = await history(s);
    const answer = envelope(await bench.call("scenario_trigger", trigger(s, { payload: JSON_PAYLOAD })));
    assert.equal(answer.outcome, "acquisition_failed");
    assert.deepEqual(answer.result["failures"], [{
      stage_id: "d",
      binding_id: "scan-z",
      code: "timeout",
      message: "Cannot reach the scanner",
      retryable: true,
    }]);
    assert.deepEqual(await history(s), before);
  }, scanner({ x: true, z: "unreachable" })));

Deno.test("scenario_trigger() passes its time to every check, and the record marks it as given", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    await openAll(s, "build");
    const time = { kind: "logical", value: 7 };
    await take(s, "scenario_trigger", trigger(s, { time }));
    const body = (await history(s)).at(-1)?.record["body"] as { evidence: { acquisition: JsonObject }[] };
    const { trigger_time, trigger_time_given } = body.evidence[0]?.acquisition ?? {};
    assert.deepEqual([trigger_time, trigger_time_given], [time, true]);
  }, scanner(true)));

Deno.test("scenario_trigger() rejects a content type without a payload", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const error = await bench.fail("scenario_trigger", trigger(s, { content_type: "application/json" }));
    assert.equal(error.code, "invalid_input");
    assert.match(error.message, /\$\.trigger\.payload: Member is required: expected a payload beside content_type/);
  }));

Deno.test("the same id of a step, a trigger and another family are different operations", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    await take(s, "scenario_next", next(s));
    await take(s, "scenario_trigger", trigger(s, { payload: JSON_PAYLOAD }));
    await s.accept("scenario_evaluate_stage", 1, { stage_id: "build", caller_evidence: [] });
  }));

/** The export source of a stored run, with its artifacts. */
async function exported({ services }: Bench, s: Scene): Promise<PlayedRun> {
  const run = await services.projections.load(s.run);
  const law = await services.runs.laws.get(2, s.law);
  assert.ok(run !== null && law !== null);
  const { contracts } = await runCreated(services, s.run);
  const named = [...contracts.map((one) => one.contract_identity), services.environment.profile_identity];
  const artifacts = await Promise.all(named.map((identity) => services.runs.artifacts.get(identity)));
  return {
    law,
    records: await services.runs.listRecords(s.run, 0, 1000),
    artifacts: artifacts.flatMap((artifact) => artifact ?? []),
    state: run.state,
  };
}

Deno.test("a run of steps verifies claim by claim", () =>
  withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    await take(s, "scenario_next", next(s));
    await take(s, "scenario_trigger", trigger(s, { payload: JSON_PAYLOAD }));
    await take(s, "scenario_next", next(s, { request_id: id(9), caller_evidence: [evidence("deployed", true)] }));
    const statuses = statusesOf(await verifyWhole(await packOf(await exported(bench, s))));
    assert.deepEqual(Object.values(statuses).slice(0, 22), Array.from({ length: 22 }, () => "satisfied"));
  }, scanner(true)));
