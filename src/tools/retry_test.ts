import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../canonical/json.ts";
import { envelope, LOCAL, withTools } from "./fixture_test.ts";
import { at, BUILD, scene, SUBMIT } from "./outcome_case_test.ts";
import type { Call } from "./types.ts";

Deno.test("a mutation without a stamp is a retryable error and changes nothing", () => {
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

Deno.test("following the first step of stale leads on", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const old = s.head;
    await s.accept("scenario_submit", 9, SUBMIT);
    const { result, next } = envelope(
      await bench.call("scenario_open_stage", at(s, 1, { ...BUILD, expected_head: old })),
    );
    const [look, again] = next as readonly { readonly tool: string; readonly arguments_hint: JsonObject }[];
    assert.ok(look !== undefined && again !== undefined);
    const history = await bench.call(look.tool, look.arguments_hint) as { records: JsonValue[] };
    assert.equal(history.records.length, 1);
    assert.equal(envelope(await bench.call(again.tool, again.arguments_hint)).outcome, "accepted");
    assert.deepEqual(again.arguments_hint["expected_head"], result);
  }));

Deno.test("a call of a caller who is gone is carried out all the same", () =>
  withTools(async (bench) => {
    const s = await scene(bench, {});
    const gone = new AbortController();
    const call: Call = { principal: LOCAL, signal: gone.signal, correlationId: null };
    const answer = bench.tools.get("scenario_submit")?.handle(at(s, 1, SUBMIT), call);
    gone.abort();
    assert.equal((await answer)?.ok, true);
  }));
