import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import { nextTurns } from "../../../tests/until.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { at, BUILD, ONE_STAGE, scene } from "../tests/outcome_case_fixture.ts";
import { scanBinding, scannedCondition } from "../tests/step_fixture.ts";
import { envelope, withTools } from "../tests/tools_fixture.ts";

const SCANNED = { ...ONE_STAGE, conditions: [scannedCondition("built")], acquisition_bindings: [scanBinding("built")] };

Deno.test("of two equal evaluations at once, one queries the provider, and both get its answer", async () => {
  let asked = 0;
  const provider = testProvider("scanner", async () => {
    asked++;
    // The other call goes on meanwhile, as far as it may.
    for (let turn = 0; turn < 10; turn++) await nextTurns();
    return answered(found(true), Date.now());
  });
  await withTools(async (bench) => {
    const s = await scene(bench, SCANNED);
    const { result } = envelope(await bench.call("scenario_open_stage", at(s, 1, BUILD)));
    s.head = result["accepted_head"] as JsonObject;
    const call = at(s, 2, { ...BUILD, caller_evidence: [] });
    const [first, second] = await Promise.all([1, 2].map(() => bench.call("scenario_evaluate_stage", call)));
    assert.equal(envelope(first ?? {}).outcome, "accepted");
    assert.deepEqual(second, first);
    assert.equal(asked, 1);
  }, { providers: new Map([["scanner", provider]]) });
});
