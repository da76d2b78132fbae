import assert from "node:assert/strict";

import { canonicalize } from "../../canonical/canonicalize.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { stateIdentity } from "../../run/fold.ts";
import { asJson } from "../../run/primitives.ts";
import type { Call } from "../framework/types.ts";
import { next, SCANNED, scanner, trigger } from "./step_fixture.ts";
import { type Bench, envelope, evidence, id, LOCAL, startRun, STORES, withTools } from "./tools_fixture.ts";

const RUNPACK = "c".repeat(64);

/** A call that was accepted, with the bytes of its answer. */
interface Answered {
  readonly tool: string;
  readonly input: JsonObject;
  readonly text: string;
}

async function textOf(bench: Bench, tool: string, input: JsonObject): Promise<string> {
  const call: Call = { principal: LOCAL, signal: new AbortController().signal, correlationId: null };
  const answer = await bench.tools.get(tool)?.handle(structuredClone(input), call);
  assert.ok(answer?.ok === true, `${tool}: ${JSON.stringify(answer)}`);
  return answer.text ?? JSON.stringify(answer.result);
}

/** The answer without `feedback`, the one member that no receipt binds. */
function withoutFeedback(text: string): string {
  const parsed = JSON.parse(text);
  delete parsed.outcome?.result?.feedback;
  return JSON.stringify(parsed);
}

/** Drives a run to its end by every mutation; returns each accepted call with its answer. */
async function driven(bench: Bench): Promise<{ readonly run: JsonObject; readonly calls: readonly Answered[] }> {
  const { run, head: first, start } = await startRun(bench, SCANNED);
  const calls: Answered[] = [{
    tool: "scenario_start",
    input: start,
    text: await textOf(bench, "scenario_start", start),
  }];
  let head = first;
  const take = async (tool: string, input: JsonObject): Promise<void> => {
    const text = await textOf(bench, tool, input);
    const { outcome, result } = JSON.parse(text).outcome;
    assert.equal(outcome, "accepted", text);
    head = result.accepted_head;
    calls.push({ tool, input, text });
  };
  const scene = () => ({ run, head }) as Parameters<typeof next>[0];
  const mutation = (number: number, change: JsonObject): JsonObject => ({
    ...run,
    expected_head: head,
    operation_id: id(number),
    ...change,
  });
  const payload = { kind: "json", value: { a: 1 } };
  await take("scenario_trigger", trigger(scene(), { trigger_id: id(20), payload }));
  await take("scenario_next", next(scene(), { request_id: id(21), stage_id: "build", local_acquisition: [] }));
  await take("scenario_trigger", trigger(scene(), { trigger_id: id(22), payload: { kind: "json", value: 2 } }));
  const submitted = {
    content_type: "application/json",
    payload: { kind: "json", value: 3 },
    scope: { kind: "run_wide" },
  };
  await take("scenario_submit", mutation(23, submitted));
  await take("scenario_open_stage", mutation(24, { stage_id: "deploy" }));
  const deployed = [evidence("deployed", true)];
  await take("scenario_evaluate_stage", mutation(25, { stage_id: "deploy", caller_evidence: deployed }));
  return { run, calls };
}

/** Archives a run as its store does, with the state that its records fold to. */
async function archive({ services }: Bench, run: JsonObject): Promise<void> {
  const { runs, projections, environment: { primitives: { sha256 } } } = services;
  const run_key = { namespace_id: 2, run_id: String(run["run_id"]) };
  const { state } = await projections.load(run_key) ?? assert.fail("the run is there");
  assert.equal(state.status, "complete");
  const result = await runs.archives.archive(run_key, state.head, {
    runpack_identity: RUNPACK,
    archived_instant: 5,
    state_identity: stateIdentity(sha256, state),
    state: canonicalize(asJson(state)),
  });
  assert.deepEqual(result, { outcome: "archived" });
}

for (const store of STORES) {
  const options = { ...scanner({ built: true, deployed: true }), store };

  Deno.test(`every accepted call on an archived run is answered as it was first (${store})`, () =>
    withTools(async (bench) => {
      const { run, calls } = await driven(bench);
      await archive(bench, run);
      for (const { tool, input, text } of calls) {
        assert.equal(withoutFeedback(await textOf(bench, tool, input)), withoutFeedback(text), tool);
      }
      const families = { scenario_open_stage: "open_stage", scenario_submit: "submit" };
      for (const [tool, family] of Object.entries(families)) {
        const { input, text } = calls.find((call) => call.tool === tool) ?? assert.fail(tool);
        const { outcome } = JSON.parse(text);
        const resolved = await textOf(bench, "scenario_resolve_mutation", {
          namespace_id: 2,
          run_id: String(run["run_id"]),
          operation_id: { family, identity: String(input["operation_id"]) },
          invocation_identity: outcome.result.invocation_identity,
        });
        assert.equal(resolved, text);
      }
    }, options));

  Deno.test(`an id that an archived run has used for another call is a conflict (${store})`, () =>
    withTools(async (bench) => {
      const { run, calls } = await driven(bench);
      await archive(bench, run);
      for (const { tool, input } of calls.filter(({ tool }) => tool !== "scenario_start")) {
        const changed = { ...input, expected_head: { record_id: "d".repeat(64), revision: 1 } };
        assert.equal(envelope(await bench.call(tool, changed)).outcome, "operation_conflict", tool);
      }
    }, options));

  Deno.test(`an archived run accepts nothing, and its reads name its runpack (${store})`, () =>
    withTools(async (bench) => {
      const { run, calls } = await driven(bench);
      const before = await bench.call("scenario_status", run);
      await archive(bench, run);
      const archived = { runpack_identity: RUNPACK, archived_instant: 5 };
      assert.deepEqual(await bench.call("scenario_status", run), { ...before, archived });
      assert.deepEqual(await bench.call("scenario_history", run), { records: [], next_after_revision: null, archived });
      const { items } = await bench.call("runs_list", { namespace_id: 2, status: "complete" }) as {
        items: JsonObject[];
      };
      assert.deepEqual(items.map((item) => item["archived"]), [archived]);

      const head = before["accepted_head"] as JsonObject;
      const submission = calls.find(({ tool }) => tool === "scenario_submit")?.input ?? {};
      // A call, its arguments, and its outcome.
      const rows: readonly (readonly [string, JsonObject, string])[] = [
        ["scenario_submit", { ...submission, operation_id: id(40), expected_head: head }, "payload_rejected"],
        ["scenario_submit", { ...submission, operation_id: id(40) }, "payload_rejected"],
        [
          "scenario_open_stage",
          { ...run, stage_id: "build", operation_id: id(41), expected_head: head },
          "stage_not_ready",
        ],
        ["scenario_next", { ...run, request_id: id(42), expected_head: head }, "run_complete"],
        ["scenario_next", { ...run, request_id: id(42), stage_id: "build", expected_head: head }, "run_complete"],
        ["scenario_trigger", trigger({ run, head } as never, { trigger_id: id(43) }), "run_complete"],
      ];
      for (const [tool, input, expected] of rows) {
        const { outcome, result } = envelope(await bench.call(tool, input));
        assert.equal(outcome, expected, `${tool} ${JSON.stringify(result)}`);
        if (expected !== "payload_rejected") continue;
        const { reason, runpack_identity } = result as JsonObject;
        assert.deepEqual([reason, runpack_identity], ["run_archived", RUNPACK]);
      }
    }, options));
}
