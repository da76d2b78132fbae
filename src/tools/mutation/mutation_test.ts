import assert from "node:assert/strict";
import { answered, found, testProvider } from "../../../tests/simulation/acquisition_fixture.ts";
import { nextTurns } from "../../../tests/until.ts";
import type { JsonObject } from "../../canonical/json.ts";
import { decide } from "../../run/decide/decide.ts";
import type { TrustedKey } from "../../run/profile.ts";
import { at, BUILD, ONE_STAGE, scene } from "../tests/outcome_case_fixture.ts";
import { scanBinding, scannedCondition } from "../tests/step_fixture.ts";
import { envelope, id, LOCAL, startRun, withTools } from "../tests/tools_fixture.ts";
import { runMutation } from "./mutation.ts";

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

Deno.test("a record has its operator profile in the store, although the keys of people change before it is appended", () => {
  const evidenceKeys: TrustedKey[] = [];
  return withTools(async (bench) => {
    const started = await startRun(bench);
    const { services } = bench;
    evidenceKeys.push({ key_id: "alice", public_key: btoa("k".repeat(32)) });
    await services.refreshPeople();
    const { profile_identity } = services.environment;
    const input = { ...started.run, operation_id: id(7) };
    const opened = await runMutation(services, {
      ...{ tool: "scenario_open_stage", family: "open_stage", raw: {}, input },
      decide: async (law, state, request, mint) => {
        const command = { kind: "open", ...request, expected_head: state.head, stage_id: "build" } as const;
        const decision = decide(law, state, command, mint(), services.environment);
        evidenceKeys.pop();
        await services.refreshPeople();
        return decision;
      },
    }, { principal: LOCAL, signal: new AbortController().signal, correlationId: null });
    assert.equal(opened.outcome, "accepted");
    assert.notEqual(services.environment.profile_identity, profile_identity, "the keys are others by now");
    assert.equal((await services.runs.artifacts.get(profile_identity))?.kind, "operator-profile");
  }, { evidenceKeys });
});
