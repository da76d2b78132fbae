import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../canonical/json.ts";
import { envelope, LOCAL, withTools } from "./tools_fixture.ts";
import { at, BUILD, scene, SUBMIT } from "./outcome_case_fixture.ts";
import type { Call } from "../framework/types.ts";

Deno.test("a mutation without a stamp gives a retryable error and changes nothing", () => {
  let stamps = true;
  const read = () => stamps ? { time_authority_id: "t", authority_revision: "1", reading_unix_millis: 1 } : null;
  return withTools(async (bench) => {
    const s = await scene(bench, {});
    stamps = false;
    const error = await bench.fail("scenario_open_stage", at(s, 1, BUILD));
    assert.deepEqual([error.code, error.retryable], ["authority_unavailable", true]);
    stamps = true;
    await s.accept("scenario_open_stage", 1, BUILD);
  }, { time: { read } });
});

/** Calls that are refused with and without a stamp, and their outcomes. */
const REFUSED: readonly (readonly [tool: string, change: JsonObject, outcome: string])[] = [
  ["scenario_open_stage", BUILD, "stale"],
  ["scenario_evaluate_stage", BUILD, "stale"],
  ["scenario_submit", SUBMIT, "stale"],
  ["scenario_open_stage", { stage_id: "no" }, "stage_not_found"],
  ["scenario_open_stage", BUILD, "stage_already_opened"],
  ["scenario_evaluate_stage", { stage_id: "deploy" }, "stage_not_open"],
  ["scenario_submit", { ...SUBMIT, content_type: "text/plain" }, "content_type_rejected"],
];

Deno.test("a missing stamp masks neither a refusal that needs none nor an earlier acceptance", () => {
  let stamps = true;
  const read = () => stamps ? { time_authority_id: "t", authority_revision: "1", reading_unix_millis: 1 } : null;
  return withTools(async (bench) => {
    const s = await scene(bench, {});
    const old = s.head;
    const input = at(s, 1, BUILD);
    const opened = await s.accept("scenario_open_stage", 1, BUILD);
    stamps = false;
    for (const [tool, change, expected] of REFUSED) {
      const head = expected === "stale" ? { expected_head: old } : {};
      const { outcome, result } = envelope(await bench.call(tool, at(s, 2, { ...change, ...head })));
      assert.equal(outcome, expected, tool);
      if (outcome === "stale") assert.deepEqual(result, s.head);
    }
    assert.deepEqual(envelope(await bench.call("scenario_open_stage", input)).result, opened);
    const conflict = await bench.call("scenario_open_stage", { ...input, stage_id: "deploy" });
    assert.equal(envelope(conflict).outcome, "operation_conflict");
  }, { time: { read } });
});

Deno.test("an authority is queried once for a decision, and not for an earlier refusal", () => {
  let asked = 0;
  const read = () => ({ time_authority_id: "t", authority_revision: "1", reading_unix_millis: ++asked });
  return withTools(async (bench) => {
    const s = await scene(bench, {});
    asked = 0;
    await bench.call("scenario_open_stage", at(s, 1, { ...BUILD, expected_head: { ...s.head, revision: 9 } }));
    assert.equal(asked, 0);
    const { acceptance_time } = await s.accept("scenario_open_stage", 2, BUILD);
    assert.equal(asked, 1);
    assert.equal((acceptance_time as JsonObject)["time_authority_id"], "t");
  }, { time: { read } });
});

Deno.test("following the next steps of stale succeeds", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const old = s.head;
    await s.accept("scenario_submit", 9, SUBMIT);
    const { result, next } = envelope(
      await bench.call("scenario_open_stage", at(s, 1, { ...BUILD, expected_head: old })),
    );
    const [look, read, again] = next as readonly { readonly tool: string; readonly arguments_hint: JsonObject }[];
    assert.ok(look !== undefined && read !== undefined && again !== undefined);
    assert.deepEqual((await bench.call(look.tool, look.arguments_hint))["accepted_head"], result);
    const history = await bench.call(read.tool, read.arguments_hint) as { records: JsonValue[] };
    assert.equal(history.records.length, 1);
    assert.equal(envelope(await bench.call(again.tool, again.arguments_hint)).outcome, "accepted");
    assert.deepEqual(again.arguments_hint["expected_head"], result);
  }));

Deno.test("a call is executed even after its caller disconnected", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const gone = new AbortController();
    const call: Call = { principal: LOCAL, signal: gone.signal, correlationId: null };
    const answer = bench.tools.get("scenario_submit")?.handle(at(s, 1, SUBMIT), call);
    gone.abort();
    assert.equal((await answer)?.ok, true);
  }));
